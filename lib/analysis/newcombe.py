"""Intervals of a difference, honest where a proportion is 0 or 1."""

from __future__ import annotations

import numpy as np
from statsmodels.stats.proportion import confint_proportions_2indep

from lib.analysis.quantities import Floats


def difference_interval(hits: int, n: int, other_hits: int, other_n: int) -> tuple[float, float]:
    """95 % interval of hits / n − other_hits / other_n; NaN where a denominator is zero.

    Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method 10). A bootstrap sees no variance in a
    proportion that is 0 or 1 in the sample, and would call three hits against no false alarm a certainty.
    """
    if not n or not other_n:
        return float("nan"), float("nan")
    low, high = confint_proportions_2indep(hits, n, other_hits, other_n, method="newcomb")
    return float(low), float(high)


def square_and_add(
    value: Floats, low: Floats, high: Floats, other: Floats, other_low: Floats, other_high: Floats
) -> tuple[Floats, Floats]:
    """Interval of value − other from the interval of each, elementwise; NaN where one has none.

    What Newcombe does with score intervals, done with any (Zou and Donner, Statistics in Medicine 27, 2008).
    """
    gap = value - other
    return gap - np.hypot(value - low, other_high - other), gap + np.hypot(high - value, other - other_low)
