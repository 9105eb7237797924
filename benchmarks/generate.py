"""How fast trajectories are made, how that grows, and what the order of a judged set takes in memory.

    python benchmarks/generate.py [trajectories ...; 10,000 and 100,000 by default]

Making is timed alone and with writing (as `python -m lib dataset` does). The bytes are those that Python traced at
their peak while a set was drawn and shuffled, measured in a pass of its own since tracing slows it down; and those
held while its trajectories go by.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from lib.desk.injector import JudgedSet
from lib.run.folder import Run

SEED = 7
SIZES = (10_000, 100_000)
LONGEST_TRACED = 2_000


def cpu(action: Callable[[], object]) -> float:
    """Processor seconds, which other work on the machine changes little."""
    start = time.process_time()
    action()
    return time.process_time() - start


def exhaust(judged: JudgedSet) -> None:
    for _ in judged:
        pass


def write(judged: JudgedSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Run.create(Path(folder) / "run", {}, judged)


def traced(n: int) -> tuple[float, float]:
    """Peak bytes a trajectory of the order, and peak kilobytes while the first trajectories go by."""
    tracemalloc.start()
    judged = JudgedSet(n, SEED)
    order = tracemalloc.get_traced_memory()[1] / n
    tracemalloc.reset_peak()
    held = tracemalloc.get_traced_memory()[0]
    for _, _ in zip(range(LONGEST_TRACED), judged, strict=False):
        pass
    passing = (tracemalloc.get_traced_memory()[1] - held) / 1024
    tracemalloc.stop()
    return order, passing


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    titles = ["trajectories", "order, s", "made/s", "written/s", "order, bytes each", "passing, kB"]
    print("".join(f"{title:>19}" for title in titles), flush=True)
    for n in sizes:
        drawn = cpu(lambda n=n: JudgedSet(n, SEED))  # type: ignore[misc]
        judged = JudgedSet(n, SEED)
        rates = [n / cpu(lambda judged=judged, do=do: do(judged)) for do in (exhaust, write)]  # type: ignore[misc]
        order, passing = traced(n)
        row = [f"{n:,}", f"{drawn:.2f}", *(f"{rate:,.0f}" for rate in rates), f"{order:.1f}", f"{passing:.0f}"]
        print("".join(f"{cell:>19}" for cell in row), flush=True)


if __name__ == "__main__":
    main()
