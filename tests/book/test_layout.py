"""The table of contents is true, and follows from the runs that a book shows."""

from __future__ import annotations

import shutil

import nbformat
import pytest
from run_builders import make_run

from lib import ROOT, RUNS
from lib.book import jobs, layout, stubs
from lib.book.jobs import plan
from lib.errors import UserError

NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_every_notebook_is_a_chapter_on_both_runs_in_the_same_order():
    toc = layout.contents()
    assert layout.chapters(toc) == NOTEBOOKS
    paper = [name for name in layout.documents(toc) if name.startswith("book/paper/")]
    assert paper == [f"book/paper/{name}" for name in NOTEBOOKS]
    assert layout.pages(toc) == [
        name for name in layout.pages(toc) if (ROOT / f"notebooks/pages/{name}.ipynb").exists()
    ]


def test_every_written_page_is_in_the_table_of_contents():
    written = {f"book/{path.stem}" for path in (ROOT / "book").glob("*.md")}
    assert written <= set(layout.documents(layout.contents()))


def test_a_book_of_one_run_has_one_part_for_it_and_keeps_the_other_pages():
    toc = layout.contents()
    mine = layout.contents_for(toc, [layout.Shown("mine", "mine", RUNS)])
    names = layout.documents(mine)
    assert [name for name in names if name.startswith("book/mine/")] == [f"book/mine/{name}" for name in NOTEBOOKS]
    assert not [name for name in names if name.startswith(("book/paper/", "book/local/"))]
    others = [n for n in layout.documents(toc) if not n.startswith(("book/paper/", "book/local/"))]
    assert [name for name in names if not name.startswith("book/mine/")] == others


def test_a_run_is_found_by_name_or_folder_and_its_folder_names_its_part(tmp_path):
    copied = tmp_path / "my run!"
    shutil.copytree(RUNS / "local", copied)
    assert layout.shown("local").run == "local"
    assert layout.shown(str(copied))[:2] == ("my-run", str(copied))
    with pytest.raises(UserError, match="called the same"):
        layout.shown_runs(["local", "local"])
    with pytest.raises(UserError, match="There is no run nowhere"):
        layout.shown_runs(["nowhere"])


@pytest.mark.parametrize("name", ["chapter", "Chapter", "page", "pages", "x" * 81])
def test_a_name_that_the_book_cannot_use_is_refused_at_once(tmp_path, name):
    make_run(tmp_path / name)
    with pytest.raises(UserError, match="A run"):
        layout.shown_runs([str(tmp_path / name)])


def test_names_that_differ_in_case_only_are_refused(tmp_path):
    for folder in ("a/mine", "b/Mine"):
        make_run(tmp_path / folder)
    with pytest.raises(UserError, match=r"called the same \(mine, Mine\)"):
        layout.shown_runs([str(tmp_path / "a" / "mine"), str(tmp_path / "b" / "Mine")])


def test_the_first_run_answers_for_runs_that_are_not_shown(tmp_path):
    shutil.copytree(RUNS / "local", tmp_path / "mine")
    planned = plan(layout.contents(), layout.shown_runs([str(tmp_path / "mine")]))
    chapter = next(job for job in planned if job.source.stem == NOTEBOOKS[0])
    assert chapter.labels == tuple(f"{name}-{NOTEBOOKS[0]}" for name in ("mine", "chapter", "paper", "local"))


def test_a_changed_tag_makes_a_page_due(tmp_path, monkeypatch):
    shutil.copytree(jobs.NOTEBOOKS, tmp_path / "notebooks")
    monkeypatch.setattr(jobs, "NOTEBOOKS", tmp_path / "notebooks")
    shown = layout.shown_runs(["local"])
    before = {job.source: job.key for job in plan(layout.contents(), shown)}
    path = tmp_path / "notebooks" / "pages" / "testbed.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("hide-input", "remove-input", 1), encoding="utf-8")
    after = {job.source: job.key for job in plan(layout.contents(), shown)}
    assert [source for source in before if before[source] != after[source]] == [path]


def test_a_changed_verdict_makes_only_the_chapters_of_its_run_due(tmp_path):
    for name in ("one", "two"):
        shutil.copytree(RUNS / "local", tmp_path / name)
    shown = layout.shown_runs([str(tmp_path / "one"), str(tmp_path / "two")])
    toc = {"root": "book/intro", "parts": [{"chapters": [{"file": f"book/local/{NOTEBOOKS[1 % len(NOTEBOOKS)]}"}]}]}
    before = [job.key for job in plan(toc, shown)]
    path = tmp_path / "two" / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"confidence":0.6', b'"confidence":0.7', 1))
    after = [job.key for job in plan(toc, shown)]
    also = "also" in plan(toc, shown)[0].parameters
    assert [a == b for a, b in zip(before, after, strict=True)] == [not also, False]


def test_what_is_no_file_of_a_run_makes_nothing_due(tmp_path):
    shutil.copytree(RUNS / "local", tmp_path / "one")
    shown = layout.shown_runs([str(tmp_path / "one")])
    before = plan(layout.contents(), shown)
    (tmp_path / "one" / "notes.json").write_text("{")
    assert plan(layout.contents(), shown) == before


def test_the_page_of_a_run_that_is_not_here_says_how_to_get_it_beside_the_published_figures():
    notebook = nbformat.read(ROOT / "notebooks" / f"{NOTEBOOKS[0]}.ipynb", as_version=4)
    notebook.metadata["book"] = {"published": ["silent_recall"]}
    page = stubs.stub(notebook, "paper-x", "paper")
    assert page.startswith("(paper-x)=\n# ")
    assert "`.venv/bin/python -m lib fetch paper`" in page
    assert "| `outcome:qwen2.5:14b` | `silent_recall` | 0.451 [0.38, 0.52] |" in page
    assert "`f1`" not in page


def test_a_bound_that_the_paper_prints_alone_stands_on_the_page_of_a_run_that_is_not_here():
    notebook = nbformat.read(ROOT / "notebooks" / f"{NOTEBOOKS[0]}.ipynb", as_version=4)
    notebook.metadata["book"] = {"published": ["false_alarm_rate"]}
    page = stubs.stub(notebook, "paper-x", "paper")
    assert "| `step:qwen2.5:14b` | `false_alarm_rate` | 0.000 (at most 0.036) |" in page
