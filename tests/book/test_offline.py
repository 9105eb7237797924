"""Formulas need no script: they are in the page as MathML, with their LaTeX for screen readers."""

from __future__ import annotations

from docutils import nodes

from lib.book.sphinx_offline import mathml


def test_a_formula_is_mathml_and_says_its_latex() -> None:
    html = mathml(nodes.math(text=r"\frac{k}{n} < 1"), block=False)
    assert html.startswith(r'<math aria-label="\frac{k}{n} &lt; 1"')
    assert "<mfrac>" in html


def test_latex_that_cannot_be_read_is_a_warning_and_stays_text() -> None:
    assert mathml(nodes.math(text=r"\nothing{<b>"), block=True) == r"<code>\nothing{&lt;b&gt;</code>"
    assert mathml(nodes.math(text=r"a \\ \frac{n}{m}"), block=False) == r"<code>a \\ \frac{n}{m}</code>"
