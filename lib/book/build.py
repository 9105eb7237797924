"""Build the book: execute what changed, write its table of contents, and let jupyter-book make the pages."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import nbformat
import yaml

from lib import ROOT
from lib.book import layout
from lib.book.explorer import write_explorer
from lib.book.gate import write_gate
from lib.book.jobs import NOTEBOOKS, Job, digest_of, execute, plan
from lib.book.publish import title
from lib.book.stubs import stub
from lib.book.vega_bundle import write_bundle
from lib.errors import UserError


def build_book(runs: Sequence[str] = (), *, out: Path | None = None, workers: int = 2) -> Path:
    """Build the book and return the page to open, which leads to its first one.

    Args:
        runs: runs to show, by name or folder. None given: the paper's run (how to get it, while it is not fetched)
            and the shipped one.
        out: folder in which jupyter-book makes its ``_build/html``; the repository's top for the book of both runs,
            ``_build/<names>`` for any other.
        workers: notebooks executed at once.

    Raises:
        UserError: a notebook fails, or the pages give a warning.
    """
    shown = layout.shown_runs(runs)
    toc = layout.contents_for(layout.contents(), shown)
    output = out or (ROOT / "_build" / "-".join(one.name for one in shown) if runs else ROOT)
    publish_chapters(shown, workers=workers)
    table = output / "_build" / "_toc.yml"
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(yaml.safe_dump(_titled(toc), sort_keys=False), encoding="utf-8")
    write_bundle(ROOT / "book" / "_static" / "vega-book.js")
    _make_pages(output, table)
    html = output / "_build" / "html"
    write_explorer(html, shown)
    write_gate(html, shown)
    return html / "index.html"


def _titled(toc: dict[str, Any]) -> dict[str, Any]:
    """The table of contents with each chapter under its own title; the run is in the name of its part already."""
    titled = copy.deepcopy(toc)
    for part in titled["parts"]:
        for entry in part["chapters"]:
            source = NOTEBOOKS / f"{Path(entry['file']).name}.ipynb"
            if source.is_file():
                entry["title"] = title(nbformat.read(source, as_version=4))
    return titled


def publish_chapters(shown: Sequence[layout.Shown], *, workers: int, say: Callable[[str], None] = print) -> None:
    """Execute the notebooks whose code, parameters or data changed since the last time, ``workers`` at once."""
    toc = layout.contents()
    jobs = plan(toc, shown)
    for name in layout.chapters(toc):
        for one in shown:
            if one.folder is None:
                _write_stub(name, one)
    due = [job for job in jobs if job.is_due()]
    say(f"{len(jobs)} notebooks in the book, {len(due)} to execute")
    if due:
        execute_all(due, workers=workers, say=say)


def execute_all(due: Sequence[Job], *, workers: int, say: Callable[[str], None] = print) -> None:
    """Execute notebooks, ``workers`` at once; the first that fails stops those that have not begun.

    Raises:
        UserError: a notebook failed.
    """
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(execute, job): job for job in due}
        try:
            _watch(futures, say)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _watch(futures: dict[Future[float], Job], say: Callable[[str], None]) -> None:
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_EXCEPTION, timeout=1)
        for future in done:
            say(f"  {futures[future].source.stem} {futures[future].run}: {future.result():.0f} s")


def _write_stub(chapter: str, run: layout.Shown) -> None:
    notebook = nbformat.read(ROOT / "notebooks" / f"{chapter}.ipynb", as_version=4)
    target = ROOT / "book" / run.name / f"{chapter}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.with_suffix(".ipynb").unlink(missing_ok=True)
    text = stub(notebook, f"{run.name}-{chapter}", run.name)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def _make_pages(output: Path, table: Path) -> None:
    """Run jupyter-book; any warning fails. Pages are read anew after a failure and when the settings changed."""
    static = sorted(path for path in (ROOT / "book" / "_static").rglob("*") if path.is_file())
    settings = digest_of([ROOT / "_config.yml", *static, *_machinery()])
    stamp = output / "_build" / "settings.sha256"
    fresh = [] if stamp.exists() and stamp.read_text() == settings else ["--all"]
    stamp.unlink(missing_ok=True)
    flags = ["-W", "-n", "--keep-going", *fresh]
    command = [
        str(Path(sys.executable).with_name("jupyter-book")),
        "build",
        str(ROOT),
        "--path-output",
        str(output),
        "--toc",
        str(table),
        *flags,
    ]
    if subprocess.run(command, check=False).returncode:
        raise UserError("The book was not built: see the warnings above, each of which counts as an error.")
    stamp.write_text(settings)


def _machinery() -> list[Path]:
    return [ROOT / "lib" / "book" / name for name in ("sphinx_vega.py", "sphinx_offline.py")]
