"""Chapters on the paper's run before it is fetched: how to get it, and the figures that the paper printed."""

from __future__ import annotations

import csv
from typing import Any

from lib.book.compare import FIGURES, with_bounds
from lib.book.publish import title
from lib.errors import COMMAND

HOW = (
    "This chapter is computed from the paper's released verdicts, which are not part of this repository: "
    f"`{COMMAND} fetch paper` downloads them, and `make book` then fills these pages."
)


def stub(notebook: Any, label: str, run: str) -> str:
    """A page in place of a run's chapter: its title, how to get the run, and the paper's own figures.

    A notebook narrows the figures with its metadata ``book.published``, a list of metrics (or their beginnings) and
    judges.
    """
    wanted = tuple(notebook.metadata.get("book", {}).get("published", ()))
    rows = [row for row in _published() if not wanted or row["metric"].startswith(wanted) or row["judge"] in wanted]
    lines = [f"({label})=", f"# {title(notebook)} ({run})", "", HOW, ""]
    if rows:
        lines += [
            "## What the paper printed",
            "",
            "| judge | metric | value, 95 % interval | where |",
            "|---|---|---|---|",
        ]
        lines += [_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def _published() -> list[dict[str, str]]:
    with FIGURES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _line(row: dict[str, str]) -> str:
    figure = with_bounds(row["value"], row["low"], row["high"])
    return f"| `{row['judge']}` | `{row['metric']}` | {figure} | {row['where']} |"
