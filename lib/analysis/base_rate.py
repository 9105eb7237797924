"""What a judge is worth where faults are as common as the reader says: precision, calibration, cost of a case."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.bench import SCORE_FIELDS, Bench
from lib.analysis.estimates import Estimate
from lib.analysis.resample import percentile_interval, replicates
from lib.analysis.shares import Codes, Floats, Shares, codes, shares
from lib.analysis.trajectory_metrics import BINS, confidence_bin
from lib.errors import UserError


class AtBaseRate(NamedTuple):
    """A judge at a share of faulty cases, each with its 95 % interval.

    Attributes:
        precision: share of flagged cases that are faulty; ece, brier: of stated confidence against being right.
        cost: expected cost of a case, in false alarms.
        passing, stopping: what it would be without a judge, when all pass and when all are stopped.
        pays_from, pays_to: the costs of a miss (in false alarms) between which the judge beats both.
    """

    precision: Estimate
    ece: Estimate
    brier: Estimate
    cost: Estimate
    passing: float
    stopping: float
    pays_from: float
    pays_to: float


def at_base_rate(
    frame: pd.DataFrame, base_rate: float, miss_cost: float = 1.0, reps: int = 2_000, seed: int = 0
) -> AtBaseRate:
    """A judge's worth if a share ``base_rate`` of cases were faulty, like the faulty ones of ``frame``.

    Args:
        frame: one judge's rows of ``bench.verdicts`` (without the loud faults, if silent ones are what is feared).
        miss_cost: what a miss costs, in false alarms.

    Raises:
        UserError: a base rate that is not between 0 and 1, or a cost that is not above 0.
    """
    if not 0 < base_rate < 1:
        raise UserError(f"the base rate is the share of faulty cases, between 0 and 1, not {base_rate}")
    if not miss_cost > 0:
        raise UserError(f"the cost of a miss is above 0 (in false alarms), not {miss_cost}")
    faulty, flagged = frame["faulty"].to_numpy(bool), frame["flagged"].to_numpy(bool)
    off = frame["confidence"].to_numpy(float) - frame["right"].to_numpy(float)
    sides = np.column_stack([faulty, ~faulty]).astype(float)
    design = codes(frame["cell"]), codes(frame["instance"])
    rates = shares(sides * flagged[:, None], sides, *design)
    squares = shares(sides * (off**2)[:, None], sides, *design, means=True)
    recall, alarms = rates.value
    n = len(frame)
    lost, raised = base_rate * miss_cost, 1 - base_rate
    below, above = recall * base_rate, (1 - recall) * base_rate
    cost, low, high = rates.combination([-lost, raised])
    return AtBaseRate(
        precision=Estimate(*_precision(rates, base_rate), n),
        ece=Estimate(*_ece(off, frame["confidence"].to_numpy(float), sides, base_rate, design, reps, seed), n),
        brier=Estimate(*squares.combination([base_rate, 1 - base_rate]), n),
        cost=Estimate(lost + cost, lost + low, lost + high, n),
        passing=lost,
        stopping=raised,
        pays_from=raised * alarms / below if below else float("inf"),
        pays_to=raised * (1 - alarms) / above if above else float("inf"),
    )


def gates(frame: pd.DataFrame, base_rate: float, miss_cost: float = 1.0) -> pd.DataFrame:
    """Every judge as a gate: frame judge, precision, low, high, cost, pays_from, pays_to of ``at_base_rate``."""
    fields = ["judge", "precision", "low", "high", "cost", "pays_from", "pays_to"]
    rows = []
    for judge, own in frame.groupby("judge", sort=False):
        at = at_base_rate(own, base_rate, miss_cost, reps=1)
        rows.append([judge, *at.precision[:3], at.cost.value, at.pays_from, at.pays_to])
    return pd.DataFrame(rows, columns=fields)


def _precision(rates: Shares, base_rate: float) -> tuple[float, float, float]:
    """From recall / false-alarm rate and its interval (Donner and Zou, Stat. Methods in Medical Research 21, 2012)."""
    (r, f), (rl, fl), (ru, fu) = rates.value, rates.low, rates.high
    if np.isnan(r + f) or r + f == 0:
        return np.nan, np.nan, np.nan

    def end(r_end: float, f_end: float, sign: float) -> float:
        below = f_end * (2 * f - f_end)
        if below == 0:
            return float("inf")
        inside = max((r * f) ** 2 - r_end * below * (2 * r - r_end), 0.0)
        return max((r * f + sign * np.sqrt(inside)) / below, 0.0)

    def share(times: float) -> float:
        return 1.0 if np.isinf(times) else base_rate * times / (base_rate * times + 1 - base_rate)

    return share(r / f if f else np.inf), share(end(rl, fu, -1)), share(end(ru, fl, 1))


def _ece(
    off: Floats, confidence: Floats, sides: Floats, base_rate: float, design: tuple[Codes, Codes], reps: int, seed: int
) -> tuple[float, float, float]:
    n = sides.sum(axis=0)
    if not n.all():
        return np.nan, np.nan, np.nan
    weight = sides @ (np.array([base_rate, 1 - base_rate]) / n)
    bins = np.arange(BINS)[:, None] == confidence_bin(confidence)
    columns = bins * (off * weight)

    def statistic(sums: Floats) -> Floats:
        return np.abs(sums).sum(axis=0, keepdims=True)

    low, high = percentile_interval(replicates(columns, *design, statistic, reps, seed))
    return float(np.abs(columns.sum(axis=1)).sum()), float(low[0]), float(high[0])


def ece_of_calibrated(confidence: Floats, reps: int = 2_000, seed: int = 0) -> Floats:
    """ECE of a judge that is right exactly as often as it says, in ``reps`` draws: what an ECE is to be read beside."""
    bins = (np.arange(BINS)[:, None] == confidence_bin(confidence)).astype(float)
    right = np.random.default_rng(seed).random((confidence.size, reps)) < confidence[:, None]
    return np.asarray(np.abs(bins @ (confidence[:, None] - right)).sum(axis=0) / max(confidence.size, 1), float)


def worths(bench: Bench, base_rate: float, miss_cost: float = 1.0) -> pd.DataFrame:
    """``at_base_rate`` of every judge as rows of ``bench.score``: frame judge, metric, value, low, high, n.

    Metrics are called ``precision.at_base_rate`` and so on; ``pays_from`` and ``pays_to`` bound the costs of a miss.
    """
    rows: list[list[object]] = []
    for judge, own in bench.verdicts.groupby("judge", sort=False):
        found = at_base_rate(own, base_rate, miss_cost, bench.reps, bench.seed)
        for name, value in found._asdict().items():
            estimate = value if isinstance(value, Estimate) else Estimate(value, n=len(own))
            interval = (np.nan, np.nan) if bench.about[str(judge)].fixed else estimate[1:3]
            rows.append([judge, f"{name}.at_base_rate", estimate.value, *interval, estimate.n])
    return pd.DataFrame(rows, columns=SCORE_FIELDS)
