"""The collector: judges over trajectories, each verdict on disk before the next is asked for, resumable at any point."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from tqdm import tqdm

from lib.errors import UserError
from lib.judging.clients import CallFailed, TransportError
from lib.judging.judge import Judge
from lib.records import Judgement, Trajectory, Verdict, View, view_of
from lib.runs import Run, Store

MOST_FAILURES_IN_A_ROW = 10


class Task(Struct, frozen=True):
    trajectory: Trajectory
    judge: Any  # a Judge; msgspec cannot check a protocol


class Collected(Struct):
    """What a collection did: verdicts kept, calls that failed, and how many of the verdicts are not ``ok``."""

    verdicts: int = 0
    failures: int = 0
    not_ok: int = 0


def collect(
    run: Run,
    judges: Sequence[Judge],
    executor: Executor,
    *,
    workers: int = 1,
    limit: int | None = None,
    endpoint: str | None = None,
) -> Collected:
    """Judge the first ``limit`` trajectories of a run (all by default) and keep every verdict.

    Args:
        executor: any ``concurrent.futures`` executor; ``workers`` bounds the requests in flight.
        endpoint: where the model is served, recorded with the date and the machine, never compared.

    Raises:
        UserError: another collector holds the run, a judge is recorded with other settings, ten calls in a row failed
            in transport, or a client met what no repetition mends. What was collected until then is kept.
    """
    with run.collecting() as store:
        for judge in judges:
            store.register_judge(judge.judge_id, judge.settings(), _session(endpoint, limit))
        trajectories = list(islice(run.trajectories().values(), limit))
        tasks = list(pending(judges, trajectories, store.done))
        total = len(trajectories) * len(judges)
        with tqdm(total=total, initial=total - len(tasks), unit="verdict", disable=None) as bar:
            return _run(tasks, store, executor, workers, bar)


def pending(
    judges: Sequence[Judge], trajectories: Iterable[Trajectory], done: frozenset[tuple[str, str]] | set[tuple[str, str]]
) -> Iterator[Task]:
    """What is left to judge. Judges of one batch share a prompt: they are taken together, trajectory by trajectory."""
    trajectories = list(trajectories)
    for _, batch in groupby(sorted(judges, key=_first_of_batch(judges)), key=lambda judge: judge.batch):
        members = list(batch)
        for trajectory in trajectories:
            for judge in members:
                if (trajectory.trajectory_id, judge.judge_id) not in done:
                    yield Task(trajectory, judge)


def _first_of_batch(judges: Sequence[Judge]) -> Any:
    batches = list(dict.fromkeys(judge.batch for judge in judges))
    return lambda judge: batches.index(judge.batch)


def _ask(judge: Judge, view: View) -> Judgement | CallFailed:
    """The judgement, or the failure as a value: an executor on another machine need not carry the exception."""
    try:
        return judge.judge(view)
    except CallFailed as failure:
        return failure


def _run(tasks: Sequence[Task], store: Store, executor: Executor, workers: int, bar: Any) -> Collected:
    collected, in_a_row = Collected(), 0
    waiting = iter(tasks)
    flying: dict[Future[Judgement | CallFailed], Task] = {}

    def launch() -> None:
        for task in islice(waiting, workers - len(flying)):
            view = view_of(task.trajectory, steps=task.judge.shows_steps)
            flying[executor.submit(_ask, task.judge, view)] = task

    def land(future: Future[Judgement | CallFailed]) -> None:
        nonlocal in_a_row
        answer = _keep(flying.pop(future), future.result(), store, collected)
        in_a_row = in_a_row + 1 if isinstance(answer, TransportError) else 0
        bar.update()
        bar.set_postfix(failed=collected.failures, not_ok=collected.not_ok, refresh=False)
        if in_a_row >= MOST_FAILURES_IN_A_ROW:
            raise UserError(
                f"{in_a_row} calls in a row failed, the last with: {answer}. Everything collected is kept; "
                "see that the server answers, then run the same command again."
            )

    try:
        launch()
        while flying:
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                land(future)
            launch()
    except (KeyboardInterrupt, UserError):
        _land_rest(flying, store, collected)
        raise
    return collected


def _land_rest(flying: dict[Future[Judgement | CallFailed], Task], store: Store, collected: Collected) -> None:
    """Keep what is still in flight when a collection ends early: an answer that was paid for is not thrown away."""
    for future in list(flying):
        if not future.cancel():
            wait([future])
            if future.exception() is None:
                _keep(flying.pop(future), future.result(), store, collected)


def _keep(task: Task, answer: Judgement | CallFailed, store: Store, collected: Collected) -> Judgement | CallFailed:
    key = {"trajectory_id": task.trajectory.trajectory_id, "judge_id": task.judge.judge_id}
    if isinstance(answer, CallFailed):
        kind = "transport" if isinstance(answer, TransportError) else "context"
        attempts = getattr(answer, "attempts", 1)
        store.add_failure(key | {"kind": kind, "error": str(answer), "attempts": attempts, "at": _now()})
        collected.failures += 1
        return answer
    store.add_verdict(Verdict(**key, **asdict(answer)))
    collected.verdicts += 1
    collected.not_ok += answer.status != "ok"
    return answer


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _session(endpoint: str | None, limit: int | None) -> dict[str, Any]:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"started": _now(), "machine": machine, "endpoint": endpoint, "limit": limit}
