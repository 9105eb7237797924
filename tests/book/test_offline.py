"""Formulas need no script: they are in the page as MathML, with their LaTeX for screen readers."""

from __future__ import annotations

from unittest.mock import Mock

from docutils import nodes

from lib import ROOT
from lib.book.sphinx_offline import enter_faults, list_works_as_items, mathml
from lib.records import FAULT_TYPES


def test_a_formula_is_mathml_and_says_its_latex() -> None:
    html = mathml(nodes.math(text=r"\frac{k}{n} < 1"), block=False)
    assert html.startswith(r'<math aria-label="\frac{k}{n} &lt; 1"')
    assert "<mfrac>" in html


def test_latex_that_cannot_be_read_is_a_warning_and_stays_text() -> None:
    assert mathml(nodes.math(text=r"\nothing{<b>"), block=True) == r"<code>\nothing{&lt;b&gt;</code>"
    assert mathml(nodes.math(text=r"a \\ \frac{n}{m}"), block=False) == r"<code>a \\ \frac{n}{m}</code>"


def test_the_glossary_has_an_entry_for_each_fault_type() -> None:
    source = [(ROOT / "book" / "glossary.md").read_text(encoding="utf-8")]
    enter_faults(Mock(), "book/glossary", source)
    terms = [line for line in source[0].splitlines() if line in FAULT_TYPES]
    assert sorted(terms) == sorted(FAULT_TYPES)


def test_the_works_of_a_bibliography_are_items_of_its_list() -> None:
    context = {"body": '<div role="list"><div class="citation" role="doc-biblioentry">A work</div></div>'}
    list_works_as_items(None, "book/references", "page.html", context, None)
    assert context["body"] == '<div role="list"><div class="citation" role="listitem">A work</div></div>'
