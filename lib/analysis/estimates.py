"""A value with its interval, how it is written, and what it says: one of each."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

Reading = Literal["higher", "lower", "not told apart", "too few", "withheld: most replies unread"]
MOST_UNREAD = 0.5
"""Share of unread replies beyond which no reading is given."""


class Estimate(NamedTuple):
    """A value with its 95 % interval; NaN where there is none. ``n`` is the denominator, 0 where undefined."""

    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0

    def text(self, digits: int = 2, *, signed: bool = False) -> str:
        """As ``0.45 [0.34, 0.57]``; without brackets where there is no interval, ``–`` where there is no value."""
        if np.isnan(self.value):
            return "–"
        sign = "+" if signed else ""
        value, low, high = (f"{part:{sign}z.{digits}f}" for part in self[:3])
        return value if np.isnan(self.low) else f"{value} [{low}, {high}]"


def reading(value: float, low: float, high: float, *, fixed: bool = False, unread: float = 0.0) -> Reading:
    """What a difference (or a signed measure against 0) says.

    Args:
        fixed: both sides follow from rules, so that the sign itself decides.
        unread: the larger share of replies that could not be read, of the judges compared.
    """
    if unread > MOST_UNREAD:
        return "withheld: most replies unread"
    if fixed:
        low = high = value
    if np.isnan(value) or np.isnan(low):
        return "too few"
    return "higher" if low > 0 else "lower" if high < 0 else "not told apart"
