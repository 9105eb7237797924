"""How fast a run loads and in how much memory: 64,000, 160,000 and 640,000 verdicts.

    python benchmarks/load.py [folder of a run whose texts are repeated; the run `local` by default]

Each size is a run of its own in a temporary folder, made by repeating the verdicts of a run under new ids, and is read
in a process of its own so that the peak is that size's. Memory is given above that of an idle process; processor time
is given beside wall-clock time since other work on the machine changes only the latter much.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from msgspec.structs import replace

from lib import ROOT
from lib.records import Trajectory
from lib.run.folder import Run
from lib.trajectories import VERDICTS

SIZES = (64_000, 160_000, 640_000)
JUDGES = 5


def repeated(source: Run, n: int) -> Iterator[Trajectory]:
    """n trajectories under new ids, of a size like those of the source."""
    for index, trajectory in enumerate(islice(cycle(source.trajectories().values()), n)):
        yield replace(trajectory, trajectory_id=f"{trajectory.trajectory_id}-{index}")


def make(source: Run, folder: Path, n_verdicts: int) -> None:
    """A run with that many verdicts: five judges on each trajectory, texts repeated from the source."""
    texts = cycle([verdict for verdict in source.verdicts() if not verdict.faulty])
    run = Run.create(folder, {}, repeated(source, n_verdicts // JUDGES))
    ids = run.frames().trajectories["trajectory_id"]
    with (run.folder / "verdicts.jsonl").open("wb") as file:
        for trajectory_id in ids:
            for judge, verdict in zip(range(JUDGES), texts, strict=False):
                key = {"trajectory_id": trajectory_id, "judge_id": f"judge-{judge}"}
                file.write(VERDICTS.spelling.encode(replace(verdict, **key)))


def megabytes() -> float:
    """This process's peak; on Linux its own, since what ``resource`` tells there began with the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: Path, text: bool) -> None:
    """Load once and print a row."""
    idle, start, cpu_start = megabytes(), time.perf_counter(), time.process_time()
    frames = Run.open(folder).frames(text=text)
    seconds, cpu, n = time.perf_counter() - start, time.process_time() - cpu_start, len(frames.verdicts)
    size = (folder / "verdicts.jsonl").stat().st_size / 2**20
    kind = "with text" if text else "scores only"
    peak = megabytes() - idle
    print(f"{n:>9,} {kind:>12} {size:>9.0f} {seconds:>8.2f} {cpu:>8.2f} {n / cpu:>14,.0f} {peak:>10.0f}", flush=True)


def main() -> None:
    source = Run.open(sys.argv[1] if len(sys.argv) > 1 else "local")
    print(f"{'verdicts':>9} {'loaded':>12} {'file, MB':>9} {'seconds':>8} {'CPU, s':>8}", end=" ")
    print(f"{'verdicts/CPU s':>14} {'peak, MB':>10}", flush=True)
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            make(source, Path(folder), size)
            for text in ("", "text"):
                subprocess.run([sys.executable, __file__, "--measure", folder, text], check=True, cwd=ROOT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), bool(sys.argv[3]))
    else:
        main()
