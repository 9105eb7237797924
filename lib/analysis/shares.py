"""Shares and means over rows that are not independent: their intervals, and those of their sums and differences.

Mutants of one instance often read alike, so the instance (the *unit*) is what was sampled; the design *cells* have
fixed sizes. The variance is the linearised one of a resample of units in which cells keep their sizes by reweighting.
A share then has Wilson's interval at its effective sample size (Korn and Graubard, Survey Methodology 24, 1998), a
sum or difference those of its parts squared and added with their correlation (Zou and Donner, Statistics in Medicine
27, 2008). Nothing jumps where hits run out, and nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
LEVEL = 0.95
HALF = 0.5
"""Hits (and misses) that each cell is lent where its variance is taken, and weight of what units of one piece say."""


@dataclass(frozen=True)
class Shares:
    """k ratios of sums over one set of rows.

    Attributes:
        value, low, high, n: shape k; NaN where the denominator is zero.
        effective: rows that would tell as much if they were independent.
        covariance: k × k, on the scale of ``value``.
    """

    value: Floats
    low: Floats
    high: Floats
    n: Floats
    effective: Floats
    covariance: Floats

    def combination(self, weights: ArrayLike) -> tuple[float, float, float]:
        """Value and interval of a weighted sum of the ratios (as 1 and −1 for a difference); NaN where one is."""
        weight = np.asarray(weights, float)
        used = weight != 0
        value, low, high = (part[used] for part in (self.value, self.low, self.high))
        weight = weight[used]
        total = float(weight @ value)
        spread = np.sqrt(np.diag(self.covariance)[used])
        scale = np.outer(spread, spread)
        correlation = np.divide(self.covariance[np.ix_(used, used)], scale, out=np.eye(spread.size), where=scale > 0)
        np.fill_diagonal(correlation, 1.0)
        down = weight * np.where(weight > 0, value - low, high - value)
        up = weight * np.where(weight > 0, high - value, value - low)
        return total, total - _length(down, correlation), total + _length(up, correlation)


def _length(parts: Floats, correlation: Floats) -> float:
    return float(np.sqrt(np.clip(parts @ correlation @ parts, 0, None)))


def codes(values: Sequence[object] | pd.Series) -> Codes:
    """Number of each value's group, groups counted from 0; missing ones are a group of their own."""
    return np.asarray(pd.factorize(np.asarray(values, object), use_na_sentinel=False)[0], np.intp)


def shares(
    above: Floats,
    below: Floats,
    cell: Codes,
    unit: Codes,
    *,
    means: ArrayLike = False,
    exact: ArrayLike = False,
) -> Shares:
    """Ratios of column sums, sum(above) / sum(below), with intervals.

    Args:
        above, below: shape n × k; for a share 0 or 1 each, above at most below.
        cell, unit: the design cell and the sampled unit of each row, as ``codes``.
        means: shape k, which of them are means of amounts, with Student's interval in place of Wilson's.
        exact: shape k, which follow from rules: no interval, and no width in a combination.
    """
    total, n = above.sum(axis=0), below.sum(axis=0)
    value = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    rest = above - np.nan_to_num(value) * below
    in_cell, in_unit = _members(cell), _members(unit)
    sizes = np.asarray(in_cell.sum(axis=1)).reshape(-1, 1)
    rest -= ((in_cell @ rest) / sizes)[cell]
    per_unit = in_unit @ rest
    parts, met = in_unit @ below, np.count_nonzero(in_unit @ np.abs(below), axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        correction = np.where(met > 1, met / (met - 1), 1.0)
        scale = np.sqrt(correction) / n
        rows, units = (rest**2).sum(axis=0), correction * (per_unit**2).sum(axis=0)
        whole = (parts**2).sum(axis=0) / n
        inflation = np.maximum((units + HALF * whole) / (rows + HALF), 0)
        hits, sizes_below = in_cell @ above, in_cell @ below
        lent = (hits + HALF) / (sizes_below + 2 * HALF)
        own = np.divide(hits, sizes_below, out=np.zeros_like(hits), where=sizes_below > 0)
        more = (sizes_below * (lent * (1 - lent) - own * (1 - own))).sum(axis=0)
        centre = (sizes_below * lent).sum(axis=0) / n
        variance = inflation * (rows + more) / n**2
        effective = centre * (1 - centre) / variance
        mean = np.broadcast_to(np.asarray(means, bool), value.shape)
        variance = np.where(mean, units / n**2, variance)
        per_unit = np.nan_to_num(per_unit * scale)
    low, high = _bounds(value, variance, effective, met, mean)
    covariance = per_unit.T @ per_unit
    np.fill_diagonal(covariance, variance)
    rule = np.broadcast_to(np.asarray(exact, bool), value.shape)
    low, high = np.where(rule, value, low), np.where(rule, value, high)
    return Shares(value, low, high, n, effective, np.nan_to_num(covariance))


def _members(group: Codes) -> sparse.csr_array:
    ones = np.ones(group.size)
    return sparse.csr_array((ones, (group, np.arange(group.size))), shape=(int(group.max(initial=-1)) + 1, group.size))


def _bounds(
    value: Floats, variance: Floats, effective: Floats, met: Codes, mean: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Student's interval of means, Wilson's of shares; NaN for a mean that nothing moves."""
    tail = (1 + LEVEL) / 2
    quantile = t.ppf(tail, np.maximum(met - 1, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        told = effective * (norm.ppf(tail) / quantile) ** 2
        low, high = proportion_confint(value * told, told, alpha=1 - LEVEL, method="wilson")
        half = np.where(variance > 0, quantile * np.sqrt(variance), np.nan)
    low, high = np.where(mean, value - half, np.clip(low, 0, 1)), np.where(mean, value + half, np.clip(high, 0, 1))
    undefined = np.isnan(value)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
