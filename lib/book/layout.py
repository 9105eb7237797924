"""Which runs a book shows, where their chapters land, and the table of contents that follows from it."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lib import ROOT, RUNS
from lib.errors import UserError
from lib.run.folder import Run

PUBLISHED, SHIPPED = "paper", "local"
PAGES = "pages"
RESERVED = {PAGES, "chapter", "page"}
"""The folder of the pages that are shown once, and what the labels of pages and chapters begin with."""
LONGEST_NAME = 80


class Shown(NamedTuple):
    """A run that the book shows.

    Attributes:
        name: the folder of ``book/`` that its chapters land in.
        run: what the notebooks get as ``run``: a name under ``data/runs``, or a folder.
        folder: where it is; None for the paper's run before it is fetched.
    """

    name: str
    run: str
    folder: Path | None


def shown_runs(runs: Sequence[str]) -> list[Shown]:
    """The runs of a book in the order of its parts; without a choice, the paper's and the shipped one.

    Raises:
        UserError: a run that was asked for is not there, or two have one name.
    """
    if not runs:
        paper = shown(PUBLISHED) if (RUNS / PUBLISHED / "verdicts.jsonl").is_file() else Shown(PUBLISHED, "", None)
        return [paper, shown(SHIPPED)]
    chosen = [shown(run) for run in runs]
    names = [one.name for one in chosen]
    if len({name.casefold() for name in names}) < len(names):  # many disks do not tell Mine from mine
        raise UserError(f"Two runs of this book are called the same ({', '.join(names)}): rename a folder.")
    return chosen


def shown(run: str) -> Shown:
    """A run by its name or folder. Raises UserError where there is none."""
    folder = Run.open(run).folder.resolve()
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.name).strip("-_") or "run"
    if name.casefold() in RESERVED:
        raise UserError(f"A run can't be called {name} in the book: rename {folder}.")
    if len(name) > LONGEST_NAME:
        raise UserError(f"A run's name may have {LONGEST_NAME} characters in the book: rename {folder}.")
    return Shown(name, folder.name if folder.parent == RUNS.resolve() else str(folder), folder)


def contents(root: Path = ROOT) -> dict[str, Any]:
    """``_toc.yml``: the table of contents of the book with the paper's and the shipped run."""
    toc: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return toc


def documents(toc: dict[str, Any]) -> list[str]:
    """Every document of a table of contents, in its order."""
    files = [entry["file"] for part in toc["parts"] for entry in part["chapters"]]
    return [toc["root"], *files]


def chapters(toc: dict[str, Any]) -> list[str]:
    """Names of the notebooks that are shown once for each run."""
    prefix = f"book/{SHIPPED}/"
    return [name.removeprefix(prefix) for name in documents(toc) if name.startswith(prefix)]


def pages(toc: dict[str, Any]) -> list[str]:
    """Names of the notebooks (in ``notebooks/pages``) that are shown once."""
    prefix = f"book/{PAGES}/"
    return [name.removeprefix(prefix) for name in documents(toc) if name.startswith(prefix)]


def contents_for(toc: dict[str, Any], runs: Sequence[Shown]) -> dict[str, Any]:
    """The table of contents with one part for each of ``runs``, in place of the paper's and the shipped run's."""
    if [one.name for one in runs] == [PUBLISHED, SHIPPED]:
        return toc
    parts: list[dict[str, Any]] = []
    for part in toc["parts"]:
        of_run = {Path(entry["file"]).parent.name for entry in part["chapters"]} & {PUBLISHED, SHIPPED}
        if not of_run:
            parts.append(part)
        elif SHIPPED in of_run:
            parts += [_part(part, one.name) for one in runs]
    return {**toc, "parts": parts}


def _part(shipped: dict[str, Any], name: str) -> dict[str, Any]:
    part = copy.deepcopy(shipped)
    part["caption"] = f"The run {name}"
    for entry in part["chapters"]:
        entry["file"] = entry["file"].replace(f"book/{SHIPPED}/", f"book/{name}/")
    return part
