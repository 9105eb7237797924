"""The collector: one answer a task, on disk before the next is asked for, resumable at any point.

The tasks are a judge's trajectories, or the episodes that a model plays.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import asdict
from tqdm import tqdm

from lib.desk.environment import Instances
from lib.errors import UserError
from lib.judging import agent
from lib.judging.clients import CallFailed, Client, ContextOverflow, Decoding, TransportError
from lib.judging.judge import Judge
from lib.records import Judgement, Trajectory, Verdict, view_of
from lib.run.folder import Run
from lib.run.writer import Store
from lib.trajectories import EPISODES

log = logging.getLogger(__name__)

MOST_FAILURES_IN_A_ROW = 10


class Task(Struct, frozen=True):
    """One answer to collect: its key, and the call that gives it (which must pickle, to run on another machine)."""

    trajectory_id: str
    judge_id: str
    call: Callable[..., Any]
    args: tuple[Any, ...]


class Collected(Struct):
    """What a collection did: answers kept, how many are not ``ok``, calls that failed, and why the last one did."""

    kept: int = 0
    not_ok: int = 0
    failures: int = 0
    last_failure: str | None = None


class Collector:
    """Runs tasks on any ``concurrent.futures`` executor, at most ``workers`` in flight.

    ``endpoint`` is where the model is served: recorded with date, machine and workers (requests that share a server
    take longer each), never compared.
    """

    def __init__(self, executor: Executor, workers: int = 1, endpoint: str | None = None) -> None:
        self._executor = executor
        self._workers = workers
        self._endpoint = endpoint

    def verdicts(self, run: Run, judges: Sequence[Judge], limit: int | None = None) -> Collected:
        """Judge the first ``limit`` trajectories of a run (all by default) and keep every verdict.

        Raises:
            UserError: another collector holds the run, a judge is recorded with other settings, ten calls in a row
                failed in transport, or a client met what no repetition mends. What was collected until then is kept.
        """
        with run.collecting() as store:
            for judge in judges:
                about = {"about": to_builtins(judge.about)}
                store.register_judge(judge.judge_id, about | judge.settings(), self._entry(limit))
            trajectories = list(run.trajectories().values())[:limit]
            tasks = list(pending(judges, trajectories, store.done))

            def keep(task: Task, judgement: Judgement) -> bool:
                store.add_verdict(
                    Verdict(trajectory_id=task.trajectory_id, judge_id=task.judge_id, **asdict(judgement))
                )
                return judgement.status == "ok"

            return self._collect(tasks, len(trajectories) * len(judges), store, keep, "verdict")

    def episodes(self, run: Run, client: Client, decoding: Decoding, n: int) -> Collected:
        """Let a model play the desk on the first ``n`` instances of the run's seed, and keep every episode.

        Raises:
            UserError: as for ``verdicts``; also where run.json does not tell the seed of the instances.
        """
        with run.collecting() as store:
            seed = run.manifest.get("dataset", {}).get("seed")
            if type(seed) is not int:
                raise UserError(f"{run.folder}: run.json has no dataset.seed, so there are no instances to play.")
            store.register_episodes(agent.settings(client, decoding), self._entry(n))
            playing = [
                Task(f"{instance.instance_id}-agent", f"agent:{client.model}", agent.play, (instance, client, decoding))
                for instance in Instances(seed, n)
            ]
            tasks = [task for task in playing if task.trajectory_id not in store.keys(EPISODES)]

            def keep(task: Task, episode: Trajectory) -> bool:
                store.add(EPISODES, episode)
                return True

            return self._collect(tasks, n, store, keep, "episode")

    def _entry(self, limit: int | None) -> dict[str, Any]:
        machine = (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        place = {"machine": machine, "endpoint": self._endpoint, "workers": self._workers}
        return {"started": _now(), **place, "limit": limit}

    def _collect(
        self, tasks: Sequence[Task], total: int, store: Store, keep: Callable[[Task, Any], bool], unit: str
    ) -> Collected:
        for notice in store.notices:
            log.warning("%s", notice)
        collected, in_a_row = Collected(), 0

        def record(task: Task, answer: Any) -> None:
            if isinstance(answer, CallFailed):
                store.add_failure(_failure(task, answer))
                collected.failures += 1
                collected.last_failure = str(answer)
            else:
                collected.not_ok += not keep(task, answer)
                collected.kept += 1
            bar.update()
            bar.set_postfix(failed=collected.failures, not_ok=collected.not_ok, refresh=False)

        flight = _Flight(self._executor, self._workers, tasks)
        with tqdm(total=total, initial=total - len(tasks), unit=unit, disable=None) as bar:
            try:
                for task, answer in flight.answers():
                    record(task, answer)
                    if not isinstance(answer, ContextOverflow):
                        in_a_row = in_a_row + 1 if isinstance(answer, TransportError) else 0
                    if in_a_row == MOST_FAILURES_IN_A_ROW:
                        raise UserError(_given_up(in_a_row, answer))
            except (KeyboardInterrupt, Exception):
                if flight.under_way:
                    log.warning("Waiting for what is in flight (%d); interrupt again to leave it.", flight.under_way)
                for task, answer in flight.rest():
                    record(task, answer)
                raise
        return collected


class _Flight:
    """Tasks on an executor, a bounded number at a time, their answers in order of arrival."""

    def __init__(self, executor: Executor, workers: int, tasks: Iterable[Task]) -> None:
        self._executor = executor
        self._workers = workers
        self._waiting = iter(tasks)
        self._flying: dict[Future[Any], Task] = {}

    @property
    def under_way(self) -> int:
        return sum(not future.done() for future in self._flying)

    def answers(self) -> Iterator[tuple[Task, Any]]:
        """Each task with its answer, or with the failure that took its place."""
        self._launch()
        while self._flying:
            done, _ = wait(self._flying, return_when=FIRST_COMPLETED)
            for future in done:
                yield self._flying.pop(future), future.result()
            self._launch()

    def rest(self) -> Iterator[tuple[Task, Any]]:
        """What was already asked when a collection ended early: an answer that was paid for is not thrown away."""
        for future, task in self._flying.items():
            wait([future])
            if future.exception() is None:
                yield task, future.result()

    def _launch(self) -> None:
        for task in islice(self._waiting, self._workers - len(self._flying)):
            self._flying[self._executor.submit(_ask, task.call, task.args)] = task


def pending(
    judges: Sequence[Judge], trajectories: Sequence[Trajectory], done: Container[tuple[str, str]]
) -> Iterator[Task]:
    """What is left to judge, in the order that leaves a server the least to read anew.

    Judges of one batch share a prompt: they are taken together, trajectory by trajectory. Trajectories of one instance
    begin alike, so they follow one another: over the shipped run that saves a prefix cache two fifths of the reading in
    the step view and three fifths in the outcome view.
    """
    alike = sorted(trajectories, key=lambda trajectory: trajectory.instance_id)
    batches: dict[str, list[Judge]] = {}
    for judge in judges:
        batches.setdefault(judge.batch, []).append(judge)
    for batch in batches.values():
        for trajectory in alike:
            for judge in batch:
                if (trajectory.trajectory_id, judge.judge_id) not in done:
                    view = view_of(trajectory, steps=judge.about.sees == "step")
                    yield Task(trajectory.trajectory_id, judge.judge_id, judge.judge, (view,))


def _ask(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The answer, or the failure as a value, so that an executor on another machine carries it like any answer."""
    try:
        return call(*args)
    except CallFailed as failure:
        return failure


def _given_up(calls: int, last: Any) -> str:
    return (
        f"{calls} calls in a row failed, the last with: {last}. Everything collected is kept; "
        "see that the server answers, then run the same command again."
    )


def _failure(task: Task, failed: CallFailed) -> dict[str, Any]:
    kind = "context" if isinstance(failed, ContextOverflow) else "transport"
    attempts = failed.attempts if isinstance(failed, TransportError) else 1
    key = {"trajectory_id": task.trajectory_id, "judge_id": task.judge_id}
    return key | {"kind": kind, "error": str(failed), "attempts": attempts, "at": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
