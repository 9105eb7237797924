"""Kill -9 at 200 random moments: no verdict that was reported as written is lost, none is there twice."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from run_builders import trajectory

from lib.records import Label, Verdict
from lib.runs import Run

KILLS = 200
KEYS = [(f"T-{index}", f"judge-{judge}") for judge in range(4) for index in range(60)]


def expected(key: tuple[str, str]) -> Verdict:
    """A fake judge. Some verdicts are long, so that a kill can land inside a write."""
    length = 400_000 if KEYS.index(key) % 8 == 0 else 200
    return Verdict(trajectory_id=key[0], judge_id=key[1], faulty=False, confidence=0.8, rationale="x" * length)


def collect(folder: Path, report: int) -> None:
    """Collect what is missing with four threads; report a verdict once the store says that it is written."""
    with Run.open(folder).collecting() as store, ThreadPoolExecutor(4) as threads:
        for judge in range(4):
            store.register_judge(f"judge-{judge}", {"judge": judge}, {"started": time.time()})

        def judge_one(key: tuple[str, str]) -> None:
            time.sleep(0.0003)
            store.add_verdict(expected(key))
            os.write(report, json.dumps(key).encode() + b"\n")

        list(threads.map(judge_one, [key for key in KEYS if key not in store.done]))


def start(folder: Path) -> tuple[int, int]:
    """A collector in a process of its own: its id, and the pipe on which it reports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            collect(folder, writing)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    return child, reading


def kill_at_a_random_moment(child: int, pipe: int, rng: random.Random) -> tuple[bytes, bool]:
    """Kill after a random number of reports (or while it is still opening the run).

    Returns:
        The reports, and whether the collector had ended by itself.
    """
    reports = b""
    awaited = rng.randint(0, 12)
    while reports.count(b"\n") < awaited and (block := os.read(pipe, 65536)):
        reports += block
    time.sleep(rng.uniform(0, 0.002) if awaited else rng.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    while block := os.read(pipe, 65536):
        reports += block
    os.close(pipe)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the collector failed by itself"
    return reports, not os.WIFSIGNALED(status)


def check(run: Run, reported: set[tuple[str, str]]) -> None:
    verdicts = run.verdicts()
    found = {(verdict.trajectory_id, verdict.judge_id): verdict for verdict in verdicts}
    assert reported <= found.keys(), "a verdict that was reported as written is lost"
    assert all(verdict == expected(key) for key, verdict in found.items())
    path = run.folder / "verdicts.jsonl"
    whole = path.read_bytes().count(b"\n") if path.exists() else 0
    assert whole == len(found), "a verdict is there twice"
    assert run.manifest["dataset"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_no_verdict_is_lost_and_none_is_there_twice_when_the_collector_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(20)
    label = Label(False, None, None, True)
    items = [trajectory(f"T-{index}", label) for index in range(60)]
    killed = torn = runs = 0
    while killed < KILLS:
        run = Run.create(tmp_path / f"run-{runs}", {}, items)
        runs += 1
        reported: set[tuple[str, str]] = set()
        complete = False
        while not complete and killed < KILLS:
            reports, complete = kill_at_a_random_moment(*start(run.folder), rng)
            killed += not complete
            reported |= {tuple(json.loads(line)) for line in reports.splitlines(keepends=True) if line.endswith(b"\n")}
            check(run, reported)
        child, pipe = start(run.folder)
        while os.read(pipe, 65536):
            pass
        os.close(pipe)
        assert os.waitpid(child, 0)[1] == 0
        check(run, set(KEYS))
        side = run.folder / "verdicts.jsonl.torn"
        torn += side.read_bytes().count(b"\n") if side.exists() else 0
    with capsys.disabled():
        print(f"\n{killed} kills over {runs} runs: {torn} torn lines set aside, no verdict lost, none twice")
