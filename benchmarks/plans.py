"""How long part II's published size takes: every plan scored, every cell bootstrapped over records, and the growth.

    python benchmarks/plans.py

The largest row has the published size: 3,808 records × 3 tiers × 5 planners × 6 judges less what was not judged
(321,648 tuples), each with and without a reference. Plans are made with known faults, verdicts drawn around the truth.
"""

from __future__ import annotations

import itertools
import resource
import time

import numpy as np
from msgspec.structs import astuple

from lib.analysis.resample import percentile_interval, replicates
from lib.plans.faults import plans
from lib.plans.generate import generate
from lib.plans.measures import alignment, ceiling, floor, skill
from lib.plans.records import METRICS, TIERS, TOPOLOGIES
from lib.plans.score import corrected, score

RECORDS, PLANNERS, JUDGES, CONDITIONS, REPS = 3_808, 5, 6, 2, 10_000
JUDGED = 321_648 / (RECORDS * len(TIERS) * PLANNERS * JUDGES)
CELLS = CONDITIONS * JUDGES * len(TIERS) * PLANNERS


def truths(records: int, rng: np.random.Generator) -> np.ndarray:
    """Scores of a plan for every record, tier and planner, shape records × (tiers × planners) × metrics, sorted by
    topology; every plan is scored by the equations and corrected."""
    made = [[(r, p) for p in plans(r, 0)] for r in sorted(generate(0, 10), key=lambda r: r.topology)]
    scores = np.empty((records, len(TIERS) * PLANNERS, len(METRICS)))
    for i, j in itertools.product(range(records), range(len(TIERS) * PLANNERS)):
        choices = made[i * len(made) // records]
        record, plan = choices[rng.integers(len(choices))]
        scores[i, j] = astuple(score(plan.calls, record.expected))
        corrected(plan.calls, record)
    return scores


def verdicts(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Levels of every judge in every condition, shape conditions × judges × those of ``truth``; NaN if not judged."""
    levels = np.empty((CONDITIONS, JUDGES, *truth.shape), dtype=np.float32)
    for condition, judge in itertools.product(range(CONDITIONS), range(JUDGES)):
        noise = rng.normal(0, 0.1 + 0.1 * judge, truth.shape)
        said = np.clip(np.round(2 * (truth + noise)) / 2, 0, 1)
        said[rng.random(truth.shape[:2]) > JUDGED] = np.nan
        levels[condition, judge] = said
    return levels


def skills(truth: np.ndarray, levels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Interval of alignment, skill and lift of every cell: records drawn within topologies, shared by all judges."""
    records = len(truth)
    given = ~np.isnan(levels[..., 0])
    bounds = np.broadcast_to(np.stack([floor(truth).mean(-1), ceiling(truth).mean(-1)]), (2, *truth.shape[:2]))
    sums = np.empty((4, CONDITIONS * JUDGES, *truth.shape[:2]))
    for place, (condition, judge) in enumerate(itertools.product(range(CONDITIONS), range(JUDGES))):
        seen = given[condition, judge]
        aligned = np.nan_to_num(alignment(truth, levels[condition, judge]).mean(-1))
        sums[:, place] = aligned, bounds[0] * seen, bounds[1] * seen, seen
    columns = sums.transpose(0, 1, 3, 2).reshape(-1, records)

    topology = np.arange(records) * len(TOPOLOGIES) // records
    summed = np.zeros((len(columns), REPS))
    for kind in range(len(TOPOLOGIES)):
        own = np.ascontiguousarray(columns[:, topology == kind])
        one_cell, unit = np.zeros(own.shape[1], np.intp), np.arange(own.shape[1])
        summed += replicates(own, one_cell, unit, lambda sums: sums, REPS, seed + kind)
    aligned, low, high, n = summed.reshape(4, CELLS, -1)
    means = aligned / n
    return percentile_interval(
        np.concatenate([means, skill(means, low / n, high / n), np.subtract(*np.split(means, 2))])
    )


def main() -> None:
    print(f"{REPS:,} replicates, {CELLS} cells, three measures each")
    print("  records    tuples  score (s)  bootstrap (s)  peak (MB)")
    for records in (RECORDS // 16, RECORDS // 4, RECORDS):
        rng = np.random.default_rng(0)
        start = time.perf_counter()
        truth = truths(records, rng)
        scored = time.perf_counter()
        levels = verdicts(truth, rng)
        drawn = time.perf_counter()
        skills(truth, levels, seed=0)
        done = time.perf_counter()
        tuples = int((~np.isnan(levels[0, ..., 0])).sum())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{records:9,} {tuples:9,} {scored - start:10.1f} {done - drawn:14.1f} {peak:10,.0f}")


if __name__ == "__main__":
    main()
