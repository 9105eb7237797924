"""The score, not the threshold: how well it ranks, what a map makes of it, and which alarms a promise allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, logit
from scipy.stats import t

from lib.analysis.shares import LEVEL, Floats, codes

FOLDS = 5


class Area(NamedTuple):
    """Area under the ROC curve with its 95 % interval (NaN where nothing moves it) and the pairs that it rests on."""

    value: float
    low: float
    high: float
    pairs: int


class AlarmSet(NamedTuple):
    """The largest set of alarms that keeps a promise.

    Attributes:
        threshold: flag what scores at least this; infinite where nothing may be flagged.
        recall, false_alarm_rate: of that set on the trajectories at hand.
        clean: trajectories that the promise rests on; ``least``: the smallest rate that so many can promise.
    """

    threshold: float
    recall: float
    false_alarm_rate: float
    clean: int
    least: float


def area(frame: pd.DataFrame, *, within: str | None = "stratum") -> Area:
    """The chance that a faulty trajectory scores above a clean one of its stratum, ties counting half.

    Args:
        frame: one judge's rows of ``bench.verdicts``; within: the column that pairs must have in common (None: any).

    Returns:
        All pairs count alike; the interval is that of the logit, from placement values summed by instance (Obuchowski,
        Biometrics 53, 1997).
    """
    group = codes(frame[within]) if within else np.zeros(len(frame), np.intp)
    score, faulty = frame["score"].to_numpy(float), frame["faulty"].to_numpy(bool)
    above, pairs = np.zeros(len(frame)), np.zeros(len(frame))
    for name in np.unique(group):
        hit, clean = (group == name) & faulty, (group == name) & ~faulty
        above[hit], pairs[hit] = _placed(score[hit], score[clean]) * clean.sum(), clean.sum()
        above[clean], pairs[clean] = (1 - _placed(score[clean], score[hit])) * hit.sum(), hit.sum()
    total = pairs[faulty].sum()
    if not total:
        return Area(np.nan, np.nan, np.nan, 0)
    value = float(above[faulty].sum() / total)
    influence = pd.Series(above - value * pairs).groupby(frame["instance"].to_numpy(object)).sum().to_numpy() / total
    units = influence.size
    spread = np.sqrt((influence**2).sum() * units / max(units - 1, 1))
    if not 0 < value < 1 or not spread > 0:
        return Area(value, np.nan, np.nan, int(total))
    half = t.ppf((1 + LEVEL) / 2, max(units - 1, 1)) * spread / (value * (1 - value))
    low, high = expit(logit(value) + np.array([-half, half]))
    return Area(value, float(low), float(high), int(total))


def _placed(values: Floats, others: Floats) -> Floats:
    """For each value, the share of ``others`` below it, equal ones counting half."""
    ordered = np.sort(others)
    placed = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / 2
    return np.asarray(placed / max(others.size, 1), float)


def roc(frame: pd.DataFrame) -> pd.DataFrame:
    """Frame threshold, false_alarm_rate, recall, operating (the judge's own verdicts), from nothing flagged to all.

    Args:
        frame: one judge's rows of ``bench.verdicts``.
    """
    score, faulty, flagged = (frame[name].to_numpy() for name in ("score", "faulty", "flagged"))
    thresholds = [np.inf, *np.unique(score)[::-1]]
    sets = [(threshold, score >= threshold, False) for threshold in thresholds]
    rows = [
        (threshold, _share(chosen, ~faulty), _share(chosen, faulty), operating)
        for threshold, chosen, operating in [*sets, (np.nan, flagged.astype(bool), True)]
    ]
    return pd.DataFrame(rows, columns=["threshold", "false_alarm_rate", "recall", "operating"])


def _share(chosen: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
    return float(chosen[of].mean()) if of.any() else float("nan")


def platt(score: Floats, faulty: NDArray[np.bool_], new: Floats) -> Floats:
    """p(faulty) of new scores from a logistic map with Platt's targets, which keep it finite where classes part."""
    hits, misses = int(faulty.sum()), int((~faulty).sum())
    target = np.where(faulty, (hits + 1) / (hits + 2), 1 / (misses + 2))
    centre, width = score.mean(), score.std() or 1.0
    x = (score - centre) / width

    def loss(line: Floats) -> float:
        z = line[0] * x + line[1]
        return float((np.logaddexp(0, z) - target * z).sum())

    slope, start = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x
    return np.asarray(expit(slope * (new - centre) / width + start), float)


def isotonic(score: Floats, faulty: NDArray[np.bool_], new: Floats) -> Floats:
    """p(faulty) of new scores from the closest map that never falls."""
    known, place, n = np.unique(score, return_inverse=True, return_counts=True)
    shares = np.bincount(place, weights=faulty) / n
    return np.interp(new, known, isotonic_regression(shares, weights=n).x)


MAPS = {"platt": platt, "isotonic": isotonic}


def calibrated(frame: pd.DataFrame, method: str, folds: int = FOLDS, seed: int = 0) -> Floats:
    """p(faulty) of each row from a map of MAPS that was fitted on other instances.

    Args:
        frame: one judge's rows of ``bench.verdicts``.

    Returns:
        One number a row; where the other folds hold one class only, its share there.
    """
    score, faulty = frame["score"].to_numpy(float), frame["faulty"].to_numpy(bool)
    unit = codes(frame["instance"])
    fold = np.random.default_rng(seed).permutation(int(unit.max(initial=-1)) + 1)[unit] % folds
    found = np.full(len(frame), np.nan)
    for name in np.unique(fold):
        own, rest = fold == name, fold != name
        if not rest.any():
            continue
        mixed = 0 < faulty[rest].mean() < 1
        found[own] = MAPS[method](score[rest], faulty[rest], score[own]) if mixed else faulty[rest].mean()
    return found


def brier_skill(probability: ArrayLike, happened: ArrayLike) -> float:
    """1 − Brier score / that of always saying the observed share; NaN where that is perfect."""
    stated, hit = np.asarray(probability, float), np.asarray(happened, float)
    constant = hit.mean() * (1 - hit.mean()) if hit.size else 0.0
    return float(1 - np.mean((stated - hit) ** 2) / constant) if constant > 0 else float("nan")


def alarm_set(frame: pd.DataFrame, alpha: float) -> AlarmSet:
    """The largest alarm set with (false alarms + 1) / (clean + 1) at most alpha.

    Conformal risk control (Angelopoulos and others, ICLR 2024): a clean case drawn like these is flagged with at most
    that chance. With too few clean trajectories nothing may be flagged (``threshold`` is infinite).

    Args:
        frame: one judge's rows of ``bench.verdicts``; alpha: the promised false-alarm rate.
    """
    score, faulty = frame["score"].to_numpy(float), frame["faulty"].to_numpy(bool)
    clean = int((~faulty).sum())
    values = np.unique(score)
    alarms = np.array([(score[~faulty] >= value).sum() for value in values])
    kept = values[(alarms + 1) / (clean + 1) <= alpha]
    threshold = float(kept.min()) if kept.size else float("inf")
    chosen = score >= threshold
    return AlarmSet(threshold, _share(chosen, faulty), _share(chosen, ~faulty), clean, 1 / (clean + 1))


def areas(frame: pd.DataFrame, by: Sequence[str] = ("judge",)) -> pd.DataFrame:
    """Frame of ``by``, value, low, high, pairs (within strata), unadjusted: ``area`` of each group of rows."""
    rows = [
        [*key, *area(own), area(own, within=None).value]
        for key, own in frame.groupby(list(by), sort=False, dropna=False)
    ]
    return pd.DataFrame(rows, columns=[*by, "value", "low", "high", "pairs", "unadjusted"])
