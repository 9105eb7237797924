"""Lighter pages without a network: formulas as MathML, which browsers draw themselves, and icons from a font alone."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml


def _mathml(node: Any, display: str) -> str:
    tree = latex2mathml.tex2mathml(node.astext(), as_block=display == "block")
    return str(tree).replace("<math", f'<math aria-label="{escape(node.astext())}"', 1)


def visit_inline(translator: Any, node: Any) -> None:
    """Write a formula within a sentence."""
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: Any, node: Any) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="math">{_mathml(node, "block")}</div>')
    raise nodes.SkipNode


def drop_icon_script(app: Any, exception: Exception | None) -> None:
    """Empty the theme's script of every icon there is (1.5 MB a page); its style sheet draws the same from a font."""
    script = Path(app.outdir) / "_static" / "scripts" / "fontawesome.js"
    if exception is None and script.exists():
        script.write_text("// The icons come from the style sheet's font.\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the math renderer ``mathml`` and what is done after a build."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("build-finished", drop_icon_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
