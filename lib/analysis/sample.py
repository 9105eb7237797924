"""Labels and verdicts side by side: the rows that judges share, their column sums and their replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lib.analysis.bootstrap import replicate_metrics
from lib.analysis.quantities import (
    DENOMINATORS,
    METRICS,
    VERDICT_COLUMNS,
    Floats,
    complete,
    label_sums,
    metrics_of,
    verdict_columns,
)
from lib.errors import UserError

Mask = NDArray[np.bool_]


def ordered_judges(
    verdicts: pd.DataFrame, judges: str | Sequence[str] | None, order: Sequence[str] | None
) -> list[str]:
    """The judges to score (all, one, or several) in the run's order; ones that ``order`` does not name come last."""
    present = list(dict.fromkeys(verdicts["judge_id"]))
    wanted = set(present if judges is None else [judges] if isinstance(judges, str) else judges)
    missing = sorted(wanted - set(present))
    if missing:
        raise UserError(f"no verdicts of {', '.join(missing)}; this run has {', '.join(present) or 'none'}")
    ranked = [judge for judge in order or () if judge in present]
    return [judge for judge in dict.fromkeys([*ranked, *present]) if judge in wanted]


def point_metrics(sizes: dict[str, float], columns: Floats) -> tuple[Floats, Floats]:
    """Metrics and their denominators from a judge's quantities, one row per trajectory, each of weight one."""
    sums = complete({**sizes, **dict(zip(VERDICT_COLUMNS, columns.sum(axis=0), strict=True))})
    below = np.array([sums[DENOMINATORS[metric]] for metric in METRICS])
    return np.array(list(metrics_of(sums).values())), below


@dataclass(frozen=True)
class Sample:
    """Trajectories that each of some judges judged.

    Attributes:
        labels: their rows, sorted by cell and trajectory id, so that no order of input changes a result.
        columns: per judge its quantities on those rows.
    """

    labels: pd.DataFrame
    columns: dict[str, Floats]

    def points(self) -> dict[str, tuple[Floats, Floats]]:
        """Metrics and denominators of each judge."""
        sizes = label_sums(self.labels)
        return {judge: point_metrics(sizes, columns) for judge, columns in self.columns.items()}

    def replicates(self, reps: int, seed: int) -> dict[str, Floats]:
        """Metrics of each judge in each replicate, metrics × reps, all judges on the same resamples."""
        cells = np.unique(self.labels["cell"].to_numpy(str), return_counts=True)[1].tolist()
        values = replicate_metrics(list(self.columns.values()), label_sums(self.labels), cells, reps, seed)
        return dict(zip(self.columns, values, strict=True))


@dataclass(frozen=True)
class Table:
    """All labels, and per judge the rows that it judged, its verdicts there and its quantities (zero elsewhere)."""

    labels: pd.DataFrame
    judged: dict[str, Mask]
    verdicts: dict[str, pd.DataFrame]
    columns: dict[str, Floats]

    @classmethod
    def build(cls, trajectories: pd.DataFrame, verdicts: pd.DataFrame, judges: Sequence[str]) -> Table:
        """Align verdicts with labels.

        Raises:
            UserError: a verdict about an unknown trajectory, or two with one key.
        """
        labels = trajectories.sort_values(["cell", "trajectory_id"], ignore_index=True)
        index = pd.Index(labels["trajectory_id"])
        table = cls(labels, {}, {}, {})
        for judge in judges:
            own = verdicts[verdicts["judge_id"] == judge]
            rows = index.get_indexer(own["trajectory_id"])
            _check_keys(own, rows)
            mask = np.zeros(len(labels), dtype=bool)
            mask[rows] = True
            table.judged[judge] = mask
            table.verdicts[judge] = own.iloc[np.argsort(rows, kind="stable")]
            table.columns[judge] = np.zeros((len(labels), len(VERDICT_COLUMNS)))
            table.columns[judge][mask] = verdict_columns(labels[mask], table.verdicts[judge])
        return table

    def sample(self, judges: Sequence[str], mask: Mask) -> Sample:
        """The rows of ``mask``, which each of ``judges`` must have judged."""
        if mask.all():
            return Sample(self.labels, {judge: self.columns[judge] for judge in judges})
        return Sample(self.labels[mask], {judge: self.columns[judge][mask] for judge in judges})


def _check_keys(own: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    if (rows < 0).any():
        stray = own.iloc[int(np.argmax(rows < 0))]
        raise UserError(f"verdict of {stray['judge_id']} about unknown trajectory {stray['trajectory_id']}")
    double = own["trajectory_id"].duplicated()
    if double.any():
        row = own[double].iloc[0]
        raise UserError(f"two verdicts of {row['judge_id']} about {row['trajectory_id']}; keep one of them")
