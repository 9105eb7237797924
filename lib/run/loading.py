"""The files of a run as records and as data frames, validated line by line.

Everything is read in one pass that holds one line at a time (``benchmarks/load.py`` measures time and memory).
"""

from __future__ import annotations

import logging
import os
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lib.errors import COMMAND
from lib.records import Label, Trajectory, Verdict, cell_of, judge_id_fault, stratum_of
from lib.run.lines import Problem, Problems, decode, is_torn, lines, loads

log = logging.getLogger(__name__)
T = TypeVar("T")

ALIASES = {"programmatic": "rules"}
"""Judge ids of the released run that have another name here."""

TRAJECTORY_COLUMNS = (
    *("trajectory_id", "instance_id", "stratum", "faulty", "failure_step", "failure_type"),
    *("outcome_correct", "n_steps", "cell"),
)
VERDICT_COLUMNS = (
    *("trajectory_id", "judge_id", "faulty", "failure_step", "failure_type", "confidence", "log_odds"),
    *("latency_s", "load_s", "server_s", "prompt_tokens", "completion_tokens", "cost"),
    *("status", "reason", "rationale", "raw_reply"),
)

_REMEDY = "Correct these lines, or remove them: what is removed from {file} is {then}."


class Numbered(NamedTuple):
    number: int
    verdict: Verdict


def records(path: Path, kind: type[T], problems: Problems, *, torn_ok: bool) -> Iterator[tuple[int, T]]:
    """Line number and record of each sound line; the others are noted in ``problems``."""
    decoder = msgspec.json.Decoder(kind)
    for line in lines(path):
        try:
            yield line.number, decode(line.raw, decoder, kind)
        except Problem as problem:
            if torn_ok and is_torn(line):
                log.warning(
                    "%s, line %d: cut short, so it is not counted (the next collection judges it again).",
                    path,
                    line.number,
                )
                return
            problems.add(line.number, problem)


def iter_trajectories(path: Path, *, episodes: bool = False) -> Iterator[Trajectory]:
    """Trajectories of a file, each once, labels checked. Raises UserError (after the last sound one).

    ``episodes``: the file is appended to, so its last line may be torn, and its labels are read off, not made.
    """
    problems = Problems(path, f"Correct the file, or move it away and make it again (`{COMMAND} dataset --help`).")
    seen: dict[str, int] = {}
    repeats: dict[int, list[tuple[int, Trajectory]]] = {}
    for number, trajectory in records(path, Trajectory, problems, torn_ok=episodes):
        try:
            check_trajectory(trajectory, by_construction=not episodes)
        except Problem as problem:
            problems.add(number, problem)
            continue
        first = seen.setdefault(trajectory.trajectory_id, number)
        if first == number:
            yield trajectory
        else:
            repeats.setdefault(first, []).append((number, trajectory))
    if repeats:
        for first, trajectory in records(path, Trajectory, problems, torn_ok=episodes):
            for number, again in repeats.get(first, ()):
                if again != trajectory:
                    problems.add(number, f"{again.trajectory_id} was given on line {first} with other content")
    problems.raise_any()


def check_trajectory(trajectory: Trajectory, *, by_construction: bool = True) -> None:
    """Raise Problem where a trajectory contradicts itself.

    A fault by construction has a type and a step. An episode's may lack both, where only the outcome tells of it, or
    the step, where no step was taken.
    """
    label, steps = trajectory.label, trajectory.steps
    for position, step in enumerate(steps):
        if step.index != position:
            raise Problem(f"steps[{position}].index", f"{step.index} where {position} is expected")
    if not label.faulty:
        for field in ("failure_step", "failure_type"):
            if getattr(label, field) is not None:
                raise Problem(f"label.{field}", f"{getattr(label, field)} on a trajectory that is not faulty")
        return
    if by_construction and label.failure_type is None:
        raise Problem("label.failure_type", "missing on a faulty trajectory")
    if by_construction and label.failure_step is None:
        raise Problem("label.failure_step", "missing on a faulty trajectory")
    if label.failure_step is not None and label.failure_step >= len(steps):
        raise Problem("label.failure_step", f"{label.failure_step} is outside the {len(steps)} steps (0 is the first)")


def check_verdict(verdict: Verdict, steps: Mapping[str, int]) -> None:
    """Raise Problem where a verdict contradicts itself or its trajectory.

    Args:
        steps: number of steps of each known trajectory.
    """
    if fault := judge_id_fault(verdict.judge_id):
        raise Problem("judge_id", fault)
    n_steps = steps.get(verdict.trajectory_id)
    if n_steps is None:
        raise Problem("trajectory_id", f"{verdict.trajectory_id} is not in trajectories.jsonl of this run")
    if verdict.status == "ok" and verdict.reason is not None:
        raise Problem("reason", "given on a verdict whose status is ok; valid is: null")
    if verdict.faulty:
        if verdict.status != "ok":
            raise Problem("faulty", f"true on a verdict whose status is {verdict.status}; valid is: false")
        if verdict.failure_step is not None and verdict.failure_step >= n_steps:
            raise Problem("failure_step", f"{verdict.failure_step} is outside the {n_steps} steps (0 is the first)")
        return
    for field in ("failure_step", "failure_type"):
        if getattr(verdict, field) is not None:
            raise Problem(field, f"{getattr(verdict, field)} on a verdict that is not faulty; valid is: null")


def iter_verdicts(path: Path, steps: Mapping[str, int]) -> Iterator[Numbered]:
    """Verdicts in file order with line numbers, duplicates included. Raises UserError (after the last sound one)."""
    problems = Problems(path, _REMEDY.format(file=path.name, then="judged again by the next collection"))
    for number, verdict in records(path, Verdict, problems, torn_ok=True):
        try:
            check_verdict(verdict, steps)
        except Problem as problem:
            problems.add(number, problem)
            continue
        if verdict.judge_id in ALIASES:
            verdict = msgspec.structs.replace(verdict, judge_id=ALIASES[verdict.judge_id])
        yield Numbered(number, verdict)
    problems.raise_any()


def load_verdicts(path: Path, steps: Mapping[str, int]) -> list[Verdict]:
    """Verdicts in file order, identical duplicates once. Raises UserError on contradicting ones."""
    found: dict[tuple[str, str], Numbered] = {}
    problems = Problems(path, _REMEDY.format(file=path.name, then="judged again by the next collection"))
    for numbered in iter_verdicts(path, steps) if os.path.lexists(path) else ():
        key = numbered.verdict.trajectory_id, numbered.verdict.judge_id
        first = found.setdefault(key, numbered)
        if first.verdict != numbered.verdict:
            problems.add(numbered.number, _contradiction(first, numbered))
    problems.raise_any()
    return [numbered.verdict for numbered in found.values()]


def _contradiction(first: Numbered, second: Numbered) -> str:
    one, two = msgspec.to_builtins(first.verdict), msgspec.to_builtins(second.verdict)
    fields = ", ".join(f"{key} {one[key]!r:.60} and {two[key]!r:.60}" for key in one if one[key] != two[key])
    return (
        f"{second.verdict.judge_id} judged {second.verdict.trajectory_id} on line {first.number} already,"
        f" and differently ({fields})"
    )


def verdict_frame(path: Path, steps: Mapping[str, int], *, text: bool) -> pd.DataFrame:
    """Verdicts as columns, identical duplicates once; ``rationale`` and ``raw_reply`` only with ``text``.

    Raises UserError on contradicting duplicates.
    """
    table = _Columns(text)
    for numbered in iter_verdicts(path, steps) if os.path.lexists(path) else ():
        table.add(numbered.verdict)
    frame = table.frame()
    repeated = frame.duplicated(["trajectory_id", "judge_id"])
    if repeated.any():
        load_verdicts(path, steps)
        frame = frame[~repeated].reset_index(drop=True)
    return frame


class _Columns:
    """Verdicts taken apart into compact arrays; the strings of a column are shared objects."""

    def __init__(self, text: bool) -> None:
        self.codes = {name: _Codes() for name in ("trajectory_id", "judge_id", "failure_type", "status", "reason")}
        self.faulty = bytearray()
        self.floats = {
            name: array("d") for name in ("confidence", "log_odds", "latency_s", "load_s", "server_s", "cost")
        }
        self.counts = {name: array("q") for name in ("failure_step", "prompt_tokens", "completion_tokens")}
        self.texts: dict[str, list[str | None]] = {"rationale": [], "raw_reply": []} if text else {}

    def add(self, verdict: Verdict) -> None:
        for name, codes in self.codes.items():
            codes.add(getattr(verdict, name))
        self.faulty.append(verdict.faulty)
        for name, floats in self.floats.items():
            value = getattr(verdict, name)
            floats.append(np.nan if value is None else value)
        for name, counts in self.counts.items():
            value = getattr(verdict, name)
            counts.append(-1 if value is None else value)
        for name, texts in self.texts.items():
            texts.append(getattr(verdict, name))

    def frame(self) -> pd.DataFrame:
        columns: dict[str, Any] = {name: codes.column() for name, codes in self.codes.items()}
        columns["faulty"] = np.frombuffer(bytes(self.faulty), dtype=bool)
        columns |= {name: np.frombuffer(values.tobytes(), dtype=float) for name, values in self.floats.items()}
        columns |= {name: _nullable(np.frombuffer(values.tobytes(), "i8")) for name, values in self.counts.items()}
        columns |= {name: pd.Series(values, dtype="object") for name, values in self.texts.items()}
        return pd.DataFrame({name: columns[name] for name in VERDICT_COLUMNS if name in columns})


class _Codes:
    """A column of few different strings, as an index into them."""

    def __init__(self) -> None:
        self.known: dict[str | None, int] = {}
        self.rows = array("i")

    def add(self, value: str | None) -> None:
        self.rows.append(self.known.setdefault(value, len(self.known)))

    def column(self) -> pd.Series:
        values = np.array([*self.known], dtype=object)
        return pd.Series(values[np.frombuffer(self.rows.tobytes(), dtype="i4")], dtype="object")


def _nullable(values: NDArray[np.int64]) -> Any:
    return pd.arrays.IntegerArray(np.maximum(values, 0), values < 0)


def load_failures(path: Path) -> list[dict[str, Any]]:
    """Transport failures in file order."""
    problems = Problems(path, _REMEDY.format(file=path.name, then="not counted as a failure any more"))
    found: list[dict[str, Any]] = []
    for line in lines(path) if os.path.lexists(path) else ():
        try:
            value = loads(line.raw)
            if not isinstance(value, dict):
                raise Problem(None, "a JSON object is expected")
            found.append(value)
        except Problem as problem:
            if is_torn(line):
                log.warning("%s, line %d: cut short, so it is not counted.", path, line.number)
                break
            problems.add(line.number, problem)
    problems.raise_any()
    return found


def trajectory_frame(trajectories: Iterator[Trajectory]) -> pd.DataFrame:
    """One row per trajectory: ids, stratum, label, number of steps and design cell."""
    rows = [
        (
            trajectory.trajectory_id,
            trajectory.instance_id,
            stratum_of(trajectory.instance_id),
            *_label_row(trajectory.label),
            len(trajectory.steps),
            cell_of(trajectory.label),
        )
        for trajectory in trajectories
    ]
    columns: dict[str, list[Any]] = (
        dict(zip(TRAJECTORY_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    )
    kinds = {"faulty": "bool", "failure_step": "Int64", "outcome_correct": "bool", "n_steps": "int64"}
    return pd.DataFrame(
        {name: pd.Series(columns.get(name, []), dtype=kinds.get(name, "object")) for name in TRAJECTORY_COLUMNS}
    )


def _label_row(label: Label) -> tuple[bool, int | None, str | None, bool]:
    return label.faulty, label.failure_step, label.failure_type, label.outcome_correct
