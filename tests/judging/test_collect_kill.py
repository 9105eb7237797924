"""Collectors killed in the middle, by a server that limits their rate: no verdict is lost, changed or given twice.

python -m tests.judging.test_collect_kill 200    kills that many, which takes some minutes
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.judging.neutralise import neutralise
from lib.judging.prompts import RUBRICS
from lib.plans.faults import some_plans
from lib.plans.generate import generate
from lib.plans.prompts import CONDITIONS, judge_prompt
from lib.plans.records import METRICS
from lib.plans.study import PLANS, RECORDS
from lib.records import About, view_of
from lib.run.folder import Run
from tests.judging import fake_server as fake
from tests.judging.fake_server import serving

WINDOW, MOST_A_WINDOW, WORKERS = 0.25, 8, 4


def mark(prompt: str) -> str:
    return hashlib.sha256(prompt.encode()).hexdigest()


class Limited:
    """Answers so many requests a window, each with a mark of its prompt, and refuses the others with 429."""

    def __init__(self) -> None:
        self.began, self.answered, self.refused, self.is_on = 0.0, 0, 0, True

    def __call__(self, handler: fake.Handler) -> None:
        now = time.monotonic()
        with handler.server.turn:
            if now - self.began > WINDOW:
                self.began, self.answered = now, 0
            self.answered += 1
            over = self.is_on and self.answered > MOST_A_WINDOW
            self.refused += over
        marked = mark(fake.prompt_of(handler.body))
        reply = {"reasoning": marked, "faulty": True, "confidence": 0.9, "overall_assessment": marked}
        reply |= dict.fromkeys(METRICS, 0.5)
        limit = fake.status(429, "Please try again in 0.1s", Retry_After="0.1")
        (limit if over else fake.good(text=json.dumps(reply)))(handler)


def collect(command: list[str]) -> None:
    sys.argv = command
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        main()


def trajectories(folder: Path, n: int) -> tuple[Run, dict[Any, str]]:
    """A run of part I, and the prompt of its outcome judge by trajectory."""
    run = Run.create(folder, {"dataset": {"seed": 7}}, JudgedSet(n, 7))
    asked = RUBRICS["outcome"]
    return run, {(name,): asked.prompt(view_of(one, steps=False)) for name, one in run.trajectories().items()}


def plans(folder: Path, n: int) -> tuple[Run, dict[Any, str]]:
    """A run of part II, and the prompt of its judge with a reference by plan and tier."""
    records = generate(7, 2)
    some = some_plans(records, 7, 2)[: n // 3]
    run = Run.create(folder, {"dataset": {"seed": 7}}, some, PLANS, {RECORDS.file: records})
    shown = {case.key: case.view(About(kind="with")) for case in PLANS.cases(run)}
    return run, {key: judge_prompt(CONDITIONS["with"], view, neutralise) for key, view in shown.items()}


def killed(
    folder: Path, kills: int, n: int, made: Callable[[Path, int], tuple[Run, dict[Any, str]]] = trajectories
) -> dict[str, int]:
    """Kill a collector so many times, then let one finish; asserts what must hold, and says what happened."""
    (run, prompts), limited = made(folder, n), Limited()
    verdicts, chance = folder / "verdicts.jsonl", random.Random(7)
    before, torn, newline = b"", 0, b"\n"
    forks = multiprocessing.get_context("forkserver")  # a life then begins without importing everything anew
    forks.set_forkserver_preload(["lib.__main__"])
    with serving() as server:
        server.otherwise = limited
        judge = "with" if run.study is PLANS else "outcome"
        command = ["lib", "collect", "--run", str(folder), "--judge", judge, "--model", "m"]
        command += ["--backend", "openai", "--base-url", f"http://{server.address}/v1", "--workers", str(WORKERS)]
        for _ in range(kills):
            asked = len(server.asked)
            started = forks.Process(target=collect, args=(command,))
            started.start()
            while len(server.asked) == asked and started.is_alive():
                time.sleep(0.005)
            time.sleep(chance.uniform(0.0, 0.2))
            started.kill()
            started.join()
            after = verdicts.read_bytes() if verdicts.exists() else b""
            assert after.startswith(before[: before.rfind(b"\n") + 1]), "a verdict was lost or changed"
            torn += not after.endswith(b"\n")
            before = after
            print(f"killed after {after.count(newline)} verdicts", file=sys.stderr, flush=True)
        limited.is_on = False
        last = forks.Process(target=collect, args=(command,))
        last.start()
        last.join()
        assert last.exitcode == 0
    marks = {key: mark(prompt) for key, prompt in prompts.items()}
    of, said = run.study.verdicts.key[:-1], "overall" if run.study is PLANS else "rationale"
    given = [(tuple(getattr(each, name) for name in of), getattr(each, said)) for each in run.verdicts()]
    assert sorted(given) == sorted(marks.items()), "a verdict is missing, double, or on something else"
    lines = verdicts.read_bytes().count(b"\n")
    assert lines == len(marks)
    assert run.failures() == [], "waiting for a limit was taken for a failure"
    paid = len(server.asked) - limited.refused
    assert paid - lines <= kills * WORKERS
    return {"kills": kills, "verdicts": lines, "asked twice": paid - lines, "refused": limited.refused, "torn": torn}


@pytest.mark.skipif(os.name != "posix", reason="kills as the system does")
@pytest.mark.parametrize(("made", "kills"), [(trajectories, 4), (plans, 2)])
def test_no_verdict_is_lost_or_doubled_by_kills_under_a_rate_limit(tmp_path: Path, made: Any, kills: int) -> None:
    happened = killed(tmp_path / "run", kills, 84, made)
    assert happened["refused"] > 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(killed(Path(place) / "run", int(sys.argv[1]), 980))
