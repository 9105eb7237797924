"""One notebook on one run: with which parameters, whether it is due again, and its execution."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from lib import REFERENCE, ROOT
from lib.run import manifest
from lib.book import layout
from lib.book.dependencies import files_behind
from lib.book.publish import executed, parameters_of, title, write
from lib.book.sections import without_empty
from lib.run.writer import FAILURES

NOTEBOOKS = ROOT / "notebooks"
READ = (manifest.NAME, "trajectories.jsonl", "verdicts.jsonl", "episodes.jsonl", FAILURES)
MACHINERY = [ROOT / "lib" / "book" / name for name in ("jobs.py", "publish.py", "sections.py")]


class Job(NamedTuple):
    """A notebook to publish.

    Attributes:
        labels: what other pages may call it in a cross-reference.
        run: name of the run that its title gets, since a book may show a chapter twice; empty for a page of no run.
        note: the line under its title that says which run it is on; empty for a page of no run.
        key: digest of all that its outputs depend on.
    """

    source: Path
    target: Path
    parameters: dict[str, Any]
    labels: tuple[str, ...]
    run: str
    note: str
    key: str

    def is_due(self) -> bool:
        """Whether the published copy is missing or was made from something else."""
        if not self.target.exists():
            return True
        return not self.stamp.exists() or self.stamp.read_text() != self.key

    @property
    def stamp(self) -> Path:
        """Where the key of the published copy is kept: beside it, so that the copy itself stays the same."""
        return self.target.with_suffix(".key")


def plan(toc: dict[str, Any], shown: Sequence[layout.Shown]) -> list[Job]:
    """The notebooks of a book, chapters first in the order of the runs."""
    present = [one for one in shown if one.folder]
    constant = digest_of([*sorted(REFERENCE.iterdir()), ROOT / "requirements.txt", *MACHINERY])
    data = {
        one.name: digest_of(path for name in READ if (path := one.folder / name).is_file())
        for one in present
        if one.folder
    }
    jobs = [_chapter(name, one, shown, constant, data) for one in present for name in layout.chapters(toc)]
    return jobs + [_page(name, present, constant, data) for name in layout.pages(toc)]


def execute(job: Job) -> float:
    """Publish one notebook; returns the seconds it took."""
    start = time.perf_counter()
    job.target.with_suffix(".md").unlink(missing_ok=True)
    job.stamp.unlink(missing_ok=True)
    notebook = executed(job.source, job.parameters)
    notebook.cells = without_empty(notebook.cells)
    targets = "".join(f"({label})=\n" for label in job.labels)
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    heading = f"# {title(notebook)}"
    named = f"{heading} ({job.run})" if job.run else heading
    first.source = targets + first.source.replace(heading, named, 1)
    if job.note:
        notebook.cells.insert(notebook.cells.index(first) + 1, nbformat.v4.new_markdown_cell(job.note, id="run-note"))
    write(notebook, job.target)
    job.stamp.write_text(job.key)
    return time.perf_counter() - start


def digest_of(paths: Iterable[Path]) -> str:
    """SHA-256 over names and contents."""
    digest = hashlib.sha256()
    for path in paths:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()


def _chapter(name: str, one: layout.Shown, shown: Sequence[layout.Shown], constant: str, data: dict[str, str]) -> Job:
    source = NOTEBOOKS / f"{name}.ipynb"
    others = [other for other in shown if other.name != one.name]
    also = [other for other in others if other.folder]
    offered = {"run": one.run, "also": [other.run for other in also]}
    links = ", ".join(f"[{other.name}](#{other.name}-{name})" for other in others)
    note = f"Computed from the run `{one.name}`." + (f" The same chapter on another run: {links}." if links else "")
    return _job(source, one.name, offered, _labels(name, one, shown), note, constant, data, [one, *also])


def _page(name: str, present: Sequence[layout.Shown], constant: str, data: dict[str, str]) -> Job:
    source = NOTEBOOKS / layout.PAGES / f"{name}.ipynb"
    offered = {"run": present[0].run, "also": [other.run for other in present[1:]]}
    return _job(source, layout.PAGES, offered, (), "", constant, data, present)


def _job(
    source: Path,
    folder: str,
    offered: dict[str, Any],
    labels: tuple[str, ...],
    note: str,
    constant: str,
    data: dict[str, str],
    runs: Sequence[layout.Shown],
) -> Job:
    parameters = {name: value for name, value in offered.items() if name in parameters_of(source)}
    read = runs[: (1 if "run" in parameters else 0) + (len(runs) - 1 if "also" in parameters else 0)]
    notebook = nbformat.read(source, as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    cells = [[cell.cell_type, cell.source, cell.metadata] for cell in notebook.cells]
    uses = digest_of(files_behind(code))
    told = [constant, uses, cells, parameters, labels, note, [data[one.name] for one in read]]
    key = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    run = folder if note else ""
    return Job(source, ROOT / "book" / folder / source.name, parameters, labels, run, note, key)


def _labels(name: str, one: layout.Shown, shown: Sequence[layout.Shown]) -> tuple[str, ...]:
    """``<run>-<notebook>``; the book's first run answers to ``chapter-<notebook>`` and for standard runs not shown."""
    names = [each.name for each in shown]
    labels = [f"{one.name}-{name}"]
    if one.name == next(each.name for each in shown if each.folder):
        labels.append(f"chapter-{name}")
        labels += [f"{absent}-{name}" for absent in (layout.PUBLISHED, layout.SHIPPED) if absent not in names]
    return tuple(labels)
