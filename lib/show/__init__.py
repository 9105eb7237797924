"""What a reader sees: one sentence, one table, five charts, a trajectory; ``show.page(b)`` begins a notebook.

Importing this makes altair draw with the book's theme, give every chart its alternative text and store its picture.
"""

from __future__ import annotations

from lib.show.chart import bars, dots, heat, lines, points
from lib.show.page import page, source
from lib.show.sentence import say
from lib.show.style import enable, judges
from lib.show.table import interval, table, wide
from lib.show.trajectory import trajectory

__all__ = [
    "bars",
    "dots",
    "heat",
    "interval",
    "judges",
    "lines",
    "page",
    "points",
    "say",
    "source",
    "table",
    "trajectory",
    "wide",
]

enable()
