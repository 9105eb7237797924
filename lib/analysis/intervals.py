"""Intervals of a judge's metrics and of the difference of two judges: bootstrapped wherever resampling moves them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lib.analysis.bootstrap import exact_interval, percentile_interval
from lib.analysis.newcombe import difference_interval, square_and_add
from lib.analysis.quantities import METRICS, PROPORTIONS, Floats

RATES = np.isin(METRICS, list(PROPORTIONS))
GAP, LOUD, SILENT, YOUDEN_J, RECALL, FALSE_ALARMS = (
    METRICS.index(metric)
    for metric in ("loud_minus_silent", "loud_recall", "silent_recall", "youden_j", "recall", "false_alarm_rate")
)
ROUNDING = 1e-12

Interval = tuple[Floats, Floats]


class Measured(NamedTuple):
    """One judge's metrics over some trajectories, in the order of ``METRICS``.

    Attributes:
        value, below: the metrics and their denominators.
        low, high: 95 % intervals, NaN where there is none; the value itself for a judge of fixed rules.
        drawn: replicates, shape metrics × replicates.
        still: which metrics have one value in all replicates.
    """

    value: Floats
    below: Floats
    low: Floats
    high: Floats
    drawn: Floats
    still: NDArray[np.bool_]


def measured(value: Floats, below: Floats, drawn: Floats, fixed: bool) -> Measured:
    """One judge's metrics with their intervals.

    A judge that treats all trajectories of a cell alike has the same rate in every replicate, be it 0 of 66 or 29 of
    66, and that is no certainty. Such a rate has the exact interval of its counts, which is wider than one within
    cells would be; loud minus silent recall then has the two recalls' intervals squared and added, and other metrics
    that no replicate moves have none. J is always Newcombe's: whether it is 0 is asked
    most of all of judges with rates near 0 and 1, which a bootstrap takes for certain.

    Args:
        fixed: the judge's verdicts follow from rules.
    """
    still = _unmoved(drawn)
    if fixed:
        return Measured(value, below, value, value, drawn, still)
    low, high = percentile_interval(drawn)
    low[still], high[still] = np.nan, np.nan
    exact = still & RATES
    low[exact], high[exact] = exact_interval(np.rint(value[exact] * below[exact]), below[exact])
    if still[LOUD] or still[SILENT]:
        loud, silent = ((value[rate], low[rate], high[rate]) for rate in (LOUD, SILENT))
        low[GAP], high[GAP] = square_and_add(*loud, *silent)
    low[YOUDEN_J], high[YOUDEN_J] = _youden_interval(value, below)
    undefined = np.isnan(value)
    low[undefined], high[undefined] = np.nan, np.nan
    return Measured(value, below, low, high, drawn, still)


def delta_intervals(one: Measured, other: Measured) -> Interval:
    """95 % intervals of one judge's metrics minus another's, over the same trajectories and resamples.

    Where no replicate moves one of the two, or their difference, resampling has too little to say of it: then their
    own intervals are squared and added, as if the judges were independent; there is none where one has none.
    """
    drawn = one.drawn - other.drawn
    low, high = percentile_interval(drawn)
    apart_low, apart_high = square_and_add(one.value, one.low, one.high, other.value, other.low, other.high)
    added = _unmoved(drawn) | one.still | other.still
    low[added], high[added] = apart_low[added], apart_high[added]
    undefined = np.isnan(one.value - other.value)
    low[undefined], high[undefined] = np.nan, np.nan
    return low, high


def _unmoved(drawn: Floats) -> NDArray[np.bool_]:
    return np.fmax.reduce(drawn, axis=-1) - np.fmin.reduce(drawn, axis=-1) < ROUNDING


def _youden_interval(value: Floats, below: Floats) -> tuple[float, float]:
    parts = [RECALL, FALSE_ALARMS]
    if np.isnan(value[parts]).any():
        return float("nan"), float("nan")
    counts = [round(float(count)) for part in parts for count in (value[part] * below[part], below[part])]
    return difference_interval(*counts)
