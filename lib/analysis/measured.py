"""Some judges' metrics on the same trajectories, and their differences: what has an interval of which kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from lib.analysis.estimates import Estimate
from lib.analysis.metrics import Metric, Registry
from lib.analysis.resample import percentile_interval, replicates
from lib.analysis.shares import Floats, Shares, codes, shares


@dataclass(frozen=True)
class Measured:
    """Some judges' metrics on the same trajectories.

    Attributes:
        judges, fixed, unread: ids, whether they follow from rules, and their shares of replies unread.
        n: trajectories.
        ratios: shares and means of all judges one after the other; ``place`` says where that of a judge is.
        resampled: value, low, high and replicates of a judge's other metrics.
        below: denominators.
    """

    registry: Registry
    judges: list[str]
    fixed: dict[str, bool]
    unread: list[float]
    n: int
    ratios: Shares
    place: dict[tuple[str, str], int]
    resampled: dict[tuple[str, str], tuple[float, float, float, Floats]]
    below: dict[tuple[str, str], float]

    @classmethod
    def of(cls, registry: Registry, rows: dict[str, pd.DataFrame], fixed: list[bool], reps: int, seed: int) -> Measured:
        metrics = registry.metrics.values()
        columns = {judge: registry.columns(own) for judge, own in rows.items()}
        first = next(iter(rows.values()))
        divided = [metric for metric in metrics if metric.kind in ("share", "mean")]
        keys = [(judge, metric) for judge in rows for metric in divided]
        above, below = (
            np.reshape([columns[judge][getattr(metric, side)] for judge, metric in keys], (len(keys), -1)).T
            for side in ("above", "below")
        )
        found = ratios_of(
            first,
            above,
            below,
            means=[metric.kind == "mean" for _, metric in keys],
            exact=[rule for rule in fixed for _ in divided],
        )
        known = dict(zip(rows, fixed, strict=True))
        return cls(
            registry,
            list(rows),
            known,
            [float(own["unread"].mean()) if len(own) else 0.0 for own in rows.values()],
            len(first),
            found,
            {(judge, metric.name): at for at, (judge, metric) in enumerate(keys)},
            _resampled([m for m in metrics if m.kind == "resampled"], first, columns, known, reps, seed),
            {
                (judge, metric.name): float(own[metric.below].sum())
                for judge, own in columns.items()
                for metric in metrics
            },
        )

    def only(self, *judges: str) -> Measured:
        return replace(self, judges=list(judges), unread=[self.unread[self.judges.index(judge)] for judge in judges])

    def estimates(self, judge: str) -> dict[str, Estimate]:
        """Every metric of a judge, in the registry's order; no intervals for fixed rules."""
        found = {}
        for name, metric in self.registry.metrics.items():
            value, low, high = self._interval(judge, metric)
            n = 0 if np.isnan(value) else int(self.below[judge, name])
            found[name] = Estimate(value, n=n) if self.fixed[judge] else Estimate(value, low, high, n)
        return found

    def difference(self, name: str, first: str, second: str) -> tuple[float, float, float]:
        """A metric of the first judge minus that of the second."""
        metric = self.registry.metrics[name]
        if metric.kind != "resampled":
            return self.ratios.combination(self._weights(first, metric) - self._weights(second, metric))
        (value, low, high, drawn), (other, other_low, other_high, other_drawn) = (
            self.resampled[judge, name] for judge in (first, second)
        )
        gap = drawn - other_drawn
        if self.fixed[first] or self.fixed[second] or not any(_still(part) for part in (drawn, other_drawn, gap)):
            bounds = percentile_interval(gap)
            return value - other, float(bounds[0]), float(bounds[1])
        down, up = np.hypot(value - low, other_high - other), np.hypot(high - value, other - other_low)
        return value - other, float(value - other - down), float(value - other + up)

    def _interval(self, judge: str, metric: Metric) -> tuple[float, float, float]:
        if metric.kind == "resampled":
            return self.resampled[judge, metric.name][:3]
        if metric.kind == "combination":
            return self.ratios.combination(self._weights(judge, metric))
        at = self.place[judge, metric.name]
        return float(self.ratios.value[at]), float(self.ratios.low[at]), float(self.ratios.high[at])

    def _weights(self, judge: str, metric: Metric) -> Floats:
        weights = np.zeros(len(self.place))
        for name, weight in (metric.parts or {metric.name: 1.0}).items():
            weights[self.place[judge, name]] += weight
        return weights


def _resampled(
    metrics: list[Metric],
    rows: pd.DataFrame,
    columns: dict[str, dict[str, Floats]],
    fixed: dict[str, bool],
    reps: int,
    seed: int,
) -> dict[tuple[str, str], tuple[float, float, float, Floats]]:
    """Value, percentile interval and replicates of what is no ratio; NaN bounds where no replicate moves it."""
    keys = [(judge, metric.name) for metric in metrics for judge in columns]
    if not keys or not len(rows):
        return {key: (np.nan, np.nan, np.nan, np.full(1, np.nan)) for key in keys}
    names = list(dict.fromkeys(name for metric in metrics for name in metric.columns))
    table = np.array([own[name] for own in columns.values() for name in names])

    def statistic(sums: Floats) -> Floats:
        judged = sums.reshape(len(columns), len(names), -1).swapaxes(0, 1)
        by_name = dict(zip(names, judged, strict=True))
        values = np.stack([metric.of(by_name) for metric in metrics if metric.of])
        return values.reshape(-1, values.shape[-1])

    values = statistic(table.sum(axis=1, keepdims=True))[:, 0]
    drawn = replicates(table, codes(rows["cell"]), codes(rows["instance"]), statistic, reps, seed)
    low, high = percentile_interval(drawn)
    low[still := _still(drawn)], high[still] = np.nan, np.nan
    for at, (judge, _) in enumerate(keys):
        if fixed[judge]:
            low[at] = high[at] = values[at]
    return {key: (float(values[at]), float(low[at]), float(high[at]), drawn[at]) for at, key in enumerate(keys)}


def _still(drawn: Floats) -> Any:
    return ~(np.fmax.reduce(drawn, axis=-1) - np.fmin.reduce(drawn, axis=-1) > 1e-12)


def ratios_of(rows: pd.DataFrame, above: Floats, below: Floats, **options: Any) -> Shares:
    """Ratios of column sums over rows of the tidy frame, instances being the units."""
    return shares(above, below, codes(rows["cell"]), codes(rows["instance"]), **options)
