"""Stated confidence against being right: reliability bins, and which confidences are ever stated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from lib.analysis.base_rate import ece_of_calibrated
from lib.analysis.ranking import area, brier_skill
from lib.analysis.tidy import in_judge_order
from lib.analysis.trajectory_metrics import BIN_EDGES, confidence_bin


def reliability(rows: pd.DataFrame) -> pd.DataFrame:
    """Reliability curve of each judge over ten bins, closed on the right; empty bins are left out.

    Args:
        rows: rows of ``bench.verdicts``.

    Returns:
        Frame judge, bin, lower, upper, n, confidence (the bin's mean), accuracy, low, high (Clopper–Pearson).
    """
    binned = rows.assign(bin=confidence_bin(rows["confidence"].to_numpy(float)))
    groups = binned.groupby(["judge", "bin"], sort=True)
    table = groups.agg(n=("right", "size"), confidence=("confidence", "mean"), hits=("right", "sum")).reset_index()
    table["accuracy"] = table["hits"] / table["n"]
    table["low"], table["high"] = proportion_confint(table["hits"], table["n"], method="beta")
    table["lower"], table["upper"] = BIN_EDGES[table["bin"]], BIN_EDGES[table["bin"] + 1]
    table = table[["judge", "bin", "lower", "upper", "n", "confidence", "accuracy", "low", "high"]]
    return in_judge_order(rows, table)


def confidence_support(rows: pd.DataFrame) -> pd.DataFrame:
    """Every confidence that each judge states: frame judge, confidence, n, share, accuracy."""
    groups = rows.groupby(["judge", "confidence"], sort=True)
    table = groups.agg(n=("right", "size"), accuracy=("right", "mean")).reset_index()
    table["share"] = table["n"] / table.groupby("judge")["n"].transform("sum")
    return in_judge_order(rows, table[["judge", "confidence", "n", "share", "accuracy"]])


def calibration(rows: pd.DataFrame, by: Sequence[str] = ("judge",), seed: int = 0) -> pd.DataFrame:
    """What stated confidence is worth, here.

    Returns:
        Frame of ``by``, n, confidence (mean), accuracy, ece, calibrated_ece, calibrated_high (mean and 95th percentile
        of a judge that is right as often as it says), brier, skill (against one constant confidence), auc, auc_low,
        auc_high (the chance that a right verdict carries more confidence than a wrong one).
    """
    found = []
    for key, own in rows.groupby(list(by), sort=False, dropna=False):
        stated, right = own["confidence"].to_numpy(float), own["right"].to_numpy(float)
        bins = confidence_bin(stated)
        ece = float(np.abs(np.bincount(bins, weights=right - stated)).sum() / len(own))
        null = ece_of_calibrated(stated, seed=seed)
        ranked = area(own.assign(score=stated, faulty=right.astype(bool)), within=None)
        brier = float(np.mean((stated - right) ** 2))
        values = [stated.mean(), right.mean(), ece, null.mean(), np.quantile(null, 0.95), brier]
        found.append([*key, len(own), *values, brier_skill(stated, right), *ranked[:3]])
    names = ["n", "confidence", "accuracy", "ece", "calibrated_ece", "calibrated_high", "brier", "skill"]
    return pd.DataFrame(found, columns=[*by, *names, "auc", "auc_low", "auc_high"])
