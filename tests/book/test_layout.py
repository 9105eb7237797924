"""The table of contents is true, and follows from the runs that a book shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lib import ROOT, RUNS
from lib.book import layout
from lib.book.build import pages
from lib.errors import UserError
from tests.notebook import ALL
from tests.run_builders import make_run


def test_every_notebook_and_every_written_page_is_in_the_table_of_contents() -> None:
    toc = layout.contents()
    assert sorted(layout.notebooks(toc)) == [path.stem for path in ALL]
    assert {f"book/{path.stem}" for path in (ROOT / "book").glob("*.md")} <= set(layout.documents(toc))


def test_a_book_of_other_runs_has_their_chapters_and_once_all_other_pages() -> None:
    toc = layout.contents()
    one, two = (layout.Shown(name, name, RUNS) for name in ("one", "two"))
    names = layout.documents(layout.contents_for(toc, [one, two]))
    chapters = [name for name in layout.notebooks(toc) if layout.is_chapter(name)]
    assert [name for name in names if name.startswith("book/two/")] == [f"book/two/{name}" for name in chapters]
    first = [name for name in names if not name.startswith("book/two/")]
    assert first == [name.replace("book/paper/", "book/one/") for name in layout.documents(toc)]


def test_a_run_is_found_by_name_or_folder_and_its_folder_names_its_part(tmp_path: Path) -> None:
    copied = tmp_path / "my run!"
    shutil.copytree(RUNS / "local", copied)
    assert layout.shown("local").run == "local"
    assert layout.shown(str(copied))[:2] == ("my-run", str(copied))
    with pytest.raises(UserError, match="called the same"):
        layout.shown_runs(["local", "local"])
    with pytest.raises(UserError, match="There is no run nowhere"):
        layout.shown_runs(["nowhere"])


@pytest.mark.parametrize("name", ["chapter", "Chapter", "page", "x" * 81])
def test_a_name_that_the_book_cannot_use_is_refused_at_once(tmp_path: Path, name: str) -> None:
    make_run(tmp_path / name)
    with pytest.raises(UserError, match="A run"):
        layout.shown_runs([str(tmp_path / name)])


def test_names_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    for folder in ("a/mine", "b/Mine"):
        make_run(tmp_path / folder)
    with pytest.raises(UserError, match=r"called the same \(mine, Mine\)"):
        layout.shown_runs([str(tmp_path / "a" / "mine"), str(tmp_path / "b" / "Mine")])


def test_chapters_are_given_the_run_and_a_page_on_a_run_of_its_own_stays_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    found = {page.source.stem: page for page in pages(layout.contents(), [layout.Shown("mine", "mine", RUNS)])}
    assert found["1_blind_spot"].parameters == {"run": "mine"}
    assert found["1_blind_spot"].label == "chapter-1_blind_spot"
    assert found["testbed"].parameters == {}
    shipped = pages(layout.contents(), [layout.shown("paper")])
    assert all(page.parameters == {} for page in shipped)
    assert {page.whose for page in shipped} == {"Qwen2.5-14B, Llama-3.1-8B", ""}
