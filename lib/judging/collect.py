"""The collector: one answer a task, on disk before the next is asked for, resumable at any point.

What there is to judge the run's study tells; whatever else a model makes comes as a ``Making``.
"""

from __future__ import annotations

import logging
import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from datetime import UTC, datetime
from itertools import islice
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct, field, to_builtins
from msgspec.structs import asdict, replace
from tqdm import tqdm

from lib.errors import UserError
from lib.judging.clients import CallFailed, ContextOverflow, Refused
from lib.judging.judge import Judge
from lib.run.folder import Run
from lib.run.study import Case, Kind
from lib.run.writer import Store

log = logging.getLogger(__name__)

MOST_FAILURES_IN_A_ROW = 10
SECONDS_BETWEEN_LINES = 30.0
UNREAD = {
    "truncated": "Ask just those again with a larger cap: --again unread --max-tokens N",
    "unparseable": "Does the server ignore the form of reply that it was asked for? See --response-format",
    "refused": "The server or its model refuses such prompts",
}
"""The statuses of a reply that could not be used, each with what can be done."""

READ_AGAIN = ("truncated", "unparseable")
Again = Literal["unread", "failed"]


Key = tuple[str, ...]


class Task(Struct, frozen=True):
    """One answer to collect: of what, by whom, and the call that gives it (which must pickle, to run elsewhere)."""

    item: Key
    by: str
    call: Callable[..., Any]
    args: tuple[Any, ...]

    @property
    def key(self) -> Key:
        """As of a verdict: judges come last."""
        return *self.item, self.by


class Making(Struct, frozen=True):
    """Records for a model to make.

    Attributes:
        kind: of the records; the first part of a task's item is the record's key.
        name, settings: what stands in run.json, and where.
        unit: what one record is called.
    """

    kind: Kind
    name: str
    settings: dict[str, Any]
    tasks: list[Task]
    unit: str


class Collected(Struct):
    """What a collection did.

    Attributes:
        kept: answers; unread: status and reason of those that could not be used, counted.
        failures: calls that gave no answer; last_failure: why the last one did.
        passed_over: what is not asked again, since the server refused it in an earlier collection.
    """

    kept: int = 0
    failures: int = 0
    last_failure: str | None = None
    passed_over: int = 0
    unread: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def not_ok(self) -> int:
        return self.unread.total()

    def remarks(self) -> Iterator[str]:
        """What a reader should know beside the counts, with the remedy."""
        if self.failures:
            yield f"The last failure: {self.last_failure}. The same command asks again, but for what was refused."
        if self.passed_over:
            yield f"{self.passed_over} not asked, since the server refused them before; --again failed asks them too."
        if self.unread and 2 * self.not_ok > self.kept:
            (status, reason), n = self.unread.most_common(1)[0]
            yield f"Most replies could not be used, {n} of {self.kept} for this: {status} ({reason}). {UNREAD[status]}."


class Collector:
    """Runs tasks on any ``concurrent.futures`` executor, at most ``workers`` in flight.

    ``endpoint`` is where the model is served: recorded with date, machine and workers (requests that share a server
    take longer each), never compared.
    """

    def __init__(
        self, executor: Executor, workers: int = 1, endpoint: str | None = None, changed: Sequence[str] = ()
    ) -> None:
        self._executor = executor
        self._workers = workers
        self._endpoint = endpoint
        self._changed = list(changed)

    def verdicts(
        self, run: Run, judges: Sequence[Judge], limit: int | None = None, again: Again | None = None
    ) -> Collected:
        """Judge the first ``limit`` cases of a run (all by default) and keep every verdict.

        Args:
            again: ``unread`` puts these judges' unread verdicts aside and asks anew, perhaps with another cap on
                tokens, which each new verdict then tells; ``failed`` asks also what the server refused before.

        Raises:
            UserError: another collector holds the run, a judge is recorded with other settings, calls about ten cases
                in a row failed, or a client met what no repetition mends. What was collected is kept.
        """
        recorded = run.manifest.get("judges", {})
        with run.collecting() as store:
            otherwise = {}
            for judge in judges:
                settings = {"about": to_builtins(judge.about)} | judge.settings()
                if again == "unread":
                    settings, otherwise[judge.judge_id] = _as_recorded(settings, recorded.get(judge.judge_id, {}))
                store.register_judge(judge.judge_id, settings, self._entry(limit))
            if again == "unread":
                store.set_aside(lambda verdict: verdict.judge_id in otherwise and verdict.status in READ_AGAIN)
            cases = run.study.cases(run)[:limit]
            refused = set() if again == "failed" else _refused(run)
            due = list(pending(judges, cases, store.done))
            tasks = [task for task in due if task.key not in refused]
            verdict = run.study.verdicts

            def keep(task: Task, judgement: Any) -> None:
                key = dict(zip(verdict.key, task.key, strict=True))
                asked_with = otherwise.get(task.by) or None
                store.add_verdict(verdict.spelling.kind(**asdict(judgement), **key, asked_with=asked_with))

            done = self._collect(tasks, len(cases) * len(judges), store, keep, "verdict")
            return replace(done, passed_over=len(due) - len(tasks))

    def make(self, run: Run, making: Making) -> Collected:
        """Let a model make what is not there yet, and keep every record. Raises UserError as ``verdicts`` does."""
        with run.collecting() as store:
            store.register_maker(making.name, making.settings, self._entry(len(making.tasks)))
            tasks = [task for task in making.tasks if task.item[0] not in store.keys(making.kind)]

            def keep(task: Task, record: Any) -> None:
                store.add(making.kind, record)

            return self._collect(tasks, len(making.tasks), store, keep, making.unit)

    def _entry(self, limit: int | None) -> dict[str, Any]:
        machine = (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        place = {"machine": machine, "endpoint": self._endpoint, "workers": self._workers}
        changed = {"changed": self._changed} if self._changed else {}
        return {"started": _now(), **place, "limit": limit, **changed}

    def _collect(
        self,
        tasks: Sequence[Task],
        total: int,
        store: Store,
        keep: Callable[[Task, Any], None],
        unit: str,
    ) -> Collected:
        for notice in store.notices:
            log.warning("%s", notice)
        collected, in_a_row = Collected(), set[Key]()
        flight = _Flight(self._executor, self._workers, tasks)

        def record(task: Task, answer: Any) -> None:
            if isinstance(answer, CallFailed):
                key = dict(zip(store.study.verdicts.key, task.key, strict=True))
                store.add_failure(key | _failure(answer))
                collected.failures += 1
                collected.last_failure = str(answer)
            else:
                keep(task, answer)
                collected.kept += 1
                if getattr(answer, "status", "ok") != "ok":  # what has no status is kept however it turned out
                    collected.unread[answer.status, answer.reason or "no single verdict in the reply"] += 1
            progress.show(collected)

        with _Progress(total, total - len(tasks), unit) as progress:
            try:
                for task, answer in flight.answers():
                    record(task, answer)
                    if not isinstance(answer, CallFailed):
                        in_a_row.clear()
                    elif not isinstance(answer, ContextOverflow):
                        in_a_row.add(task.item)
                    if len(in_a_row) == MOST_FAILURES_IN_A_ROW:
                        raise UserError(_given_up(answer))
            except (KeyboardInterrupt, Exception):
                if flight.under_way:
                    log.warning("Waiting for what is in flight (%d); interrupt again to leave it.", flight.under_way)
                for task, answer in flight.rest():
                    record(task, answer)
                raise
        return collected


class _Progress:
    """A bar on a terminal; elsewhere a line now and then."""

    def __init__(self, total: int, done: int, unit: str) -> None:
        self._bar = tqdm(total=total, initial=done, unit=unit, disable=None)
        self._done, self._total, self._unit, self._told = done, total, unit, time.monotonic()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, collected: Collected) -> None:
        self._bar.update()
        if not self._bar.disable:
            self._bar.set_postfix(failed=collected.failures, not_ok=collected.not_ok, refresh=False)
        elif time.monotonic() - self._told >= SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            n, failed, not_ok = self._done + collected.kept, collected.failures, collected.not_ok
            log.warning("%d of %d %ss; %d failed, %d not ok", n, self._total, self._unit, failed, not_ok)


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


def pending(judges: Sequence[Judge], cases: Sequence[Case], done: Container[Key]) -> Iterator[Task]:
    """What is left to judge, in the order that leaves a server the least to read anew.

    Judges of one batch share a prompt: they are taken together, case by case, and cases that begin alike in turn.
    """
    alike = sorted(cases, key=attrgetter("alike"))
    batches: dict[str, list[Judge]] = {}
    for judge in judges:
        batches.setdefault(judge.batch, []).append(judge)
    for batch in batches.values():
        for case in alike:
            for judge in batch:
                if (*case.key, judge.judge_id) not in done:
                    yield Task(case.key, judge.judge_id, judge.judge, (case.view(judge.about),))


def _ask(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The answer, or the failure as a value, so that an executor on another machine carries it like any answer."""
    try:
        return call(*args)
    except CallFailed as failure:
        return failure


def _given_up(last: Any) -> str:
    return (
        f"{MOST_FAILURES_IN_A_ROW} calls in a row failed, the last with: {last}. Everything collected is kept; "
        "see that the server answers, then run the same command again."
    )


def _failure(failed: CallFailed) -> dict[str, Any]:
    return {"kind": failed.kind, "error": str(failed), "attempts": failed.attempts, "at": _now()}


def _refused(run: Run) -> set[Key]:
    """Keys whose last failure was the server's refusal: asking again costs, and gives the same."""
    names = run.study.verdicts.key
    last = {tuple(each.get(name, "") for name in names): each.get("kind") for each in run.failures()}
    return {key for key, kind in last.items() if kind in (Refused.kind, ContextOverflow.kind)}


def _as_recorded(settings: dict[str, Any], recorded: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A judge's settings with the cap on tokens that is recorded, and the cap that differs from it."""
    asked = settings.get("decoding", {})
    cap = recorded.get("decoding", {}).get("max_tokens", asked.get("max_tokens"))
    if asked.get("max_tokens") == cap:
        return settings, {}
    return settings | {"decoding": asked | {"max_tokens": cap}}, {"max_tokens": asked["max_tokens"]}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
