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
from pathlib import Path

import pytest

from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.judging.prompts import RUBRICS
from lib.records import view_of
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
        reply = {"reasoning": mark(fake.prompt_of(handler.body)), "faulty": True, "confidence": 0.9}
        limit = fake.status(429, "Please try again in 0.1s", Retry_After="0.1")
        (limit if over else fake.good(text=json.dumps(reply)))(handler)


def collect(command: list[str]) -> None:
    sys.argv = command
    with open(os.devnull, "w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        main()


def killed(folder: Path, kills: int, n: int) -> dict[str, int]:
    """Kill a collector so many times, then let one finish; asserts what must hold, and says what happened."""
    run, limited = Run.create(folder, {"dataset": {"seed": 7}}, JudgedSet(n, 7)), Limited()
    verdicts, chance = folder / "verdicts.jsonl", random.Random(7)
    before, torn, newline = b"", 0, b"\n"
    forks = multiprocessing.get_context("forkserver")  # a life then begins without importing everything anew
    forks.set_forkserver_preload(["lib.__main__"])
    with serving() as server:
        server.otherwise = limited
        command = ["lib", "collect", "--run", str(folder), "--judge", "outcome", "--model", "m"]
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
    marks = {
        t.trajectory_id: mark(RUBRICS["outcome"].prompt(view_of(t, steps=False))) for t in run.trajectories().values()
    }
    given = [(verdict.trajectory_id, verdict.rationale) for verdict in run.verdicts()]
    assert sorted(given) == sorted(marks.items()), "a verdict is missing, double, or another trajectory's"
    lines = verdicts.read_bytes().count(b"\n")
    assert lines == len(marks)
    assert run.failures() == [], "waiting for a limit was taken for a failure"
    paid = len(server.asked) - limited.refused
    assert paid - lines <= kills * WORKERS
    return {"kills": kills, "verdicts": lines, "asked twice": paid - lines, "refused": limited.refused, "torn": torn}


@pytest.mark.skipif(os.name != "posix", reason="kills as the system does")
def test_no_verdict_is_lost_or_doubled_by_kills_under_a_rate_limit(tmp_path: Path) -> None:
    happened = killed(tmp_path / "run", 4, 84)
    assert happened["refused"] > 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(killed(Path(place) / "run", int(sys.argv[1]), 980))
