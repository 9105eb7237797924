"""Stated confidence against being right: reliability bins, their summary, and which confidences are ever stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from lib.analysis.bootstrap import exact_interval
from lib.analysis.joined import in_judge_order
from lib.analysis.quantities import BIN_EDGES, Floats, confidence_bin


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


def separation(rows: pd.DataFrame) -> pd.DataFrame:
    """Whether confidence tells a judge's right verdicts from its wrong ones.

    Returns:
        Frame judge_id, right, wrong (counts), right_confidence, wrong_confidence (means; NaN where there is none),
        auc, low, high: the chance that a right verdict carries more confidence than a wrong one, ties counting half
        (0.5 tells nothing), with its interval after DeLong, DeLong and Clarke-Pearson (1988); NaN with fewer than
        two of either.
    """
    found = []
    for judge, own in rows.groupby("judge_id", sort=False):
        hit = own["right"].to_numpy(bool)
        stated = own["confidence"].to_numpy(float)
        right, wrong = stated[hit], stated[~hit]
        means = (part.mean() if part.size else np.nan for part in (right, wrong))
        found.append((judge, right.size, wrong.size, *means, *_delong(right, wrong)))
    names = ["judge_id", "right", "wrong", "right_confidence", "wrong_confidence", "auc", "low", "high"]
    return pd.DataFrame(found, columns=names)


def _delong(right: Floats, wrong: Floats) -> tuple[float, float, float]:
    """Area under the curve, and its normal interval from the variance of placement values, cut off at 0 and 1."""
    if min(right.size, wrong.size) < 2:
        return np.nan, np.nan, np.nan
    above = _placements(right, wrong)
    below = 1 - _placements(wrong, right)
    area = float(above.mean())
    half = float(norm.ppf(0.975) * np.sqrt(above.var(ddof=1) / right.size + below.var(ddof=1) / wrong.size))
    return area, max(0.0, area - half), min(1.0, area + half)


def _placements(values: Floats, others: Floats) -> Floats:
    """For each value, the share of ``others`` below it, equal ones counting half."""
    ordered = np.sort(others)
    placed: Floats = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2
    return placed / others.size
