"""The collector: what it asks, in which order, what it keeps, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lib import ROOT
from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.errors import UserError
from lib.judging.clients import Client, ContextOverflow, Decoding, Target, TransportError
from lib.judging.clients.ollama import OllamaClient
from lib.judging.clients.openai import OpenAIClient
from lib.judging.clients.pace import Pace
from lib.judging.collect import Collected, Collector
from lib.judging.judge import Judge
from lib.judging.llm import PromptJudge
from lib.judging.prompts import RUBRICS
from lib.records import About, Judgement, View, view_of
from lib.run.folder import Run
from tests.judging import fake_server as fake
from tests.judging.fake_server import FakeServer, serving
from tests.judging.fakes import FakeJudge, clean

ANSWER = About(kind="fake", sees="outcome")


def make(folder: Path, n: int) -> Run:
    return Run.create(folder, {"dataset": {"seed": 7, "n": n}}, JudgedSet(n, 7))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Eight trajectories."""
    return make(tmp_path / "run", 8)


@pytest.fixture
def long_run(tmp_path: Path) -> Run:
    """Twenty-three trajectories."""
    return make(tmp_path / "long", 23)


def collect(run: Run, *judges: Judge, workers: int = 1, limit: int | None = None) -> Collected:
    with ThreadPoolExecutor(workers) as threads:
        return Collector(threads, workers, "http://here/v1").verdicts(run, judges, limit)


def keys(run: Run) -> list[tuple[str, str]]:
    return [(verdict.trajectory_id, verdict.judge_id) for verdict in run.verdicts()]


def tokens(run: Run) -> list[str]:
    return [view_of(trajectory, steps=True).token for trajectory in run.trajectories().values()]


def answering(*answers: Judgement | Exception) -> Callable[[View], Judgement]:
    """These answers in turn, then clean ones."""
    waiting = iter(answers)

    def answer(view: View) -> Judgement:
        said = next(waiting, None)
        if isinstance(said, Exception):
            raise said
        return said or clean(view)

    return answer


def test_every_judge_gives_one_verdict_on_every_trajectory(run: Run) -> None:
    unread = Judgement(faulty=False, confidence=0.5, status="truncated")
    done = collect(run, FakeJudge("a", answering(unread)), FakeJudge("b", batch="other"))
    assert (done.kept, done.not_ok, done.failures) == (16, 1, 0)
    assert sorted(keys(run)) == sorted((trajectory, judge) for judge in ("a", "b") for trajectory in run.trajectories())
    assert sorted(verdict.rationale for verdict in run.verdicts()[8:]) == sorted(tokens(run))


def test_trajectories_of_one_instance_are_judged_one_after_the_other(run: Run) -> None:
    collect(run, FakeJudge())
    instances = [run.trajectories()[trajectory].instance_id for trajectory, _ in keys(run)]
    assert instances == sorted(instances) != [one.instance_id for one in run.trajectories().values()]


def test_run_json_says_what_judged_and_when_and_where(run: Run) -> None:
    collect(run, FakeJudge("a", more={"model": "m"}), limit=2)
    entry = run.manifest["judges"]["a"]
    [started] = entry.pop("collections")
    assert entry == {"about": {"kind": "fake", "sees": "step"}, "backend": "fake", "model": "m"}
    assert (started["endpoint"], started["limit"]) == ("http://here/v1", 2)
    assert started["machine"]
    assert started["started"].endswith("+00:00")


def test_a_second_start_asks_only_for_what_is_missing(run: Run) -> None:
    collect(run, FakeJudge())
    path = run.folder / "verdicts.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[5:]))
    again = FakeJudge()
    assert collect(run, again).kept == 3
    assert [view.token for view in again.seen] == tokens(run)[2:5]
    nothing = FakeJudge()
    assert collect(run, nothing).kept == 0
    assert nothing.seen == []
    assert sorted(keys(run)) == sorted((trajectory, "fake") for trajectory in run.trajectories())


def test_a_torn_last_line_is_named_and_judged_again(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    collect(run, FakeJudge())
    path = run.folder / "verdicts.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert collect(run, FakeJudge()).kept == 1
    assert "verdicts.jsonl, line 8: cut short" in caplog.text
    assert len(keys(run)) == 8


def test_a_limit_takes_a_prefix_and_a_later_start_goes_on(run: Run) -> None:
    first, rest = FakeJudge(), FakeJudge()
    assert collect(run, first, limit=3).kept == 3
    assert {view.token for view in first.seen} == set(tokens(run)[:3])
    assert collect(run, rest).kept == 5
    assert {view.token for view in rest.seen} == set(tokens(run)[3:])


def test_judges_of_one_batch_are_asked_trajectory_by_trajectory_and_batches_in_turn(run: Run) -> None:
    step, ensemble = FakeJudge("step", batch="step"), FakeJudge("selfcons3", batch="step")
    collect(run, step, FakeJudge("outcome", batch="outcome", about=ANSWER), ensemble, limit=3)
    ids = list(run.trajectories())[:3]
    together = [(trajectory, judge) for trajectory in ids for judge in ("step", "selfcons3")]
    assert keys(run) == [*together, *((trajectory, "outcome") for trajectory in ids)]


def test_a_judge_is_handed_its_own_view(run: Run) -> None:
    whole, answer = FakeJudge("whole"), FakeJudge("answer", about=ANSWER)
    collect(run, whole, answer, limit=2)
    assert all(view.steps for view in whole.seen)
    assert [view.steps for view in answer.seen] == [None, None]


def test_a_failed_call_is_kept_apart_never_scored_and_tried_again(run: Run) -> None:
    failing = FakeJudge(answer=answering(TransportError("cut", attempts=4), ContextOverflow("too long: --context")))
    assert collect(run, failing) == Collected(kept=6, failures=2, last_failure="too long: --context")
    ids = list(run.trajectories())
    transport, context = run.failures()
    assert transport.pop("at") <= context.pop("at")
    about = {"kind": "transport", "error": "cut", "attempts": 4}
    assert transport == {"trajectory_id": ids[0], "judge_id": "fake"} | about
    assert (context["trajectory_id"], context["kind"], context["attempts"]) == (ids[1], "context", 1)
    assert "--context" in context["error"]
    assert len(keys(run)) == 6
    again = FakeJudge()
    assert collect(run, again) == Collected(kept=1, passed_over=1)
    assert [view.token for view in again.seen] == tokens(run)[:1]
    with ThreadPoolExecutor(1) as threads:
        assert Collector(threads).verdicts(run, [again], again="failed") == Collected(kept=1)
    assert len(run.failures()) == 2


def gone() -> TransportError:
    return TransportError("gone", attempts=4)


def test_ten_failures_in_a_row_stop_the_collection(long_run: Run) -> None:
    judge = FakeJudge(answer=answering(Judgement(faulty=True, confidence=0.9), *(gone() for _ in range(20))))
    with pytest.raises(
        UserError, match=r"10 calls in a row failed, the last with: gone\. Everything collected is kept"
    ):
        collect(long_run, judge)
    assert len(judge.seen) == 11
    assert len(long_run.failures()) == 10
    assert len(keys(long_run)) == 1


def test_an_answer_between_failures_starts_the_count_again(long_run: Run) -> None:
    said = Judgement(faulty=True, confidence=0.9)
    judge = FakeJudge(answer=answering(*(gone() for _ in range(9)), said, *(gone() for _ in range(9))))
    assert collect(long_run, judge) == Collected(kept=5, failures=18, last_failure="gone")


def test_a_prompt_that_fills_the_context_neither_counts_nor_starts_again(long_run: Run) -> None:
    long = [ContextOverflow("too long") for _ in range(11)]
    full = Collected(kept=12, failures=11, last_failure="too long")
    assert collect(long_run, FakeJudge("a", answering(*long))) == full
    nine, one = [gone() for _ in range(9)], [gone()]
    with pytest.raises(UserError, match="10 calls in a row"):
        collect(long_run, FakeJudge("b", answering(*nine, *long, *one)))


def test_what_is_in_flight_is_kept_when_a_client_meets_what_no_repetition_mends(run: Run) -> None:
    all_in_flight, given_up = threading.Barrier(3), threading.Event()
    order = iter(range(3))

    def answer(view: View) -> Judgement:
        mine = next(order)
        all_in_flight.wait(10)
        if mine == 1:
            given_up.set()
            raise UserError("no such model: pull it")
        given_up.wait(10)
        time.sleep(0.05)
        return clean(view)

    judge = FakeJudge(answer=answer)
    with pytest.raises(UserError, match="pull it"):
        collect(run, judge, workers=3)
    assert len(judge.seen) == 3
    assert len(keys(run)) == 2
    assert run.failures() == []


@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_than_the_workers_are_in_flight(long_run: Run, workers: int) -> None:
    under_way, most = 0, 0
    turn = threading.Lock()

    def answer(view: View) -> Judgement:
        nonlocal under_way, most
        with turn:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.01)
        with turn:
            under_way -= 1
        return clean(view)

    with ThreadPoolExecutor(8) as threads:
        done = Collector(threads, workers).verdicts(long_run, [FakeJudge(answer=answer)])
    assert done.kept == 23
    assert most == workers


def test_a_second_collector_is_told_who_holds_the_run(run: Run) -> None:
    with run.collecting(), pytest.raises(UserError, match=rf"another collector .*process {os.getpid()} on "):
        collect(run, FakeJudge())
    assert collect(run, FakeJudge()).kept == 8


def test_other_settings_under_the_same_id_are_refused_before_anything_is_asked(run: Run) -> None:
    collect(run, FakeJudge("step:m", more={"digest": "one"}), limit=1)
    other = FakeJudge("step:m", more={"digest": "two"})
    with pytest.raises(UserError, match='digest: recorded "one", now "two"'):
        collect(run, other)
    assert other.seen == []
    assert len(keys(run)) == 1


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as running:
        yield running


def clients(server: FakeServer) -> dict[str, Client]:
    url = f"http://{server.address}"
    return {
        "openai": OpenAIClient(Target(model="m", base_url=url), Pace(attempts=2, first_wait=0.0)),
        "ollama": OllamaClient(Target(model="m", base_url=url), Pace(attempts=2, first_wait=0.0)),
    }


@pytest.mark.parametrize("backend", ["openai", "ollama"])
def test_a_server_that_fails_now_and_then_loses_no_verdict(run: Run, server: FakeServer, backend: str) -> None:
    server.pages = {"/api/version": {"version": "1"}, "/api/tags": {"models": []}}
    judge = PromptJudge(RUBRICS["outcome"], clients(server)[backend], Decoding(timeout=5.0))
    twice = [fake.status(500), fake.cut]
    server.script = [fake.good(), *twice, fake.good(finish_reason="length"), fake.status(503), fake.good()]
    done = collect(run, judge)
    [failure] = run.failures()
    assert (done.kept, done.not_ok, done.failures, done.last_failure) == (7, 1, 1, failure["error"])
    assert (failure["trajectory_id"], failure["attempts"]) == (list(run.trajectories())[1], 2)
    assert collect(run, judge) == Collected(kept=1)
    assert sorted(keys(run)) == sorted((trajectory, "outcome:m") for trajectory in run.trajectories())
    assert all(verdict.raw_reply == fake.VERDICT for verdict in run.verdicts())


def arguments(run: Run, server: FakeServer) -> list[str]:
    asked = ["collect", "--run", str(run.folder), "--judge", "outcome", "--model", "m", "--backend", "openai"]
    return [*asked, "--base-url", f"http://{server.address}/v1", "--workers", "2"]


def interruptible(command: list[str]) -> subprocess.Popen[str]:
    """A process that an interrupt reaches, also where the tests themselves run in the background with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)


def waited_for(condition: Callable[[], bool], seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.mark.skipif(os.name != "posix", reason="sends an interrupt as a terminal does")
def test_an_interrupt_keeps_what_is_in_flight_and_the_same_command_goes_on(
    long_run: Run, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script = [fake.slow(0.2) for _ in range(23)]
    command = [sys.executable, "-m", "lib", *arguments(long_run, server)]
    started = interruptible(command)
    assert waited_for(lambda: len(server.asked) >= 5)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    kept = keys(long_run)
    assert 4 <= len(kept) == len(server.asked) < 23
    assert not (long_run.folder / "holder.lock").exists()
    server.script = []
    monkeypatch.setattr(sys, "argv", ["lib", *arguments(long_run, server)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert keys(long_run)[: len(kept)] == kept
    assert sorted(keys(long_run)) == sorted((trajectory, "outcome:m") for trajectory in long_run.trajectories())
    assert len(server.asked) == 23


@pytest.mark.skipif(os.name != "posix", reason="sends an interrupt as a terminal does")
def test_a_second_interrupt_leaves_what_is_in_flight(long_run: Run, server: FakeServer) -> None:
    server.script = [fake.good(), *(fake.slow(300.0) for _ in range(2))]
    command = [sys.executable, "-m", "lib", *arguments(long_run, server)]
    started = interruptible(command)
    assert started.stderr is not None
    assert waited_for(lambda: len(server.asked) == 3)
    started.send_signal(signal.SIGINT)
    assert any("Waiting for what is in flight (2)" in line for line in iter(started.stderr.readline, ""))
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Interrupted" in said
    assert len(keys(long_run)) == 1
    assert [json.loads(line)["judge_id"] for line in (long_run.folder / "verdicts.jsonl").open()] == ["outcome:m"]
