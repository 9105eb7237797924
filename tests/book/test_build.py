"""The build stops at the first notebook that fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib.book import build
from lib.book.build import build_book, execute_all
from lib.book.jobs import Job
from lib.book.publish import write
from lib.errors import UserError


def job(folder: Path, name: str, code: str) -> Job:
    cells = [
        new_markdown_cell("# A title", id="title"),
        new_code_cell("x = 1", metadata={"tags": ["parameters"]}, id="parameters"),
        new_code_cell(code, id="code"),
    ]
    source = folder / f"{name}.ipynb"
    write(new_notebook(cells=cells), source)
    return Job(source, folder / "out" / source.name, {}, (), "", "", "key")


def test_the_first_notebook_that_fails_stops_the_others(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "broken", "1 / 0"), *(job(tmp_path, f"later_{i}", "x") for i in range(6))]
    with pytest.raises(UserError, match="ZeroDivisionError"):
        execute_all(jobs, workers=1, say=lambda _: None)
    assert jobs[0].is_due()
    assert not jobs[-1].target.exists()


def test_the_page_that_the_build_names_is_the_one_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stage in ("publish_chapters", "write_bundle", "_make_pages", "write_explorer"):
        monkeypatch.setattr(build, stage, lambda *_, **__: None)
    assert build_book(["local"], out=tmp_path) == tmp_path / "_build" / "html" / "index.html"
