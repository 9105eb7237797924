"""Part I as a study: what its files hold, and what keeps a trajectory or a verdict from being sound."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from lib.errors import COMMAND
from lib.records import FAULT_TYPES, STRATA, About, Trajectory, Verdict, cell_of, judge_id_fault, stratum_of, view_of
from lib.run.lines import Problem, Spelling
from lib.run.study import Case, ColumnType, Kind, Known, Study

_SECONDS = "seconds, from zero to a billion"
_COUNT = "null or a whole number, from zero to a trillion"
VALID = {
    "confidence": "a number from 0.5 to 1: the judge's probability that its own verdict is right",
    "failure_type": f"null or one of {', '.join(FAULT_TYPES)}",
    "failure_step": "null or the index of a step, counted from 0",
    "latency_s": _SECONDS,
    "load_s": f"null or {_SECONDS}",
    "server_s": f"null or {_SECONDS}",
    "prompt_tokens": _COUNT,
    "completion_tokens": _COUNT,
    "log_odds": "null or a finite number: the log of p(faulty) / p(not faulty)",
    "cost": "null or an amount of money, from zero to a billion",
    "status": "one of ok, unparseable, truncated, refused",
    "faulty": "true or false",
}

QWEN, LLAMA = "qwen2.5:14b", "llama3.1:8b"
RELEASED = {
    "rules": About(kind="rules", sees="step", fixed=True),
    f"outcome:{QWEN}": About(kind="outcome", sees="outcome", model=QWEN),
    f"step:{QWEN}": About(kind="step", sees="step", model=QWEN),
    f"step:{LLAMA}": About(kind="step", sees="step", model=LLAMA),
    f"selfcons3:{QWEN}": About(kind="selfcons", sees="step", model=QWEN, members=3, single=f"step:{QWEN}"),
}
"""The judges of the paper's released run, which does not describe them; ``rules`` is called ``programmatic`` there."""


def check_trajectory(trajectory: Trajectory, _: Known) -> Trajectory:
    """The trajectory; raises Problem where it contradicts itself. A fault by construction has a type and a step."""
    label = trajectory.label
    for field in ("failure_type", "failure_step") if label.faulty else ():
        if getattr(label, field) is None:
            raise Problem(f"label.{field}", "missing on a faulty trajectory")
    return check_episode(trajectory, _)


def check_episode(trajectory: Trajectory, _: Known) -> Trajectory:
    """The episode; raises Problem where it contradicts itself.

    Its fault may lack both type and step, where only the outcome tells of it, or the step, where no step was taken.
    """
    label, steps = trajectory.label, trajectory.steps
    for position, step in enumerate(steps):
        if step.index != position:
            raise Problem(f"steps[{position}].index", f"{step.index} where {position} is expected")
    for field in ("failure_step", "failure_type") if not label.faulty else ():
        if getattr(label, field) is not None:
            raise Problem(f"label.{field}", f"{getattr(label, field)} on a trajectory that is not faulty")
    if label.failure_step is not None and label.failure_step >= len(steps):
        raise Problem("label.failure_step", _outside(label.failure_step, len(steps)))
    return trajectory


def check_verdict(verdict: Verdict, n_steps: Known) -> Verdict:
    """The verdict, its judge under our name; raises Problem where it contradicts itself or its trajectory."""
    if fault := judge_id_fault(verdict.judge_id):
        raise Problem("judge_id", fault)
    n = n_steps.get(verdict.trajectory_id)
    if n is None:
        raise Problem("trajectory_id", f"{verdict.trajectory_id} is not in trajectories.jsonl of this run")
    if verdict.status == "ok" and verdict.reason is not None:
        raise Problem("reason", "given on a verdict whose status is ok; valid is: null")
    if verdict.faulty and verdict.status != "ok":
        raise Problem("faulty", f"true on a verdict whose status is {verdict.status}; valid is: false")
    if verdict.failure_step is not None and verdict.faulty and verdict.failure_step >= n:
        raise Problem("failure_step", _outside(verdict.failure_step, n))
    for field in ("failure_step", "failure_type") if not verdict.faulty else ():
        if getattr(verdict, field) is not None:
            raise Problem(field, f"{getattr(verdict, field)} on a verdict that is not faulty; valid is: null")
    return replace(verdict, judge_id="rules") if verdict.judge_id == "programmatic" else verdict


def _outside(step: int, n_steps: int) -> str:
    return f"{step} is outside the {n_steps} steps (0 is the first)"


def _row(trajectory: Trajectory) -> tuple[Any, ...]:
    label, instance = trajectory.label, trajectory.instance_id
    told = label.faulty, label.failure_step, label.failure_type, label.outcome_correct
    return trajectory.trajectory_id, instance, stratum_of(instance), *told, len(trajectory.steps), cell_of(label)


def _cases(run: Any) -> list[Case]:
    """Trajectories of one instance begin alike.

    Over the shipped run that saves a prefix cache two fifths of the reading in the step view and three fifths in the
    outcome view.
    """

    def case(one: Trajectory) -> Case:
        return Case((one.trajectory_id,), (one.instance_id,), lambda about: view_of(one, steps=about.sees == "step"))

    return [case(one) for one in run.records(ITEMS).values()]


_TRAJECTORY: dict[str, ColumnType] = {
    "trajectory_id": "word",
    "instance_id": "word",
    "stratum": "word",
    "faulty": "bool",
    "failure_step": "count",
    "failure_type": "word",
    "outcome_correct": "bool",
    "n_steps": "int",
    "cell": "word",
}
_VERDICT: dict[str, ColumnType] = {
    "trajectory_id": "word",
    "judge_id": "word",
    "faulty": "bool",
    "failure_step": "count",
    "failure_type": "word",
    "confidence": "float",
    "log_odds": "float",
    "latency_s": "float",
    "load_s": "float",
    "server_s": "float",
    "prompt_tokens": "count",
    "completion_tokens": "count",
    "cost": "float",
    "status": "word",
    "reason": "word",
    "rationale": "text",
    "raw_reply": "text",
}
_SPELLING = Spelling(Trajectory, VALID)

ITEMS = Kind("trajectories.jsonl", _SPELLING, ("trajectory_id",), _TRAJECTORY, _row, check_trajectory)
EPISODES = Kind("episodes.jsonl", _SPELLING, ("trajectory_id",), _TRAJECTORY, _row, check_episode, appended=True)
VERDICTS = Kind(
    "verdicts.jsonl",
    Spelling(Verdict, VALID, first=("trajectory_id", "judge_id")),
    ("trajectory_id", "judge_id"),
    _VERDICT,
    attrgetter(*_VERDICT),
    check_verdict,
    appended=True,
    parent=ITEMS,
    known="n_steps",
)
TRAJECTORIES = Study(
    "trajectories",
    ITEMS,
    VERDICTS,
    (EPISODES,),
    _cases,
    make=f"{COMMAND} dataset --out DIR",
    counted={"cell": None, "stratum": STRATA},
    described=RELEASED,
)
