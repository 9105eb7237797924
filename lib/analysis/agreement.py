"""Verdicts compared with verdicts: how often two judges agree, and beyond chance."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from statsmodels.stats.inter_rater import cohens_kappa


def judge_agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """How often two judges give the same verdict, and Cohen's kappa.

    Returns:
        Frame a, b, n (trajectories both judged), both_flag, only_a, only_b, neither, agreement, kappa, low, high
        (asymptotic); kappa is NaN where both always say the same one thing.
    """
    wide = rows.pivot_table(index="trajectory", columns="judge", values="flagged", aggfunc="first")
    found = []
    for a, b in itertools.combinations(dict.fromkeys(rows["judge"]), 2):
        both = wide[[a, b]].dropna().astype(bool)
        table = np.array([[(both[a].eq(x) & both[b].eq(y)).sum() for y in (True, False)] for x in (True, False)])
        kappa = _kappa(table)
        found.append([a, b, len(both), *table.ravel().tolist(), _share(np.trace(table), len(both)), *kappa])
    fields = ["a", "b", "n", "both_flag", "only_a", "only_b", "neither", "agreement", "kappa", "low", "high"]
    return pd.DataFrame(found, columns=fields)


def _kappa(table: np.ndarray) -> tuple[float, float, float]:
    if np.count_nonzero(table) < 2 and np.trace(table) == table.sum():
        return float("nan"), float("nan"), float("nan")
    result = cohens_kappa(table)
    return float(result.kappa), float(result.kappa_low), float(result.kappa_upp)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
