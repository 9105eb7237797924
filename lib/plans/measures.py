"""What a judge of plans is worth: measures on arrays of truths p and levels l in [0, 1], NaN where one is missing.

Eqs 4 and 5 are AgentJudgeBench's (arXiv 2608.26623); floor, ceiling, skill and slopes are ours. Nothing here
draws a sample: intervals come from the bootstrap over records in ``lib.analysis``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import statsmodels.api as sm
from numpy.typing import ArrayLike, NDArray
from scipy.stats import spearmanr
from statsmodels.stats.inter_rater import cohens_kappa

from lib.plans.records import LEVELS, METRICS

Floats = NDArray[np.float64]
NullPolicy = Literal["exclude", "worst", "best"]
Collapse = Literal["leaking", "down", "up"]

WEIGHTS: dict[str, tuple[float, float, float, float]] = {
    "equal": (1, 1, 1, 1),
    "sequence double": (1, 1, 2, 1),
    "parameters double": (1, 2, 1, 1),
    "coverage half": (1, 1, 1, 0.5),
    "sequence and parameters double": (1, 2, 2, 1),
    "without parameters": (1, 0, 1, 1),
}
"""Weights of the four metrics, in their order. The paper speaks of five schemes and lists four beside the last."""


def alignment(truth: ArrayLike, level: ArrayLike, nulls: NullPolicy = "exclude") -> Floats:
    """1 − |p − l| elementwise (Eq 4). A missing level counts as NaN, or as the worst or best level on the scale."""
    p, said = np.broadcast_arrays(np.asarray(truth, float), np.asarray(level, float))
    aligned = 1 - np.abs(p - said)
    if nulls == "exclude":
        return aligned
    possible = _possible(p)
    return np.where(np.isnan(said), possible.min(0) if nulls == "worst" else possible.max(0), aligned)


def floor(truth: ArrayLike) -> Floats:
    """The alignment of a judge that always says 1: the truth itself."""
    return alignment(truth, 1.0)


def ceiling(truth: ArrayLike) -> Floats:
    """The best alignment that a judge on the scale 0, 0.5, 1 can have with each truth."""
    return _possible(np.asarray(truth, float)).max(0)


def skill(aligned: ArrayLike, lowest: ArrayLike, highest: ArrayLike) -> Floats:
    """(alignment − floor) / (ceiling − floor) of means: 0 as good as always saying 1, 1 perfect; NaN without room."""
    a, low, high = (np.asarray(value, float) for value in (aligned, lowest, highest))
    room = high - low
    return np.divide(a - low, room, out=np.full(np.broadcast(a, room).shape, np.nan), where=room > 0)


def bias(truth: ArrayLike, level: ArrayLike) -> Floats:
    """l − p elementwise: positive where a judge credits too much."""
    return np.asarray(level, float) - np.asarray(truth, float)


def binned(level: ArrayLike) -> Floats:
    """Levels on the scale 0, 0.5, 1, as the released code bins them: up to 0.1, from 0.9, and the rest."""
    said = np.asarray(level, float)
    return np.where(np.isnan(said), np.nan, np.select([said <= 0.1, said >= 0.9], [0.0, 1.0], 0.5))


class Agreement(NamedTuple):
    """Of two judges: share of equal levels, Cohen's κ (unweighted), and how many verdicts both gave."""

    exact: float
    kappa: float
    n: int
    confusion: pd.DataFrame


def agreement(one: ArrayLike, other: ArrayLike) -> Agreement:
    """Agreement of two judges' binned levels, with their confusion (rows: the first judge's)."""
    a, b = binned(one), binned(other)
    both = ~np.isnan(a) & ~np.isnan(b)
    confusion = pd.DataFrame(
        [[int(np.sum((a == x) & (b == y))) for y in LEVELS] for x in LEVELS], index=LEVELS, columns=LEVELS
    )
    n = int(both.sum())
    if not n:
        return Agreement(float("nan"), float("nan"), 0, confusion)
    exact = float(np.mean(a[both] == b[both]))
    chance = (confusion.sum(axis=0) * confusion.sum(axis=1)).sum() / n**2
    kappa = float(cohens_kappa(confusion.to_numpy()).kappa) if chance < 1 else float("nan")
    return Agreement(exact, kappa, n, confusion)


def krippendorff_alpha(levels: ArrayLike, *, interval: bool = True) -> float:
    """Krippendorff's α of units × judges, NaN where a judge is silent (Krippendorff 2011, sections C and E).

    Distances are squared differences, or with ``interval`` false whether two levels differ. NaN without variation.
    """
    units = np.asarray(levels, float)
    units = units[(~np.isnan(units)).sum(1) > 1]
    values, codes = np.unique(units[~np.isnan(units)], return_inverse=True)
    places = np.where(~np.isnan(units))[0]
    counts = np.zeros((len(units), len(values)))
    np.add.at(counts, (places, codes), 1)
    distance = np.subtract.outer(values, values) ** 2 if interval else 1 - np.eye(len(values))
    total = counts.sum(0)
    pairs = np.einsum("uc,uk,ck->u", counts, counts, distance) / (counts.sum(1) - 1)
    expected = total @ distance @ total / (total.sum() - 1)
    return float(1 - pairs.sum() / expected) if expected > 0 else float("nan")


def jury(levels: ArrayLike) -> Floats:
    """The mean level of the judges (last axis); NaN where one of them is missing, as in the paper."""
    return np.asarray(levels, float).mean(-1)


def collapsed(level: ArrayLike, how: Collapse, truth: ArrayLike | None = None) -> Floats:
    """Levels as right (1) or wrong (0): 0.5 goes down, up, or, as in the paper, where the truth would have it.

    The last leaks the truth into the verdict. Levels between are first binned.
    """
    said = binned(level)
    if how == "leaking":
        if truth is None:
            raise ValueError("the leaking collapse needs the truth")
        half = (np.asarray(truth, float) >= 0.5).astype(float)
    else:
        half = np.full(said.shape, 1.0 if how == "up" else 0.0)
    return np.where(said == 0.5, half, said)


def weighted(aligned: pd.DataFrame) -> pd.DataFrame:
    """Alignment of each judge under each weighting scheme.

    Args:
        aligned: mean alignment, a row a judge and a column a metric.
    """
    metrics = aligned[list(METRICS)]
    return pd.DataFrame({name: metrics @ np.array(w) / sum(w) for name, w in WEIGHTS.items()})


def rank_correlation(one: ArrayLike, other: ArrayLike) -> float:
    """Spearman's ρ of two scores of the same judges, ties at their mean rank; NaN for fewer than three judges."""
    a, b = np.asarray(one, float), np.asarray(other, float)
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(spearmanr(a, b).statistic)


def flip_rate(levels: ArrayLike) -> Floats:
    """For each unit (row), the share of pairs of its repeats whose levels differ; NaN with fewer than two repeats."""
    units = np.asarray(levels, float)
    first, second = np.triu_indices(units.shape[1], 1)
    a, b = units[:, first], units[:, second]
    both = ~np.isnan(a) & ~np.isnan(b)
    pairs = both.sum(1)
    return np.divide((both & (a != b)).sum(1), pairs, out=np.full(len(units), np.nan), where=pairs > 0)


class Slopes(NamedTuple):
    """How far a level follows the truth (sight) and the reference that was shown (anchoring), with 95 % intervals."""

    sight: float
    sight_low: float
    sight_high: float
    anchoring: float
    anchoring_low: float
    anchoring_high: float
    n: int


def sight_and_anchoring(level: ArrayLike, truth: ArrayLike, shown: ArrayLike, records: Sequence[str]) -> Slopes:
    """Least squares of levels on p(plan, true reference) and p(plan, shown reference), errors clustered by record.

    A judge that reads the reference it is shown has anchoring 1 and sight 0; one that knows better the reverse. All
    are NaN where the two cannot be told apart (no variation, or one follows from the other).
    """
    frame = pd.DataFrame({"level": level, "sight": truth, "anchoring": shown, "record": list(records)}).dropna()
    inputs = frame[["sight", "anchoring"]].to_numpy(float)
    design = np.column_stack([np.ones(len(frame)), inputs])
    if frame.record.nunique() < 3 or np.linalg.matrix_rank(design) < 3:
        none = float("nan")
        return Slopes(none, none, none, none, none, none, len(frame))
    codes = pd.factorize(frame.record)[0]
    fit = sm.OLS(frame.level.to_numpy(float), design).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    (_, _), (low, high), (near, far) = fit.conf_int()
    return Slopes(fit.params[1], low, high, fit.params[2], near, far, len(frame))


def _possible(truth: Floats) -> Floats:
    return np.stack([1 - np.abs(truth - level) for level in LEVELS])
