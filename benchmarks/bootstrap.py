"""How long scoring takes, against ``scipy.stats.bootstrap`` on the same statistics, and how it grows.

    python benchmarks/bootstrap.py

Every metric of five judges and every paired difference, on the paper's 400 trajectories, instances resampled within
the eight cells kept; scipy resamples the same units. Then made-up verdicts of more trajectories.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy import stats

from lib import RUNS, bench
from lib.analysis.bench import Bench
from lib.analysis.resample import percentile_interval, replicates
from lib.analysis.shares import Codes, Floats, codes
from lib.analysis.trajectory_metrics import TRAJECTORY_METRICS

REPS = 10_000
JUDGES = 5
METRICS = len(TRAJECTORY_METRICS.metrics)


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Least wall-clock seconds: what else the machine does only ever adds to them."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


class Whole:
    """Every metric and difference of some judges as one statistic of column sums."""

    def __init__(self, columns: list[dict[str, Floats]]) -> None:
        self.names, self.judges = list(columns[0]), len(columns)
        self.table = np.array([values for own in columns for values in own.values()])

    def statistic(self, sums: Floats) -> Floats:
        judged = sums.reshape(self.judges, len(self.names), -1).swapaxes(0, 1)
        own = np.stack(list(TRAJECTORY_METRICS.values(dict(zip(self.names, judged, strict=True))).values()))
        pairs = [own[:, a] - own[:, b] for a, b in itertools.combinations(range(self.judges), 2)]
        return np.concatenate([own, np.stack(pairs, axis=1)], axis=1).reshape(-1, sums.shape[-1])

    def ours(self, cell: Codes, unit: Codes, reps: int) -> None:
        percentile_interval(replicates(self.table, cell, unit, self.statistic, reps, 0))

    def scipys(self, cell: Codes, unit: Codes, reps: int) -> None:
        """Units drawn by scipy; their sums within cells are looked up, added and reweighted, vectorised over draws."""
        cells = int(cell.max()) + 1
        place = unit * cells + cell
        held = np.zeros((int(unit.max() + 1) * cells, len(self.table) + 1))
        np.add.at(held, place, np.column_stack([self.table.T, np.ones(cell.size)]))
        held = held.reshape(-1, cells, len(self.table) + 1)
        sizes = np.bincount(cell)

        def statistic(drawn: np.ndarray, axis: int = -1) -> np.ndarray:
            summed = held[drawn].sum(axis=-3)
            kept = summed[..., :-1] * (sizes[:, None] / summed[..., -1:])
            return self.statistic(kept.sum(axis=-2).reshape(-1, len(self.table)).T)

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            stats.bootstrap(
                (np.arange(len(held)),), statistic, method="percentile", n_resamples=reps, batch=20, rng=0, axis=-1
            )


def against_scipy(board: Bench) -> None:
    own = dict(list(board.verdicts.groupby("judge", sort=False)))
    whole = Whole([TRAJECTORY_METRICS.columns(rows) for rows in own.values()])
    rows = next(iter(own.values()))
    design = codes(rows["cell"]), codes(rows["instance"])
    ours = seconds(lambda: whole.ours(*design, REPS), 5)
    print(
        f"all resampled: {ours:.2f} s, {METRICS} metrics and their differences, {len(own)} judges, {REPS:,} replicates"
    )

    def used() -> None:
        fresh = Bench(board.verdicts, board.about, reps=REPS)
        fresh.score()
        for a, b in itertools.combinations(board.judges, 2):
            fresh.paired(a, b)

    print(f"as the book does it, from the frame, {METRICS} metrics and 10 pairs: {seconds(used, 3):.2f} s")
    theirs = seconds(lambda: whole.scipys(*design, 200)) * REPS / 200
    print(f"scipy, vectorised: {theirs:.1f} s, {theirs / ours:.0f} times ours (measured at 200, times {REPS // 200})")


def made_up(n: int, judges: int, seed: int = 0) -> tuple[list[dict[str, Floats]], Codes, Codes]:
    """Columns of the bootstrapped metrics for n trajectories, four an instance, in eight cells."""
    rng = np.random.default_rng(seed)
    cell = rng.permutation(np.arange(n) % 8)
    found = []
    for _ in range(judges):
        flagged = (rng.random(n) < np.where(cell > 1, 0.8, 0.2)).astype(np.float32)
        off = rng.integers(50, 101, n).astype(np.float32) / 100 - flagged
        found.append({"caught": flagged * (cell > 1), "flagged": flagged, "faults": (cell > 1) * 1.0, "off": off})
    return found, cell, np.arange(n) // 4


def growth(most: int) -> None:
    for n, judges, reps in [
        (400, 5, 100_000),
        (4_000, 5, 10_000),
        (128_000, 5, 1_000),
        (1_000_000, 5, 1_000),
        (10_000_000, 5, 1_000),
    ]:
        if n > most:
            continue
        columns, cell, unit = made_up(n, judges)
        table = np.array([values for own in columns for values in own.values()])

        def f1(sums: Floats, judges: int = judges) -> Floats:
            caught, flagged, faults, off = sums.reshape(judges, 4, -1).swapaxes(0, 1)
            return np.concatenate([2 * caught / (flagged + faults), off])

        took = seconds(lambda t=table, c=cell, u=unit, f=f1, r=reps: replicates(t, c, u, f, r, 0))
        print(f"{n:>10,} trajectories, {judges} judges, {reps:>7,} replicates: {took:6.1f} s", flush=True)


def main() -> None:
    board = bench.open(RUNS / "paper")
    against_scipy(board)
    growth(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)


if __name__ == "__main__":
    main()
