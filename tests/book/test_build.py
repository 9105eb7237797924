"""The build stops at the first notebook that fails, and a page leaves out what has nothing to show."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from lib.book import build
from lib.book.build import build_book
from lib.book.notebooks import Page, execute, execute_all, without_empty
from lib.errors import UserError


def page(folder: Path, name: str, code: str) -> Page:
    cells = [
        new_markdown_cell("# A title\n\nSee [this](../book/gate.md).", id="title"),
        new_code_cell("x = 1", metadata={"tags": ["parameters"]}, id="parameters"),
        new_code_cell(code, id="code"),
    ]
    source = folder / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=cells), source)
    return Page(source, folder / "out" / source.name, {}, "page-name", "Someone")


def test_the_first_notebook_that_fails_stops_the_others(tmp_path: Path) -> None:
    pages = [page(tmp_path, "broken", "1 / 0"), *(page(tmp_path, f"later_{i}", "x") for i in range(6))]
    with pytest.raises(UserError, match="ZeroDivisionError"):
        execute_all(pages, workers=1)
    assert not pages[0].target.exists()
    assert not pages[-1].target.exists()


def test_a_page_says_whose_verdicts_it_shows_and_the_same_bytes_come_out_again(tmp_path: Path) -> None:
    made = page(tmp_path, "one", "x + 1")
    execute(made)
    first = made.target.read_bytes()
    execute(made)
    assert made.target.read_bytes() == first
    text = nbformat.reads(first.decode(), as_version=4).cells[0].source
    assert text == "(page-name)=\n# A title (Someone)\n\nSee [this](../gate.md)."


def test_a_section_whose_code_shows_nothing_is_left_out() -> None:
    shows = new_code_cell("1", outputs=[new_output("execute_result", data={"text/plain": "1"})])
    empty = new_code_cell("x", outputs=[new_output("execute_result", data={"text/plain": ""})])
    cells = [new_markdown_cell("# T"), new_markdown_cell("## Empty"), empty, new_markdown_cell("words")]
    cells += [new_markdown_cell("## Shown"), shows, new_markdown_cell("## Words alone")]
    kept = [cell.source for cell in without_empty(cells)]
    assert kept == ["# T", "## Shown", "1", "## Words alone"]


def test_the_page_that_the_build_names_is_the_one_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stage in ("execute_all", "write_bundle", "_make_pages", "write_explorer", "write_gate"):
        monkeypatch.setattr(build, stage, lambda *_, **__: None)
    assert build_book(["local"], out=tmp_path) == tmp_path / "_build" / "html" / "index.html"
