"""Build the book: execute the notebooks, write the table of contents, and let jupyter-book make the pages."""

from __future__ import annotations

import copy
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from lib import ROOT
from lib.book import layout
from lib.book.explorer import write_explorer
from lib.book.gate import write_gate
from lib.book.notebooks import NOTEBOOKS, Page, default_run, execute_all, title
from lib.book.vega_bundle import write_bundle
from lib.errors import UserError


def build_book(runs: Sequence[str] = (), *, out: Path | None = None, workers: int = 2) -> Path:
    """Build the book and return the page to open, which leads to its first one.

    Args:
        runs: runs to show, by name or folder. None given: chapters on the paper's run, and explorer and gate with that
            of the small local models too.
        out: folder in which jupyter-book makes its ``_build/html``; the repository's top for the shipped book,
            ``_build/<names>`` for any other.
        workers: notebooks executed at once.

    Raises:
        UserError: a notebook fails, or the pages give a warning.
    """
    shown = layout.shown_runs(runs)
    chaptered = shown if runs else shown[:1]
    toc = layout.contents()
    execute_all(pages(toc, chaptered), workers)
    output = out or (ROOT / "_build" / "-".join(one.name for one in shown) if runs else ROOT)
    table = output / "_build" / "_toc.yml"
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(yaml.safe_dump(_titled(layout.contents_for(toc, chaptered)), sort_keys=False), encoding="utf-8")
    write_bundle(ROOT / "book" / "_static" / "vega-book.js")
    _make_pages(output, table)
    html = output / "_build" / "html"
    write_explorer(html, shown)
    write_gate(html, shown)
    return html / "index.html"


def pages(toc: dict[str, Any], runs: Sequence[layout.Shown]) -> list[Page]:
    """Every notebook of the book: chapters once for each run, the others once.

    A notebook that is on a run of its own, which is not the paper's, stays on it in every book.
    """
    found = []
    for place, one in enumerate(runs):
        shutil.rmtree(ROOT / "book" / one.name, ignore_errors=True)
        for name in layout.notebooks(toc):
            source = NOTEBOOKS / f"{name}.ipynb"
            chapter = layout.is_chapter(name)
            if place and not chapter:
                continue
            given = {"run": one.run} if one.run != layout.PAPER == default_run(source) else {}
            kind = "chapter" if chapter else "page"
            label = f"{one.name}-{name}" if place else f"{kind}-{name if chapter else name.replace('_', '-')}"
            target = ROOT / "book" / one.name / source.name
            found.append(Page(source, target, given, label, one.whose if chapter else ""))
    return found


def _titled(toc: dict[str, Any]) -> dict[str, Any]:
    """The table of contents with each chapter under its own title; whose verdicts it shows is said by its part."""
    titled = copy.deepcopy(toc)
    for part in titled["parts"]:
        for entry in part["chapters"]:
            source = NOTEBOOKS / f"{Path(entry['file']).name}.ipynb"
            if source.is_file():
                entry["title"] = title(source)
    return titled


def _make_pages(output: Path, table: Path) -> None:
    """Run jupyter-book on all pages; any warning fails."""
    program = str(Path(sys.executable).with_name("jupyter-book"))
    options = ["--path-output", str(output), "--toc", str(table), "-W", "-n", "--keep-going", "--all"]
    if subprocess.run([program, "build", str(ROOT), *options], check=False).returncode:
        raise UserError("The book was not built: see the warnings above, each of which counts as an error.")
