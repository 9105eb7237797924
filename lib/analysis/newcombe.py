"""Interval of a difference of two independent proportions, honest where one of them is 0 or 1."""

from __future__ import annotations

from statsmodels.stats.proportion import confint_proportions_2indep


def difference_interval(hits: int, n: int, other_hits: int, other_n: int) -> tuple[float, float]:
    """95 % interval of hits / n − other_hits / other_n; NaN where a denominator is zero.

    Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method 10). A bootstrap sees no variance in a
    proportion that is 0 or 1 in the sample, and would call three hits against no false alarm a certainty.
    """
    if not n or not other_n:
        return float("nan"), float("nan")
    low, high = confint_proportions_2indep(hits, n, other_hits, other_n, method="newcomb")
    return float(low), float(high)
