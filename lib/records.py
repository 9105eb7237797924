"""The records that every room speaks. Field names are those of the released trajectory-judge artifact."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, field

NamedFault = Literal[
    "wrong_tool",
    "hallucinated_argument",
    "skipped_precondition",
    "ignored_observation",
    "premature_stop",
    "unsupported_claim",
]
FAULT_TYPES: tuple[NamedFault, ...] = get_args(NamedFault)
"""What judges are told of and asked to name, and what the judged set holds; the order is that of every table."""

FaultType = NamedFault
"""All faults that a trajectory may have; one that judges are not told of stands here beside: Literal[NamedFault, …]."""

Stratum = Literal["happy", "restocking", "expired", "non_refundable", "wrong_customer", "already_refunded"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)

Status = Literal["ok", "unparseable", "truncated", "refused"]

# What a judge is shown: goal and final answer, or the steps as well.
Sees = Literal["outcome", "step"]

_OF_EVERY_OBJECT = frozenset(
    ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"]
)

StepIndex = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Count = Annotated[int, Meta(ge=0, le=10**12)]
Confidence = Annotated[float, Meta(ge=0.5, le=1)]
LogOdds = Annotated[float, Meta(ge=-1e6, le=1e6)]
Money = Annotated[float, Meta(ge=0, le=1e9)]


def _written(default: Any) -> Any:
    """A default that is written to a file all the same: the released files hold such a field always."""
    return field(default_factory=lambda: default)


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


class Judgement(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a judge says of one view.

    Attributes:
        confidence: probability that the verdict is right, in [0.5, 1].
        log_odds: natural log of p(faulty) / p(not faulty) at the verdict's token; None where the server tells no
            log-probabilities, or that token was not found.
        latency_s: wall-clock seconds of the call, without model load where the server tells it (``load_s``).
        server_s: seconds that the server says it computed; None when it does not say.
        cost: money, in the currency of the prices that were given; None where none were.
        prompt_tokens, completion_tokens: as counted by the server; None when it does not say.
        status: ``ok``, or what kept the reply from being used (then it votes clean at 0.5); ``reason`` says why.
        raw_reply: the model's own text; raw_step: the step as it stood there, before any check.
        coercions: what was changed on the way from reply to verdict, in words.
        members: for an ensemble, each member's judgement in order of its seed.
    """

    faulty: bool
    failure_step: StepIndex | None = _written(None)
    failure_type: FaultType | None = _written(None)
    confidence: Confidence
    log_odds: LogOdds | None = None
    rationale: str = _written("")
    latency_s: Seconds = _written(0.0)
    server_s: Seconds | None = None
    prompt_tokens: Count | None = _written(None)
    completion_tokens: Count | None = _written(None)
    cost: Money | None = None
    error: str | None = _written(None)
    status: Status = _written("ok")
    reason: str | None = None
    raw_reply: str | None = None
    raw_step: Any = None
    coercions: list[str] = []
    finish_reason: str | None = None
    load_s: Seconds | None = None
    members: list[Judgement] = []


class About(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a judge describes itself in run.json, so that nothing is parsed from its id.

    Attributes:
        kind: what sort of judge it is, such as ``step`` or a word of one's own.
        sees: the view that it is shown; None for a judge that looks at neither.
        members: how often it is asked of one trajectory.
        single: id of the judge that it asks several times.
        fixed: its verdicts follow from rules, so that asking again changes nothing.
        baseline: it does not look.
        scored: its verdicts carry ``log_odds``.
    """

    kind: str
    sees: Sees | None = None
    model: str | None = None
    members: Annotated[int, Meta(ge=1)] = 1
    single: str | None = None
    fixed: bool = False
    baseline: bool = False
    scored: bool = False


class Verdict(Judgement, frozen=True, kw_only=True):
    """A judgement with its key: one per (trajectory, judge). ``asked_with`` are options other than the judge's own."""

    asked_with: dict[str, Any] | None = None
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


@lru_cache(4096)
def judge_id_fault(judge_id: str) -> str | None:
    """What keeps a text from being a judge's id; None for a good one."""
    if not judge_id.strip():
        return "is empty; valid is: the name of a judge"
    if judge_id != judge_id.strip() or not judge_id.isprintable():
        return f"{judge_id!a} has blanks around it or characters that cannot be shown; valid is: a name without"
    if judge_id in _OF_EVERY_OBJECT or judge_id.startswith("__"):
        return f"{judge_id} is a name that JavaScript objects have, and no chart can show it; valid is: another name"
    return None
