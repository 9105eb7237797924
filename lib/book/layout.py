"""Which runs a book shows, where their chapters land, and the table of contents that follows from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lib import ROOT, RUNS
from lib.errors import UserError
from lib.run.folder import Run

PAPER, LOCAL = "paper", "local"
WHOSE = {PAPER: "Qwen2.5-14B, Llama-3.1-8B"}
RESERVED = {"chapter", "page"}
"""What the labels of pages and chapters begin with."""
LONGEST_NAME = 80
IN_CONTENTS = f"book/{PAPER}/"


class Shown(NamedTuple):
    """A run that the book shows.

    Attributes:
        name: the folder of ``book/`` that its chapters land in.
        run: what the notebooks get as ``run``: a name under ``data/runs``, or a folder.
        folder: where it is.
        whose: whose verdicts it holds, for the titles of its chapters.
    """

    name: str
    run: str
    folder: Path
    whose: str = ""


def shown_runs(runs: Sequence[str]) -> list[Shown]:
    """The runs of a book in their order; without a choice, the paper's and that of small local models.

    Raises:
        UserError: a run is not there, or two have one name.
    """
    chosen = [shown(run) for run in runs or (PAPER, LOCAL)]
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
    own = folder.parent == RUNS.resolve()
    return Shown(name, folder.name if own else str(folder), folder, WHOSE.get(name if own else "", f"run {name}"))


def contents(root: Path = ROOT) -> dict[str, Any]:
    """``_toc.yml``: the table of contents of the book as it is shipped."""
    toc: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return toc


def documents(toc: dict[str, Any]) -> list[str]:
    """Every document of a table of contents, in its order."""
    return [toc["root"], *(entry["file"] for part in toc["parts"] for entry in part["chapters"])]


def notebooks(toc: dict[str, Any]) -> list[str]:
    """Names of the notebooks among the documents of ``_toc.yml``."""
    return [name.removeprefix(IN_CONTENTS) for name in documents(toc) if name.startswith(IN_CONTENTS)]


def is_chapter(name: str) -> bool:
    """Whether a notebook is shown once for each run: its name begins with a number."""
    return name[:1].isdigit()


def contents_for(toc: dict[str, Any], runs: Sequence[Shown]) -> dict[str, Any]:
    """``_toc.yml`` for a book whose chapters show ``runs``: a part of chapters each, all else with the first run."""
    first = f"book/{runs[0].name}/"
    parts: list[dict[str, Any]] = []
    for part in toc["parts"]:
        files = [entry["file"] for entry in part["chapters"]]
        if not all(file.startswith(IN_CONTENTS) and is_chapter(Path(file).name) for file in files):
            parts.append({**part, "chapters": [{"file": file.replace(IN_CONTENTS, first)} for file in files]})
            continue
        for one in runs:
            caption = part["caption"] if one.name == PAPER else f"The run {one.name}"
            own = [{"file": file.replace(IN_CONTENTS, f"book/{one.name}/")} for file in files]
            parts.append({**part, "caption": caption, "chapters": own})
    return {**toc, "root": toc["root"].replace(IN_CONTENTS, first), "parts": parts}
