"""Judges on the bench: their verdicts as one tidy frame, and every share, score and paired difference asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from lib.analysis.estimates import Estimate, reading
from lib.analysis.measured import Measured, ratios_of
from lib.analysis.metrics import Registry
from lib.analysis.power import decides, smallest_effect
from lib.analysis.trajectory_metrics import TRAJECTORY_METRICS
from lib.errors import UserError
from lib.records import About

SURVIVAL_METRICS = {"silent": "silent_recall", "loud": "loud_recall", "clean": "false_alarm_rate"}
SCORE_FIELDS = ["judge", "metric", "value", "low", "high", "n"]
COMPARED = ["value", "low", "high", "n", "reading", "smallest", "needed"]
PAIRED_FIELDS = ["a", "b", "metric", *COMPARED]


@dataclass(frozen=True)
class Judged:
    """One judge: what it says of itself, and its metrics by name (``judge.silent_recall``).

    ``silent``, ``loud`` and ``clean`` are the shares flagged of each. A judge that the run does not have has no id, and
    no value in any metric.
    """

    id: str
    about: About
    metrics: dict[str, Estimate]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        metric = SURVIVAL_METRICS.get(name, name)
        if metric in self.metrics:
            return self.metrics[metric]
        if not self.id and name not in self.about.__struct_fields__:
            return Estimate(float("nan"))
        if name in self.about.__struct_fields__:
            return getattr(self.about, name)
        raise UserError(f"no metric {name}; there are {', '.join([*SURVIVAL_METRICS, *self.metrics])}")


@dataclass(frozen=True)
class Bench:
    """Verdicts of a run's judges beside the truth.

    Attributes:
        verdicts: frame of ``lib.analysis.tidy``.
        about: what each judge says of itself, in the run's order.
        name, checksum: of the run, and of the bytes of its verdicts.
        reps, seed: of what is resampled; same seed, same bytes.
        registry: the study's metrics.
    """

    verdicts: pd.DataFrame
    about: dict[str, About]
    name: str = ""
    checksum: str = ""
    reps: int = 10_000
    seed: int = 0
    registry: Registry = field(default=TRAJECTORY_METRICS, repr=False)

    @property
    def judges(self) -> list[str]:
        return list(self.about)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Trajectories that each judge judged."""
        return {str(judge): int(n) for judge, n in self.verdicts.groupby("judge").size().items()}

    @cached_property
    def unread_counts(self) -> dict[str, int]:
        """How many of each judge's replies could not be read."""
        return {str(judge): int(n) for judge, n in self.verdicts.groupby("judge")["unread"].sum().items()}

    @property
    def unread(self) -> dict[str, float]:
        """Share of each judge's replies that could not be read."""
        return {judge: n / self.counts[judge] for judge, n in self.unread_counts.items()}

    def judge(self, wanted: str) -> Judged:
        """A judge by its id, or by its kind where only one has it. Raises UserError naming what there is."""
        judge = self._find(wanted)
        return Judged(judge, self.about[judge], self._judged[judge])

    def pair(self, a: str, b: str) -> tuple[Judged, Judged]:
        """Two judges, by id or kind; kinds are those of one model, the first in the run that has both.

        Where no model has both, two judges without id and values: a chapter then has nothing to say of them.
        """
        if a in self.about or b in self.about:
            return self.judge(a), self.judge(b)
        for first, one in self.about.items():
            for second, other in self.about.items():
                if one.kind == a and other.kind == b and one.model == other.model:
                    return self.judge(first), self.judge(second)
        return Judged("", About(kind=a), {}), Judged("", About(kind=b), {})

    def pairs(self, a: str, b: str) -> list[tuple[str, str]]:
        """Ids of the judges of kind ``a`` and of kind ``b`` that ask one model, for every model that has both."""
        return [
            (first, second)
            for first, one in self.about.items()
            for second, other in self.about.items()
            if one.kind == a and other.kind == b and one.model == other.model and one.model is not None
        ]

    def rates(self, frame: pd.DataFrame, column: str, by: Sequence[str] = ("judge",)) -> pd.DataFrame:
        """The share (or mean) of a column in each group of rows of ``verdicts``, with instances as units.

        Args:
            frame: rows of ``verdicts``, perhaps with columns of one's own; ``column``: yes or no, or an amount;
                missing values are left out.
            by: columns whose groups are told apart, in order of appearance.

        Returns:
            Frame of ``by``, value, low, high, n; no interval for judges of fixed rules.
        """
        _refuse_unknown([column, *by], frame.columns, "column")
        kept = frame[frame[column].notna()]
        rows = []
        for key, own in kept.groupby(list(by), sort=False, dropna=False):
            values = own[column].to_numpy(float)
            share = bool(np.isin(values, (0, 1)).all())
            found = ratios_of(own, values[:, None], np.ones((len(own), 1)), means=not share)
            fixed = all(self._fixed(judge) for judge in own["judge"].unique())
            interval = (np.nan, np.nan) if fixed else (float(found.low[0]), float(found.high[0]))
            rows.append([*key, float(found.value[0]), *interval, len(own)])
        return _table(rows, [*by, "value", "low", "high", "n"])

    def contrast(
        self, frame: pd.DataFrame, column: str, between: str, values: tuple[Any, Any], by: Sequence[str] = ("judge",)
    ) -> pd.DataFrame:
        """Share of a column among rows where ``between`` is the first of ``values``, minus that where it is the second.

        Returns:
            Frame of ``by``, value, low, high, n (rows of both), reading, smallest, needed (as of ``paired``).
        """
        _refuse_unknown([column, between, *by], frame.columns, "column")
        kept = frame[frame[column].notna() & frame[between].isin(values)]
        rows = []
        for key, own in kept.groupby(list(by), sort=False, dropna=False):
            sides = np.column_stack([own[between].eq(value).to_numpy(float) for value in values])
            hit = own[column].to_numpy(float)[:, None]
            share = bool(np.isin(hit, (0, 1)).all())
            fixed = all(self._fixed(judge) for judge in own["judge"].unique())
            found = ratios_of(own, sides * hit, sides, means=not share, exact=fixed)
            unread = max(self.unread.get(str(judge), 0.0) for judge in own["judge"].unique())
            rows.append([*key, *_compared(found.combination([1, -1]), len(own), fixed=fixed, unread=unread)])
        return _table(rows, [*by, *COMPARED])

    def score(self, metrics: Sequence[str] | None = None) -> pd.DataFrame:
        """Every metric (or those named) of every judge: frame judge, metric, value, low, high, n."""
        wanted = self._metrics(metrics)
        rows = [[judge, name, *own[name]] for judge, own in self._judged.items() for name in wanted if name in own]
        return _table(rows, SCORE_FIELDS)

    def paired(self, a: str, b: str, metrics: Sequence[str] | None = None) -> pd.DataFrame:
        """Metrics of judge ``a`` minus those of ``b``, on the trajectories that both judged.

        Returns:
            Frame a, b, metric, value, low, high, n (trajectories), reading, smallest (the difference that 80 % power
            would have shown), needed (trajectories that would decide, if the difference is what it seems).
        """
        wanted = self._metrics(metrics)
        if not (a and b):  # judges that ``pair`` did not find
            nothing = _compared((np.nan, np.nan, np.nan), 0, fixed=False, unread=0.0)
            return _table([[a, b, name, *nothing] for name in wanted], PAIRED_FIELDS)
        first, second = self._find(a), self._find(b)
        found = self._both(first, second)
        fixed = self._fixed(first) and self._fixed(second)
        rows = []
        for name in wanted:
            gap = found.difference(name, first, second)
            rows.append([first, second, name, *_compared(gap, found.n, fixed=fixed, unread=max(found.unread))])
        return _table(rows, PAIRED_FIELDS)

    def _both(self, first: str, second: str) -> Measured:
        """Two judges measured on the trajectories that both judged."""
        for group in self._groups if len(self.about) <= AT_ONCE else ():
            if {first, second} <= set(group.judges):
                return group.only(first, second)
        sides = [self.verdicts[self.verdicts["judge"] == judge].set_index("trajectory") for judge in (first, second)]
        common = sides[0].index.intersection(sides[1].index, sort=False)
        return self._measure(
            {j: side.loc[common].reset_index() for j, side in zip((first, second), sides, strict=True)}
        )

    @cached_property
    def _groups(self) -> list[Measured]:
        return list(self._measure_groups())

    def _measure_groups(self) -> Iterator[Measured]:
        """Judges of the same trajectories share their resamples; AT_ONCE of them at a time."""
        groups: dict[tuple[str, ...], dict[str, pd.DataFrame]] = {}
        own = dict(list(self.verdicts.groupby("judge", sort=False)))
        for judge in self.about:
            groups.setdefault(tuple(own[judge]["trajectory"]), {})[judge] = own[judge]
        for judges in groups.values():
            for some in _batches(list(judges), AT_ONCE):
                yield self._measure({judge: judges[judge] for judge in some})

    def _measure(self, rows: dict[str, pd.DataFrame]) -> Measured:
        return Measured.of(self.registry, rows, [self._fixed(judge) for judge in rows], self.reps, self.seed)

    @cached_property
    def _judged(self) -> dict[str, dict[str, Estimate]]:
        groups = self._groups if len(self.about) <= AT_ONCE else self._measure_groups()
        found = {judge: group.estimates(judge) for group in groups for judge in group.judges}
        return {judge: found[judge] for judge in self.about}

    def _fixed(self, judge: str) -> bool:
        return self.about[judge].fixed if judge in self.about else False

    def _metrics(self, wanted: Sequence[str] | None) -> list[str]:
        names = list(self.registry.metrics)
        if wanted is None:
            return names
        _refuse_unknown(wanted, names, "metric")
        return list(wanted)

    def _find(self, wanted: str) -> str:
        if wanted in self.about:
            return wanted
        of_kind = [judge for judge, about in self.about.items() if about.kind == wanted]
        if len(of_kind) == 1:
            return of_kind[0]
        more = f"{len(of_kind)} judges are of kind {wanted}" if of_kind else f"no judge {wanted}"
        raise UserError(f"{more}; name one of {', '.join(of_kind or self.about)}")


def _table(rows: list[list[Any]], fields: list[str]) -> pd.DataFrame:
    """The rows as a frame in which values and bounds are numbers, also where there is none."""
    return pd.DataFrame(rows, columns=fields).astype({"value": float, "low": float, "high": float})


AT_ONCE = 20
"""Judges measured together, and kept for their differences: bounds memory, and does not change a figure."""


def _compared(estimate: tuple[float, float, float], n: int, *, fixed: bool, unread: float) -> list[Any]:
    """The cells of COMPARED; no interval, and nothing to be seen, between rules."""
    value, low, high = estimate
    said = reading(value, low, high, fixed=fixed, unread=unread)
    if fixed:
        return [value, np.nan, np.nan, n, said, np.nan, np.nan]
    return [value, low, high, n, said, smallest_effect(low, high), decides(value, low, high, n)]


def _batches(judges: list[str], size: int) -> Iterator[list[str]]:
    return (judges[start : start + size] for start in range(0, len(judges), size))


def _refuse_unknown(wanted: Sequence[str], known: Any, what: str) -> None:
    if missing := [name for name in wanted if name not in known]:
        raise UserError(f"no {what} {', '.join(map(str, missing))}; there are {', '.join(map(str, known))}")
