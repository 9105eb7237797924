"""The records that every room speaks. Field names are those of the released trajectory-judge artifact."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

FaultType = Literal[
    "wrong_tool",
    "hallucinated_argument",
    "skipped_precondition",
    "ignored_observation",
    "premature_stop",
    "unsupported_claim",
]
FAULT_TYPES: tuple[FaultType, ...] = get_args(FaultType)

Stratum = Literal["happy", "restocking", "expired", "non_refundable", "wrong_customer", "already_refunded"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)

Status = Literal["ok", "unparseable", "truncated"]

_OF_EVERY_OBJECT = frozenset(
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"]
)

StepIndex = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Confidence = Annotated[float, Meta(ge=0.5, le=1)]


class ToolCall(Struct, frozen=True):
    tool: str
    args: dict[str, Any]


class Observation(Struct, frozen=True):
    ok: bool
    data: dict[str, Any]
    error: str | None = None


class Step(Struct, frozen=True):
    index: StepIndex
    thought: str
    call: ToolCall
    observation: Observation


class Label(Struct, frozen=True):
    """Ground truth by construction. ``failure_step`` is an index into ``steps``; silent means ``outcome_correct``."""

    faulty: bool
    failure_step: StepIndex | None
    failure_type: FaultType | None
    outcome_correct: bool


class Trajectory(Struct, frozen=True):
    trajectory_id: str
    instance_id: str
    goal: str
    steps: list[Step]
    final_answer: str
    label: Label


class View(Struct, frozen=True):
    """What a judge is shown: never a label. ``steps`` is None in the outcome view.

    ``token`` is an opaque digest that stands for the trajectory, since the id itself names the fault.
    """

    token: str
    goal: str
    final_answer: str
    steps: list[Step] | None


class Judgement(Struct, frozen=True, kw_only=True):
    """What a judge says of one view.

    Attributes:
        confidence: probability that the verdict is right, in [0.5, 1].
        latency_s: wall-clock seconds of the call, without model load where the server tells it (``load_s``).
        prompt_tokens, completion_tokens: as counted by the server; None when it does not say.
        status: ``ok``, or why the reply could not be used (then it votes clean at 0.5).
        raw_reply: the model's own text; raw_step: the step as it stood there, before any check.
        coercions: what was changed on the way from reply to verdict, in words.
        members: for an ensemble, each member's judgement in order of its seed.
    """

    faulty: bool
    failure_step: StepIndex | None = None
    failure_type: FaultType | None = None
    confidence: Confidence
    rationale: str = ""
    latency_s: Seconds = 0.0
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    error: str | None = None
    status: Status = "ok"
    raw_reply: str | None = None
    raw_step: Any = None
    coercions: list[str] = []
    finish_reason: str | None = None
    load_s: Seconds | None = None
    members: list[Judgement] = []


class Verdict(Judgement, frozen=True, kw_only=True):
    """A judgement with its key: one per (trajectory, judge)."""

    trajectory_id: str
    judge_id: str


_INSTANCE = re.compile(r"INS-([0-9]{5,18})")


def stratum_of(instance_id: str) -> Stratum | None:
    """The kind of instance, from its index modulo six; None for an id of another making."""
    match = _INSTANCE.fullmatch(instance_id)
    return STRATA[int(match[1]) % len(STRATA)] if match else None


def cell_of(label: Label) -> str:
    """The design cell of a label: ``clean``, or fault type and survival, as in ``wrong_tool/silent``.

    An episode's fault that only the outcome tells of is ``untyped``.
    """
    if not label.faulty:
        return "clean"
    return f"{label.failure_type or 'untyped'}/{'silent' if label.outcome_correct else 'loud'}"


def view_of(trajectory: Trajectory, *, steps: bool) -> View:
    """The view of a trajectory with or without its steps."""
    token = hashlib.sha256(trajectory.trajectory_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return View(token, trajectory.goal, trajectory.final_answer, trajectory.steps if steps else None)


def judge_id_fault(judge_id: str) -> str | None:
    """What keeps a text from being a judge's id; None for a good one."""
    if not judge_id.strip():
        return "is empty; valid is: the name of a judge"
    if judge_id != judge_id.strip() or not judge_id.isprintable():
        return f"{judge_id!a} has blanks around it or characters that cannot be shown; valid is: a name without"
    if judge_id in _OF_EVERY_OBJECT or judge_id.startswith("__"):
        return f"{judge_id} is a name that JavaScript objects have, and no chart can show it; valid is: another name"
    return None
