"""How long scoring takes, against ``scipy.stats.bootstrap`` on the same statistics, and how it grows.

    python benchmarks/bootstrap.py

The paper's released run is used where it lies beside the project, else generated verdicts of the same shape.
Both sides give every metric of every judge and every paired difference, resampled within the eight cells.
"""

from __future__ import annotations

import itertools
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from lib import ROOT
from lib.analysis.bootstrap import distinct_rows
from lib.analysis.quantities import VERDICT_COLUMNS, complete, label_sums, metrics_of
from lib.analysis.sample import Sample, Table
from lib.analysis.scores import score
from lib.records import FAULT_TYPES
from lib.run.folder import Run

PUBLISHED = ROOT.parent / "shared" / "published"
REPS = 10_000
JUDGES = 5


def generated(n: int, judges: int = JUDGES, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels and verdicts with the shape of a run: a quarter clean, six types, one of them of both survivals."""
    rng = np.random.default_rng(seed)
    kind = np.where(np.arange(n) % 4 == 0, None, np.array(FAULT_TYPES, dtype=object)[np.arange(n) % 6])
    faulty = kind != None  # noqa: E711 (elementwise)
    correct = ~np.isin(kind.astype(str), ["ignored_observation", "premature_stop"])
    correct &= (kind != "skipped_precondition") | (np.arange(n) % 12 < 6)
    labels = pd.DataFrame({"trajectory_id": [f"t{i:07d}" for i in range(n)], "faulty": faulty, "failure_type": kind})
    labels = labels.assign(outcome_correct=correct, n_steps=6, failure_step=pd.array(faulty * 2, dtype="Int64"))
    survival = np.where(correct, "silent", "loud")
    labels["cell"] = [f"{k}/{s}" if k else "clean" for k, s in zip(kind, survival, strict=True)]
    return labels, pd.concat([_verdicts(labels, f"judge-{j}", rng) for j in range(judges)], ignore_index=True)


def _verdicts(labels: pd.DataFrame, judge: str, rng: np.random.Generator) -> pd.DataFrame:
    n = len(labels)
    flagged = rng.random(n) < np.where(labels["faulty"], 0.8, 0.2)
    return pd.DataFrame(
        {
            "trajectory_id": labels["trajectory_id"],
            "judge_id": judge,
            "faulty": flagged,
            "failure_step": pd.arrays.IntegerArray(rng.integers(0, 6, n), ~flagged),
            "failure_type": np.where(flagged, rng.choice(np.array(FAULT_TYPES), n), None),
            "confidence": rng.integers(50, 101, n) / 100,
            "latency_s": rng.gamma(2.0, 2.0, n),
            "prompt_tokens": pd.array(rng.integers(400, 1200, n), dtype="Int64"),
            "completion_tokens": pd.array(rng.integers(40, 400, n), dtype="Int64"),
            "status": "ok",
        }
    )


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Median wall-clock seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_megabytes(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


class Reference:
    """The same statistics as a function of drawn row numbers, one array per cell, as scipy's bootstrap wants it."""

    def __init__(self, sample: Sample) -> None:
        cells = sample.labels["cell"].to_numpy(str)
        self.cells = [np.flatnonzero(cells == cell) for cell in np.unique(cells)]
        self.sizes = label_sums(sample.labels)
        self.judges = len(sample.columns)
        distinct, self.place = distinct_rows(list(sample.columns.values()))
        self.table = np.ascontiguousarray(distinct.T)

    def statistic(self, *drawn: np.ndarray, axis: int = -1) -> np.ndarray:
        """Metrics of every judge and differences of every pair; ``drawn`` is (..., rows of the cell)."""
        rows = np.concatenate(drawn, axis=axis)
        sums = np.moveaxis(self.table[rows].sum(axis=-2), -1, 0)[self.place]
        judged = np.moveaxis(sums.reshape(self.judges, len(VERDICT_COLUMNS), *rows.shape[:-1]), 1, 0)
        metrics = metrics_of(complete({**self.sizes, **dict(zip(VERDICT_COLUMNS, judged, strict=True))}))
        own = np.stack(list(metrics.values()))
        pairs = [own[:, a] - own[:, b] for a, b in itertools.combinations(range(self.judges), 2)]
        return np.concatenate([own, np.stack(pairs, axis=1)], axis=1)

    def run(self, reps: int, *, vectorized: bool) -> None:
        options = {"method": "percentile", "n_resamples": reps, "rng": np.random.default_rng(0)}
        statistic = self.statistic if vectorized else lambda *drawn: self.statistic(*drawn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # a judge that catches all of a type
            stats.bootstrap(self.cells, statistic, vectorized=vectorized, batch=100, axis=-1, **options)


def against_scipy(labels: pd.DataFrame, verdicts: pd.DataFrame) -> None:
    ours = seconds(lambda: score(labels, verdicts, REPS), 5)
    judges = list(dict.fromkeys(verdicts["judge_id"]))
    print(f"ours: {ours:.2f} s for all metrics and differences of {len(judges)} judges, {REPS:,} replicates")
    table = Table.build(labels, verdicts, judges)
    reference = Reference(table.sample(judges, np.ones(len(labels), dtype=bool)))
    for name, vectorized, reps in (("vectorised", True, 1_000), ("not vectorised", False, 500)):
        took = seconds(lambda v=vectorized, r=reps: reference.run(r, vectorized=v)) * REPS / reps
        print(f"scipy, {name}: {took:.1f} s, {took / ours:.0f} times ours (measured at {reps:,}, times {REPS // reps})")


def growth() -> None:
    for n, reps in [(400, 1_000), (400, 10_000), (400, 100_000), (4_000, 10_000), (40_000, 1_000), (128_000, 1_000)]:
        labels, verdicts = generated(n)
        took = seconds(lambda f=(labels, verdicts), r=reps: score(*f, r))
        peak = peak_megabytes(lambda f=(labels, verdicts), r=reps: score(*f, r))
        print(f"n = {n:>7,}, {reps:>7,} replicates, {JUDGES} judges: {took:6.2f} s, peak {peak:5.0f} MB")


def main() -> None:
    published = PUBLISHED.is_dir()
    labels, verdicts = Run.open(PUBLISHED).frames(text=False) if published else generated(400)
    print(f"{'the released run' if published else 'generated verdicts'}: {len(labels)} trajectories")
    score(labels, verdicts, 10)
    against_scipy(labels, verdicts)
    growth()


if __name__ == "__main__":
    main()
