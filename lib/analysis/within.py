"""Recall minus false-alarm rate within each kind of case, pooled: what is left of J when the case itself is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm

from lib.analysis.agreement import UNKNOWN
from lib.analysis.scores import is_fixed

FIELDS = ("judge_id", "strata", "value", "low", "high")


def within_strata(rows: pd.DataFrame) -> pd.DataFrame:
    """Mantel–Haenszel difference of the shares flagged, faulty minus clean, over the strata that have both.

    Faults are not spread over the strata as clean trajectories are (two types exist in refunds only), so a judge that
    flags certain kinds of case, fault or no fault, has a J away from 0. Here it has 0.

    Args:
        rows: frame of ``joined``.

    Returns:
        Frame judge_id, strata (that have both), value, low, high: the interval from Sato's variance (Biometrics 45,
        1989), none for a judge of fixed rules; NaN where no stratum has both. The interval is a point where every
        stratum is flagged all or not at all.
    """
    found = [[judge, *_pooled(own, fixed=is_fixed(str(judge)))] for judge, own in rows.groupby("judge_id", sort=False)]
    return pd.DataFrame(found, columns=list(FIELDS))


def _pooled(own: pd.DataFrame, *, fixed: bool) -> tuple[int, float, float, float]:
    faulty, flagged = own["faulty"].astype(bool), own["flagged"].astype(bool)
    counts = pd.DataFrame({"n1": faulty, "n0": ~faulty, "x": faulty & flagged, "y": ~faulty & flagged}).astype(int)
    table = counts.groupby(own["stratum"].fillna(UNKNOWN)).sum()
    table = table[(table["n1"] > 0) & (table["n0"] > 0)]
    if table.empty:
        return 0, float("nan"), float("nan"), float("nan")
    n1, n0, x, y = (table[name].to_numpy(float) for name in ("n1", "n0", "x", "y"))
    n, weight = n1 + n0, (n1 * n0 / (n1 + n0)).sum()
    value = ((x * n0 - y * n1) / n).sum() / weight
    if fixed:
        return len(table), float(value), float("nan"), float("nan")
    p = (n1**2 * y - n0**2 * x + n1 * n0 * (n0 - n1) / 2) / n**2
    q = (x * (n0 - y) + y * (n1 - x)) / (2 * n)
    spread = norm.ppf(0.975) * np.sqrt(max(value * p.sum() + q.sum(), 0)) / weight
    return len(table), float(value), float(max(value - spread, -1)), float(min(value + spread, 1))
