"""Scores of judges against the labels: every metric with its interval, and every paired difference."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.bootstrap import exact_interval, percentile_interval, replicate_metrics
from lib.analysis.quantities import (
    DENOMINATORS,
    METRICS,
    PROPORTIONS,
    VERDICT_COLUMNS,
    Floats,
    complete,
    label_sums,
    metrics_of,
    verdict_columns,
)
from lib.errors import UserError

STATUSES = ("ok", "unparseable", "truncated")
JSON_DIGITS = 9


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
        return Estimate(*rows.iloc[0][list(Estimate._fields)])

    def delta(self, a: str, b: str, metric: str) -> Estimate:
        """Paired difference a minus b, whichever comes first in the run. Raises KeyError where there is none."""
        for first, second, sign in ((a, b, 1.0), (b, a, -1.0)):
            frame = self.deltas
            rows = frame[(frame["a"] == first) & (frame["b"] == second) & (frame["metric"] == metric)]
            if not rows.empty:
                value, low, high, n = rows.iloc[0][list(Estimate._fields)]
                low, high = (low, high) if sign > 0 else (-high, -low)
                return Estimate(sign * value, low, high, n)
        raise KeyError((a, b, metric))

    def to_json(self) -> dict[str, Any]:
        """Plain values ready for ``json.dumps``: null where undefined, rounded to nine decimals."""
        judges: dict[str, Any] = {judge: {"n": self.n[judge], "metrics": {}} for judge in self.judges}
        for row in self.metrics.itertuples(index=False):
            judges[row.judge_id]["metrics"][row.metric] = _plain(row) | {"n": int(row.n)}
        deltas = [{"a": row.a, "b": row.b, "metric": row.metric} | _plain(row) for row in self.deltas.itertuples()]
        return {"judges": judges, "deltas": deltas}


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
    judges: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
) -> Scores:
    """Score judges.

    Args:
        trajectories, verdicts: the frames of a run (``lib.runs``).
        reps, seed: bootstrap replicates and their seed; same seed, same bytes.
        judges: which judges to score (all when None).
        order: the run's order of judges, which says what is subtracted from what (first appearance when None).

    Raises:
        UserError: unknown judge, unknown trajectory, or two verdicts with one key.
    """
    if reps < 1:
        raise UserError(f"reps must be at least 1, not {reps}")
    chosen = ordered_judges(verdicts, judges, order)
    table = Table.build(trajectories, verdicts, chosen)
    metrics, deltas = _estimates(table, reps, seed)
    status = _status(table, verdicts)
    return Scores(chosen, table.n(), metrics, deltas, status, _readings(table))


def ordered_judges(verdicts: pd.DataFrame, judges: Sequence[str] | None, order: Sequence[str] | None) -> list[str]:
    """The judges to score in the run's order; ones that ``order`` does not name come last."""
    present = list(dict.fromkeys(verdicts["judge_id"]))
    wanted = set(present if judges is None else judges)
    missing = sorted(wanted - set(present))
    if missing:
        raise UserError(f"no verdicts of {', '.join(missing)}; this run has {', '.join(present) or 'none'}")
    ranked = [judge for judge in order or () if judge in present]
    return [judge for judge in dict.fromkeys([*ranked, *present]) if judge in wanted]


@dataclass(frozen=True)
class Table:
    """Labels sorted by cell and id, and per judge its quantities on the rows that it judged (zero elsewhere)."""

    labels: pd.DataFrame
    cells: np.ndarray
    judged: dict[str, np.ndarray]
    verdicts: dict[str, pd.DataFrame]
    columns: dict[str, Floats]

    @classmethod
    def build(cls, trajectories: pd.DataFrame, verdicts: pd.DataFrame, judges: Sequence[str]) -> Table:
        labels = trajectories.sort_values(["cell", "trajectory_id"], ignore_index=True)
        index = pd.Index(labels["trajectory_id"])
        judged, kept, columns = {}, {}, {}
        for judge in judges:
            own = verdicts[verdicts["judge_id"] == judge]
            rows = index.get_indexer(own["trajectory_id"])
            _check_keys(own, rows)
            by_row = np.argsort(rows, kind="stable")
            kept[judge] = own.iloc[by_row]
            judged[judge] = np.zeros(len(labels), dtype=bool)
            judged[judge][rows] = True
            columns[judge] = np.zeros((len(labels), len(VERDICT_COLUMNS)))
            columns[judge][judged[judge]] = verdict_columns(labels[judged[judge]], kept[judge])
        return cls(labels, labels["cell"].to_numpy(), judged, kept, columns)

    def n(self) -> dict[str, int]:
        return {judge: int(mask.sum()) for judge, mask in self.judged.items()}

    def point(self, judge: str, mask: np.ndarray) -> Floats:
        """Metrics of one judge on the rows of ``mask``, unresampled."""
        sums = dict(zip(VERDICT_COLUMNS, self.columns[judge][mask].sum(axis=0), strict=True))
        return np.array(list(metrics_of(complete({**label_sums(self.labels[mask]), **sums})).values()))

    def replicates(self, judges: Sequence[str], mask: np.ndarray, reps: int, seed: int) -> Floats:
        """Metrics of judges in each replicate of the rows of ``mask``, judges × metrics × reps."""
        sizes = np.unique(self.cells[mask], return_counts=True)[1].tolist()
        columns = [self.columns[judge][mask] for judge in judges]
        return replicate_metrics(columns, label_sums(self.labels[mask]), sizes, reps, seed)


def _check_keys(own: pd.DataFrame, rows: np.ndarray) -> None:
    if (rows < 0).any():
        stray = own.iloc[int(np.argmax(rows < 0))]
        raise UserError(f"verdict of {stray['judge_id']} about unknown trajectory {stray['trajectory_id']}")
    double = own["trajectory_id"].duplicated()
    if double.any():
        row = own[double].iloc[0]
        raise UserError(f"two verdicts of {row['judge_id']} about {row['trajectory_id']}; keep one of them")


def _estimates(table: Table, reps: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and deltas: judges that share their trajectories share one resample of exactly those."""
    judges = list(table.judged)
    pairs = list(itertools.combinations(judges, 2))
    supports: dict[bytes, tuple[np.ndarray, list[str], list[tuple[str, str]]]] = {}
    for judge in judges:
        mask = table.judged[judge]
        supports.setdefault(mask.tobytes(), (mask, [], []))[1].append(judge)
    for a, b in pairs:
        mask = table.judged[a] & table.judged[b]
        supports.setdefault(mask.tobytes(), (mask, [], []))[2].append((a, b))
    metrics: dict[str, pd.DataFrame] = {}
    deltas: dict[tuple[str, str], pd.DataFrame] = {}
    for mask, own, shared in supports.values():
        involved = list(dict.fromkeys([*own, *itertools.chain.from_iterable(shared)]))
        points = {judge: table.point(judge, mask) for judge in involved}
        drawn = dict(zip(involved, table.replicates(involved, mask, reps, seed), strict=True))
        sums = {judge: _denominators(table, judge, mask) for judge in own}
        for judge in own:
            metrics[judge] = _metric_rows(judge, points[judge], drawn[judge], sums[judge])
        for a, b in shared:
            n = int(mask.sum())
            deltas[a, b] = _delta_rows(a, b, points[a] - points[b], drawn[a] - drawn[b], n)
    return _stack([metrics[judge] for judge in judges], METRIC_FIELDS), _stack(
        [deltas[pair] for pair in pairs], DELTA_FIELDS
    )


METRIC_FIELDS = ["judge_id", "metric", "value", "low", "high", "n"]
DELTA_FIELDS = ["a", "b", "metric", "value", "low", "high", "n"]


def _stack(frames: list[pd.DataFrame], fields: list[str]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=fields)


def _denominators(table: Table, judge: str, mask: np.ndarray) -> Floats:
    sums = dict(zip(VERDICT_COLUMNS, table.columns[judge][mask].sum(axis=0), strict=True))
    all_sums = complete({**label_sums(table.labels[mask]), **sums})
    return np.array([all_sums[DENOMINATORS[metric]] for metric in METRICS])


def _metric_rows(judge: str, point: Floats, drawn: Floats, n: Floats) -> pd.DataFrame:
    low, high = percentile_interval(drawn)
    plain = np.isin(METRICS, list(PROPORTIONS))
    extreme = plain & ((point == 0) | (point == 1))
    low[extreme], high[extreme] = exact_interval(point[extreme] * n[extreme], n[extreme])
    if is_fixed(judge):
        low[:], high[:] = np.nan, np.nan
    undefined = np.isnan(point)
    low[undefined], high[undefined] = np.nan, np.nan
    n = np.where(undefined, 0, n).astype(int)
    return pd.DataFrame({"judge_id": judge, "metric": METRICS, "value": point, "low": low, "high": high, "n": n})


def _delta_rows(a: str, b: str, point: Floats, drawn: Floats, n: int) -> pd.DataFrame:
    low, high = percentile_interval(drawn)
    undefined = np.isnan(point) | (is_fixed(a) and is_fixed(b))
    low[undefined], high[undefined] = np.nan, np.nan
    counts = np.where(np.isnan(point), 0, n)
    return pd.DataFrame({"a": a, "b": b, "metric": METRICS, "value": point, "low": low, "high": high, "n": counts})


def _status(table: Table, verdicts: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for judge, own in table.verdicts.items():
        counts = own["status"].value_counts()
        rows.append({"judge_id": judge, "n": len(own), **{name: int(counts.get(name, 0)) for name in STATUSES}})
    return pd.DataFrame(rows, columns=["judge_id", "n", *STATUSES])


def _readings(table: Table) -> pd.DataFrame:
    frames = []
    for judge, own in table.verdicts.items():
        broken = (own["status"] != "ok").to_numpy()
        if not broken.any():
            continue
        mask = table.judged[judge]
        labels = table.labels[mask]
        values = {"value": table.point(judge, mask)}
        for name, right in (("worst", False), ("best", True)):
            columns = verdict_columns(labels, read_as(own, labels, broken, right=right))
            sums = complete({**label_sums(labels), **dict(zip(VERDICT_COLUMNS, columns.sum(axis=0), strict=True))})
            values[name] = np.array(list(metrics_of(sums).values()))
        frames.append(pd.DataFrame({"judge_id": judge, "metric": METRICS, **values}))
    return _stack(frames, ["judge_id", "metric", "value", "worst", "best"])


def read_as(own: pd.DataFrame, labels: pd.DataFrame, broken: np.ndarray, *, right: bool) -> pd.DataFrame:
    """Verdicts with each ``broken`` one read as right (the label itself) or as wrong (its opposite, untyped)."""
    faulty = labels["faulty"].to_numpy(bool)
    step = labels["failure_step"].to_numpy(dtype=float, na_value=np.nan)
    kind = labels["failure_type"].to_numpy(object)
    none = np.full(len(own), None, dtype=object)
    return own.assign(
        faulty=np.where(broken, faulty == right, own["faulty"].to_numpy(bool)),
        failure_step=np.where(
            broken, step if right else np.nan, own["failure_step"].to_numpy(dtype=float, na_value=np.nan)
        ),
        failure_type=np.where(broken, kind if right else none, own["failure_type"].to_numpy(object)),
    )
