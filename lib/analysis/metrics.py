"""What a study measures of a judge: one entry a metric, from which scores, labels, tables and ``score`` all read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from lib.analysis.shares import Floats

Sums = Mapping[str, Floats]
Kind = Literal["share", "mean", "combination", "resampled"]


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        name, label: in frames and files, and for readers.
        better: 1 where more is better, −1 where less is, 0 where neither.
        digits: decimals to show.
        kind: of interval. A ``share`` and a ``mean`` are ``above`` / ``below``; a ``combination`` sums shares with
            weights; what is ``resampled`` is ``of`` column sums and has a percentile interval.
        above, below: columns whose sums are divided; ``below`` also counts n.
        parts: shares of a combination, by weight.
        of: the metric from column sums, elementwise.
        columns: what ``of`` reads.
    """

    name: str
    label: str
    better: int
    digits: int
    kind: Kind
    below: str
    above: str = ""
    parts: Mapping[str, float] | None = None
    of: Callable[[Sums], Floats] | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Registry:
    """The metrics of a study.

    Attributes:
        metrics: by name, in the order of tables.
        columns: quantities of one judge, from its rows of the tidy frame: name → one number a row.
        unit: what rows are of, in words.
    """

    metrics: Mapping[str, Metric]
    columns: Callable[[pd.DataFrame], dict[str, Floats]]
    unit: str = "trajectories"

    def named(self, kind: Kind, wanted: Sequence[str] | None = None) -> list[Metric]:
        return [m for m in self.metrics.values() if m.kind == kind and (wanted is None or m.name in wanted)]

    def values(self, sums: Sums) -> dict[str, Floats]:
        """Every metric from column sums, elementwise; NaN where undefined."""
        found: dict[str, Floats] = {}
        for metric in self.metrics.values():
            if metric.kind == "combination":
                parts = metric.parts or {}
                found[metric.name] = np.sum([weight * found[name] for name, weight in parts.items()], axis=0)
            else:
                found[metric.name] = metric.of(sums) if metric.of else ratio(sums[metric.above], sums[metric.below])
        return found


def ratio(above: Floats, below: Floats) -> Floats:
    """Quotient, NaN where the denominator is zero."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
