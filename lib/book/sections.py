"""A published chapter leaves out the sections that have nothing to show on its run."""

from __future__ import annotations

from itertools import groupby
from typing import Any

HEADING = "## "


def without_empty(cells: list[Any]) -> list[Any]:
    """The cells of an executed notebook, less each section whose code gave no output at all.

    A section is a Markdown cell that begins with a heading of the second level, and what follows it up to the next
    such heading. One without code stays: its text is all that it is to show.
    """
    number = 0
    numbers = []
    for cell in cells:
        number += cell.cell_type == "markdown" and any(map(_is_heading, cell.source.splitlines()))
        numbers.append(number)
    sections = groupby(zip(numbers, cells, strict=True), key=lambda pair: pair[0])
    return [cell for _, pairs in sections for cell in _shown([cell for _, cell in pairs])]


def _shown(section: list[Any]) -> list[Any]:
    code = [cell for cell in section if cell.cell_type == "code"]
    headings = sum(map(_is_heading, section[0].source.splitlines()))
    empty = code and headings == 1 and _is_heading(section[0].source) and not any(cell.outputs for cell in code)
    return [] if empty else section


def _is_heading(line: str) -> bool:
    return line.startswith(HEADING)
