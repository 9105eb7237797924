"""Pages without a network: formulas as MathML, which browsers draw, icons from a font alone, search with excerpts."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

from lib.desk import faults

logger = logging.getLogger(__name__)


def mathml(node: nodes.Node, *, block: bool) -> str:
    """A formula's MathML, which says its LaTeX to a screen reader; LaTeX that can't be read is a warning."""
    latex = node.astext()
    try:
        tree = str(latex2mathml.tex2mathml(latex, as_block=block))
    except (MathError, AttributeError) as error:  # the latter is how the parser fails at a line break
        logger.warning("formula %r: %s", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"
    return tree.replace("<math", f'<math aria-label="{escape(latex)}"', 1)


def visit_inline(translator: Any, node: Any) -> None:
    """Write a formula within a sentence."""
    translator.body.append(mathml(node, block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: Any) -> None:
    """Write a formula on a line of its own, or on several where the page is narrow: it may break at a ``\\qquad``."""
    parts = [nodes.math_block(text=part) for part in node.astext().split(r"\qquad")]
    translator.body.append(f'<div class="math">{"".join(mathml(part, block=True) for part in parts)}</div>')
    raise nodes.SkipNode


def drop_icon_script(app: Any, exception: Exception | None) -> None:
    """Empty the theme's script of every icon there is (1.5 MB a page); its style sheet draws the same from a font."""
    script = Path(app.outdir) / "_static" / "scripts" / "fontawesome.js"
    if exception is None and script.exists():
        script.write_text("// The icons come from the style sheet's font.\n", encoding="utf-8")


def list_works_as_items(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the works of a bibliography the role that its list asks for; theirs is withdrawn from the standard."""
    if "body" in context:
        context["body"] = context["body"].replace(' role="doc-biblioentry"', ' role="listitem"')


FAULTS_HERE = "% the fault types, from lib/desk/faults.py"


def enter_faults(app: Any, page: str, source: list[str]) -> None:
    """Put an entry for each fault type of the catalogue into the glossary."""
    if FAULTS_HERE in source[0]:
        app.env.note_dependency(faults.__file__)
        entries = [f"{name}\n  A fault type. {fault.words}\n" for name, fault in faults.FAULTS.items()]
        source[0] = source[0].replace(FAULTS_HERE, "\n".join(entries))


def text_of(doctree: nodes.document) -> str:
    """A page's prose in one line; code and what is drawn are left out."""
    kept = (nodes.title, nodes.paragraph, nodes.term)
    texts = [node.astext() for node in doctree.findall(nodes.TextElement) if isinstance(node, kept)]
    return " ".join(" ".join(texts).split())


def write_texts(app: Any, exception: Exception | None) -> None:
    """Write the text of all pages, of which ``search.js`` shows what surrounds the words that were looked for."""
    if exception is None:
        texts = {name: text_of(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"window.bookTexts={json.dumps(texts)};\n"
        (Path(app.outdir) / "_static" / "search-texts.js").write_text(script, encoding="utf-8")


def add_search_scripts(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the texts and the script that shows them on the page of search results only."""
    if page == "search":
        app.add_js_file("search-texts.js", priority=900)
        app.add_js_file("search.js", priority=901, loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register the math renderer ``mathml`` and what is done after a build."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("source-read", enter_faults)
    app.connect("html-page-context", list_works_as_items)
    app.connect("html-page-context", add_search_scripts)
    app.connect("build-finished", drop_icon_script)
    app.connect("build-finished", write_texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
