"""Stated confidence against being right: reliability bins, their summary, and which confidences are ever stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lib.analysis.bootstrap import exact_interval
from lib.analysis.joined import in_judge_order
from lib.analysis.quantities import BIN_EDGES, confidence_bin


def reliability(rows: pd.DataFrame) -> pd.DataFrame:
    """Reliability curve of each judge over ten bins, closed on the right; empty bins are left out.

    Args:
        rows: frame of ``joined`` (or any with judge_id, confidence, right).

    Returns:
        Frame judge_id, bin, lower, upper, n, confidence (the bin's mean), accuracy, low, high (Clopper–Pearson).
    """
    binned = rows.assign(bin=confidence_bin(rows["confidence"].to_numpy(float)))
    groups = binned.groupby(["judge_id", "bin"], sort=True)
    table = groups.agg(n=("right", "size"), confidence=("confidence", "mean"), hits=("right", "sum")).reset_index()
    table["accuracy"] = table["hits"] / table["n"]
    table["low"], table["high"] = exact_interval(table["hits"], table["n"])
    table["lower"], table["upper"] = BIN_EDGES[table["bin"]], BIN_EDGES[table["bin"] + 1]
    table = table[["judge_id", "bin", "lower", "upper", "n", "confidence", "accuracy", "low", "high"]]
    return in_judge_order(rows, table)


def expected_calibration_error(confidence: ArrayLike, right: ArrayLike) -> float:
    """Mean over bins, weighted by population, of |accuracy − mean confidence| (Section 5); NaN without verdicts."""
    stated, hit = np.asarray(confidence, float), np.asarray(right, float)
    if not stated.size:
        return float("nan")
    gaps = np.bincount(confidence_bin(stated), weights=hit - stated)
    return float(np.abs(gaps).sum() / stated.size)


def brier_score(confidence: ArrayLike, right: ArrayLike) -> float:
    """Mean squared distance of confidence from being right (1) or wrong (0); NaN without verdicts."""
    stated, hit = np.asarray(confidence, float), np.asarray(right, float)
    return float(np.mean((stated - hit) ** 2)) if stated.size else float("nan")


def calibration_summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Frame judge_id, n, ece, brier, confidence (mean), accuracy, distinct, commonest, commonest_share.

    ``distinct`` counts the confidence values that a judge ever states, ``commonest`` is the most frequent of them
    (the smallest if tied). Intervals of ECE and Brier are in ``Scores.metrics``.
    """
    summary = []
    for judge, own in rows.groupby("judge_id", sort=False):
        counts = own["confidence"].value_counts().sort_index()
        summary.append(
            {
                "judge_id": judge,
                "n": len(own),
                "ece": expected_calibration_error(own["confidence"], own["right"]),
                "brier": brier_score(own["confidence"], own["right"]),
                "confidence": own["confidence"].mean(),
                "accuracy": own["right"].mean(),
                "distinct": len(counts),
                "commonest": counts.idxmax(),
                "commonest_share": counts.max() / len(own),
            }
        )
    fields = ["judge_id", "n", "ece", "brier", "confidence", "accuracy", "distinct", "commonest", "commonest_share"]
    return pd.DataFrame(summary, columns=fields)


def confidence_support(rows: pd.DataFrame) -> pd.DataFrame:
    """Every confidence that each judge states: frame judge_id, confidence, n, share, accuracy."""
    groups = rows.groupby(["judge_id", "confidence"], sort=True)
    table = groups.agg(n=("right", "size"), accuracy=("right", "mean")).reset_index()
    table["share"] = table["n"] / table.groupby("judge_id")["n"].transform("sum")
    return in_judge_order(rows, table[["judge_id", "confidence", "n", "share", "accuracy"]])
