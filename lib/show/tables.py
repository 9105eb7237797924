"""Tables that read the same in the page, in JupyterLab and in a diff; everything in a cell is text, never markup."""

from __future__ import annotations

import math
import numbers
from html import escape
from typing import Any

import pandas as pd

from lib.visible import to_csv, visible

DASH = "–"


def interval_cell(value: float | None, low: float | None = None, high: float | None = None, digits: int = 3) -> str:
    """``0.451 [0.38, 0.52]``; without the brackets when there is no interval, a dash when there is no value.

    Bounds have a decimal less than the value from three on; with fewer, they would blur what the value tells.
    """
    if _missing(value):
        return DASH
    text = f"{value:.{digits}f}"
    kept = digits - 1 if digits > 2 else digits
    return text if _missing(low) or _missing(high) else f"{text} [{low:.{kept}f}, {high:.{kept}f}]"


class Table:
    """A frame shown as a captioned table.

    Args:
        frame: what is shown. The index becomes row headers, or is left out where it is only 0..n-1.
        caption: a sentence saying what the table holds; shown above it.
        digits: decimals of floating-point cells; text cells are shown as they are.
        data: what "download as CSV" gives: the numbers behind formatted cells. The shown frame if left out.
    """

    def __init__(self, frame: pd.DataFrame, caption: str, *, digits: int = 3, data: pd.DataFrame | None = None) -> None:
        self.caption = caption
        self.data = frame if data is None else data
        plain = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
        self._headers = 0 if plain else frame.index.nlevels
        self._shown = frame if plain else frame.reset_index(names=[name or "" for name in frame.index.names])
        self._digits = digits

    def cells(self) -> list[list[str]]:
        """The shown cells as text, row by row."""
        return [[self._text(value) for value in row] for row in self._shown.itertuples(index=False, name=None)]

    def to_html(self) -> str:
        """The table with everything escaped; numbers are aligned by the page's style."""
        names = [visible(str(name)) for name in self._shown.columns]
        numeric = [self._is_numeric(column) for column in range(len(names))]
        head = "".join(f'<th scope="col"{_num(n)}>{escape(name)}</th>' for name, n in zip(names, numeric, strict=True))
        rows = []
        for row in self.cells():
            cells = []
            for i, text in enumerate(row):
                tag = "th" if i < self._headers else "td"
                scope = ' scope="row"' if tag == "th" else ""
                shown = text.replace(", ", ",\u00a0") if numeric[i] else text  # an interval stays on one line
                cells.append(f"<{tag}{scope}{_num(numeric[i] and tag == 'td')}>{escape(shown)}</{tag}>")
            rows.append(f"<tr>{''.join(cells)}</tr>")
        body = "\n".join(rows)
        return (
            f'<div class="book-table" data-csv="{escape(visible(self.to_csv()))}">\n<table>\n'
            f"<caption>{escape(visible(self.caption))}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
        )

    def to_csv(self) -> str:
        """The data behind the table; floats keep six significant digits."""
        plain = isinstance(self.data.index, pd.RangeIndex) and self.data.index.name is None
        return to_csv(self.data, index=not plain, float_format="%.6g")

    def to_text(self) -> str:
        """The table in aligned plain text, under its caption."""
        rows = [[visible(str(name)) for name in self._shown.columns], *self.cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([visible(self.caption), *lines])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": self.to_text()}

    def _is_numeric(self, column: int) -> bool:
        texts = [row[column] for row in self.cells()]
        return bool(texts) and all(text == DASH or text.lstrip("-−+")[:1].isdigit() for text in texts)

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            return visible(value)
        if _missing(value):
            return DASH
        if isinstance(value, bool) or not isinstance(value, numbers.Number):
            return str(value)
        return str(value) if isinstance(value, numbers.Integral) else f"{value:.{self._digits}f}"


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _num(numeric: bool) -> str:
    return ' class="num"' if numeric else ""
