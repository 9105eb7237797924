"""Scores of judges against the labels: every metric with its interval, and every paired difference."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.intervals import Interval, Measured, delta_intervals, measured
from lib.analysis.quantities import METRICS, Floats
from lib.analysis.readings import readings, status_counts
from lib.analysis.sample import Mask, Table, ordered_judges
from lib.errors import UserError

JSON_DIGITS = 9
METRIC_FIELDS = ["judge_id", "metric", "value", "low", "high", "n"]
DELTA_FIELDS = ["a", "b", "metric", "value", "low", "high", "n"]


class Estimate(NamedTuple):
    """A value with its 95 % interval; NaN where there is none. ``n`` is the denominator, 0 where undefined."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Scores:
    """Scores of a run.

    Attributes:
        judges: ids in the run's order.
        n: trajectories judged, per judge.
        metrics: frame judge_id, metric, value, low, high, n.
        deltas: frame a, b, metric, value (a minus b), low, high, n (trajectories that both judged).
        status: frame judge_id, n, ok, unparseable, truncated.
        readings: frame judge_id, metric, value, worst, best, of judges with verdicts that are not ``ok``:
            each such verdict read as wrong, and as right.
    """

    judges: list[str]
    n: dict[str, int]
    metrics: pd.DataFrame
    deltas: pd.DataFrame
    status: pd.DataFrame
    readings: pd.DataFrame

    def estimate(self, judge_id: str, metric: str) -> Estimate:
        """One metric of one judge. Raises KeyError where there is no such pair."""
        rows = self.metrics[(self.metrics["judge_id"] == judge_id) & (self.metrics["metric"] == metric)]
        if rows.empty:
            raise KeyError((judge_id, metric))
        return _estimate(rows)

    def delta(self, a: str, b: str, metric: str) -> Estimate:
        """Paired difference a minus b, whichever comes first in the run. Raises KeyError where there is none."""
        for first, second, sign in ((a, b, 1.0), (b, a, -1.0)):
            frame = self.deltas
            rows = frame[(frame["a"] == first) & (frame["b"] == second) & (frame["metric"] == metric)]
            if not rows.empty:
                value, low, high, n = _estimate(rows)
                return Estimate(value, low, high, n) if sign > 0 else Estimate(0.0 - value, 0.0 - high, 0.0 - low, n)
        raise KeyError((a, b, metric))

    def to_json(self) -> dict[str, Any]:
        """Plain values ready for ``json.dumps``: null where undefined, rounded to nine decimals."""
        judges: dict[str, Any] = {judge: {"n": self.n[judge], "metrics": {}} for judge in self.judges}
        for row in self.metrics.itertuples(index=False):
            judges[row.judge_id]["metrics"][row.metric] = _plain(row) | {"n": int(row.n)}
        deltas = [{"a": row.a, "b": row.b, "metric": row.metric} | _plain(row) for row in self.deltas.itertuples()]
        return {"judges": judges, "deltas": deltas}


def _estimate(rows: pd.DataFrame) -> Estimate:
    row = rows.iloc[0]
    return Estimate(float(row["value"]), float(row["low"]), float(row["high"]), int(row["n"]))


def _plain(row: Any) -> dict[str, float | None]:
    return {
        name: None if np.isnan(getattr(row, name)) else round(float(getattr(row, name)), JSON_DIGITS) + 0.0
        for name in ("value", "low", "high")
    }


def is_fixed(judge_id: str) -> bool:
    """Whether a judge's verdicts follow from rules, so that it gets no interval.

    ``coin`` is not among them: its verdicts are fixed by its seed, but they stand for a random draw, and as a
    baseline it is only worth reading with the width that chance gives it.
    """
    return judge_id in ("always-faulty", "always-clean") or judge_id.startswith("rules")


def score(
    trajectories: pd.DataFrame,
    verdicts: pd.DataFrame,
    reps: int = 10_000,
    seed: int = 0,
    judges: str | Sequence[str] | None = None,
    order: Sequence[str] | None = None,
) -> Scores:
    """Score judges.

    Args:
        trajectories, verdicts: the frames of a run (``lib.run.folder``).
        reps, seed: bootstrap replicates and their seed; same seed, same bytes.
        judges: which judge or judges to score (all when None).
        order: the run's order of judges, which says what is subtracted from what (first appearance when None).

    Raises:
        UserError: unknown judge, unknown trajectory, or two verdicts with one key.
    """
    if reps < 1:
        raise UserError(f"reps must be at least 1, not {reps}")
    chosen = ordered_judges(verdicts, judges, order)
    table = Table.build(trajectories, verdicts, chosen)
    metrics, deltas = _estimates(table, reps, seed)
    n = {judge: int(mask.sum()) for judge, mask in table.judged.items()}
    return Scores(chosen, n, metrics, deltas, status_counts(table), readings(table))


def _estimates(table: Table, reps: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and deltas. Judges (and pairs) with the same trajectories share one resample of exactly those."""
    metrics: dict[str, pd.DataFrame] = {}
    deltas: dict[tuple[str, str], pd.DataFrame] = {}
    for mask, own, pairs in _supports(table.judged):
        involved = list(dict.fromkeys([*own, *itertools.chain.from_iterable(pairs)]))
        sample = table.sample(involved, mask)
        points, drawn = sample.points(), sample.replicates(reps, seed)
        found = {judge: measured(*points[judge], drawn[judge], is_fixed(judge)) for judge in involved}
        for judge in own:
            metrics[judge] = _metric_rows(judge, found[judge])
        for a, b in pairs:
            deltas[a, b] = _delta_rows(a, b, found[a], found[b], int(mask.sum()))
    ordered = [deltas[pair] for pair in itertools.combinations(table.judged, 2)]
    return _stack([metrics[judge] for judge in table.judged], METRIC_FIELDS), _stack(ordered, DELTA_FIELDS)


def _supports(judged: dict[str, Mask]) -> list[tuple[Mask, list[str], list[tuple[str, str]]]]:
    """Each distinct set of trajectories with the judges that judged it, and the pairs that have it in common."""
    supports: dict[bytes, tuple[Mask, list[str], list[tuple[str, str]]]] = {}
    for judge, mask in judged.items():
        supports.setdefault(mask.tobytes(), (mask, [], []))[1].append(judge)
    for a, b in itertools.combinations(judged, 2):
        mask = judged[a] & judged[b]
        supports.setdefault(mask.tobytes(), (mask, [], []))[2].append((a, b))
    return list(supports.values())


def _stack(frames: list[pd.DataFrame], fields: list[str]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=fields)


def _metric_rows(judge: str, found: Measured) -> pd.DataFrame:
    interval = _no_interval(found.value) if is_fixed(judge) else (found.low, found.high)
    return _rows({"judge_id": judge}, found.value, interval, found.below)


def _delta_rows(a: str, b: str, one: Measured, other: Measured, n: int) -> pd.DataFrame:
    value = one.value - other.value
    interval = _no_interval(value) if is_fixed(a) and is_fixed(b) else delta_intervals(one, other)
    return _rows({"a": a, "b": b}, value, interval, n)


def _no_interval(value: Floats) -> Interval:
    return np.full_like(value, np.nan), np.full_like(value, np.nan)


def _rows(names: dict[str, str], value: Floats, interval: Interval, n: Floats | int) -> pd.DataFrame:
    counts = np.where(np.isnan(value), 0, n).astype(int)
    return pd.DataFrame(
        names | {"metric": METRICS, "value": value, "low": interval[0], "high": interval[1], "n": counts}
    )
