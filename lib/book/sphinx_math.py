"""Formulas as MathML, which browsers draw themselves: no script, nothing from the network."""

from __future__ import annotations

from html import escape
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


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
