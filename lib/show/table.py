"""A frame as a table that reads the same in the page, in JupyterLab and in a diff; a cell holds text, never markup."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from html import escape
from types import SimpleNamespace
from typing import Any

import pandas as pd

from lib.show.sentence import NOTHING, interval_text, is_missing, number_text
from lib.visible import to_csv, visible

DASH = "–"


class Table:
    """A captioned table; ``frame`` is what "download as CSV" gives: these rows and columns, numbers with all digits."""

    def __init__(self, frame: pd.DataFrame, caption: str, digits: Mapping[str, int], fold: bool) -> None:
        plain = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
        self.frame = frame if plain else frame.reset_index()
        self.caption, self.headers, self.fold = caption, 0 if plain else frame.index.nlevels, fold
        self._digits = digits

    def cells(self) -> list[list[str]]:
        """The shown cells as text, row by row."""
        names = [str(name) for name in self.frame.columns]
        rows = self.frame.itertuples(index=False, name=None)
        return [[self._text(name, value) for name, value in zip(names, row, strict=True)] for row in rows]

    def to_html(self) -> str:
        """The table with everything escaped; columns of numbers stand to the right."""
        cells = self.cells()
        numeric = [_is_numeric([row[i] for row in cells]) for i in range(self.frame.shape[1])]
        head = "".join(
            f'<th scope="col"{_num(right)}>{escape(visible(str(name)))}</th>'
            for name, right in zip(self.frame.columns, numeric, strict=True)
        )
        body = "\n".join(f"<tr>{self._row(row, numeric)}</tr>" for row in cells)
        html = (
            f'<div class="book-table" data-csv="{escape(visible(self.to_csv()))}">\n<table>\n'
            f"<caption>{escape(visible(self.caption))}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
        )
        return f'<details class="numbers"><summary>Numbers</summary>\n{html}\n</details>' if self.fold else html

    def to_csv(self) -> str:
        """The table with six significant digits; intervals as they are shown, on plain characters."""
        return to_csv(self.frame, float_format="%.6g").replace("\u00a0", " ")

    def to_text(self) -> str:
        """The table in aligned plain text, under its caption."""
        rows = [[visible(str(name)) for name in self.frame.columns], *self.cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([visible(self.caption), *lines])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": self.to_text()} if len(self.frame) else NOTHING

    def _row(self, row: Sequence[str], numeric: Sequence[bool]) -> str:
        cells = []
        for i, text in enumerate(row):
            if i < self.headers:
                cells.append(f'<th scope="row">{escape(text)}</th>')
            else:
                cells.append(f"<td{_num(numeric[i])}>{escape(text)}</td>")
        return "".join(cells)

    def _text(self, column: str, value: Any) -> str:
        if isinstance(value, str):
            return visible(value)
        if is_missing(value):
            return DASH
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not isinstance(value, numbers.Real):
            return visible(str(value))
        if isinstance(value, numbers.Integral):
            return number_text(float(value), "n")
        if math.isinf(value):
            return number_text(float(value), "f").replace("inf", "∞")
        digits = self._digits.get(column, 3)
        least = 10.0**-digits
        number = float(value)
        return f"< {least:g}" if 0 < number < least / 2 else number_text(number, f"z.{digits}f")


def table(frame: pd.DataFrame, caption: str, *, fold: bool = False, digits: Mapping[str, int] | None = None) -> Table:
    """A frame as a captioned table; an empty one shows nothing.

    Args:
        frame: what is shown, in this order. The index gives row headers, or is left out where it is only 0..n-1.
        caption: a sentence that says what the table holds.
        fold: show it closed, under the word "Numbers": the table of the figure above it.
        digits: decimals of columns of numbers, by name; 3 where it says nothing.
    """
    return Table(frame, caption, digits or {}, fold)


def interval(value: float, low: float | None = None, high: float | None = None, digits: int = 2) -> str:
    """A cell with value and interval, ``0.45 [0.38, 0.52]``; a dash where there is no value."""
    return DASH if is_missing(value) else interval_text(SimpleNamespace(value=value, low=low, high=high), digits)


def wide(rates: pd.DataFrame, index: str, columns: str, digits: int = 2) -> pd.DataFrame:
    """Tidy rates as one row for each ``index`` and one column for each ``columns``, in order of appearance.

    Args:
        rates: the two columns named, ``value``, ``low``, ``high``.
    """
    cells = [interval(one.value, one.low, one.high, digits) for one in rates.itertuples()]
    told = rates.assign(cell=cells).set_index([index, columns])["cell"].unstack(columns)  # noqa: PD010  # nothing is aggregated
    return told.reindex(index=rates[index].unique(), columns=rates[columns].unique()).rename_axis(columns=None)


def _is_numeric(texts: Sequence[str]) -> bool:
    return bool(texts) and all(text == DASH or text.lstrip("-−+< ")[:1].isdigit() for text in texts)


def _num(numeric: bool) -> str:
    return ' class="num"' if numeric else ""
