"""Kill -9 at 200 random moments of a collection: no verdict that was written is lost, none is there twice."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from run_builders import trajectory

from lib.judging.collect import Collector
from lib.records import About, Judgement, Label, Verdict, View, view_of
from lib.run.folder import Run
from lib.run.writer import Store

KILLS = 200
JUDGES = 4
ITEMS = [trajectory(f"T-{index}", Label(False, None, None, True)) for index in range(60)]
ID_OF = {view_of(item, steps=True).token: item.trajectory_id for item in ITEMS}
KEYS = [(item.trajectory_id, f"judge-{judge}") for judge in range(JUDGES) for item in ITEMS]


class Quick:
    """A judge whose verdict on a trajectory is always the same: see ``expected``."""

    about = About(kind="quick", sees="step")

    def __init__(self, number: int) -> None:
        self.judge_id = f"judge-{number}"
        self.batch = f"batch-{number % 2}"

    def settings(self) -> dict[str, Any]:
        return {"backend": "none"}

    def judge(self, view: View) -> Judgement:
        time.sleep(0.0003)
        verdict = expected((ID_OF[view.token], self.judge_id))
        return Judgement(faulty=verdict.faulty, confidence=verdict.confidence, rationale=verdict.rationale)


def expected(key: tuple[str, str]) -> Verdict:
    """Some verdicts are long, so that a kill can land inside a write."""
    length = 400_000 if KEYS.index(key) % 8 == 0 else 200
    return Verdict(trajectory_id=key[0], judge_id=key[1], faulty=False, confidence=0.8, rationale="x" * length)


def collect(folder: Path, report: int) -> None:
    """The collector itself, four judges on four workers, which reports each verdict once the store has written it."""
    write = Store.add_verdict

    def write_and_report(store: Store, verdict: Verdict) -> None:
        write(store, verdict)
        os.write(report, json.dumps((verdict.trajectory_id, verdict.judge_id)).encode() + b"\n")

    Store.add_verdict = write_and_report  # type: ignore[method-assign]
    with ThreadPoolExecutor(4) as threads:
        Collector(threads, 4).verdicts(Run.open(folder), [Quick(number) for number in range(JUDGES)])


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
    killed = torn = runs = 0
    while killed < KILLS:
        run = Run.create(tmp_path / f"run-{runs}", {}, ITEMS)
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
