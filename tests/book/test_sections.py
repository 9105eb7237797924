"""Sections of a published chapter: one without any result is not on the page."""

from __future__ import annotations

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from lib.book.sections import without_empty


def shown(text: str = "x"):
    return new_code_cell("1", outputs=[new_output("stream", text=text)])


def kept(*cells) -> list[str]:
    return [cell.source.partition("\n")[0] for cell in without_empty(list(cells)) if cell.cell_type == "markdown"]


def test_a_section_whose_code_shows_nothing_goes_with_its_heading():
    cells = [new_markdown_cell("# Title"), shown(), new_markdown_cell("## A\n\ntext"), new_code_cell("None")]
    assert kept(*cells, new_markdown_cell("## B"), new_code_cell("None"), shown()) == ["# Title", "## B"]


def test_a_section_of_words_stays_and_so_does_one_with_further_text_between_its_results():
    words = new_markdown_cell("## How to read it")
    between = [new_markdown_cell("## A"), new_code_cell("None"), new_markdown_cell("more"), shown()]
    assert kept(words, *between) == ["## How to read it", "## A", "more"]


def test_text_before_the_heading_in_the_same_cell_is_not_lost():
    cells = [new_markdown_cell("The end of one.\n\n## Another"), new_code_cell("None")]
    assert kept(*cells) == ["The end of one."]
