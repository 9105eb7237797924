"""The records of part II: a request with its tools and expected calls, a plan, and what a judge says of a plan."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, get_args

from msgspec import Struct

from lib.records import Count, Money, Seconds, Status, ToolCall

Tier = Literal["easy", "medium", "hard"]
TIERS: tuple[Tier, ...] = get_args(Tier)

Topology = Literal["linear", "fan_out", "fan_in", "diamond", "optional_enrichment", "loop_like"]
TOPOLOGIES: tuple[Topology, ...] = get_args(Topology)

Metric = Literal["tool_selection", "parameter_structure", "sequence", "query_coverage"]
METRICS: tuple[Metric, ...] = get_args(Metric)

LEVELS = (0.0, 0.5, 1.0)
"""What a judge may answer for a metric; imported verdicts may lie anywhere in [0, 1]."""

Edge = tuple[int, int]


class Parameter(Struct, frozen=True):
    """One parameter of a tool; ``choices`` is empty where any value of the type will do."""

    name: str
    type: str
    description: str
    required: bool
    choices: list[str] = []


class Tool(Struct, frozen=True):
    """A tool that a planner may call; ``returns`` names its result, for later calls to refer to."""

    name: str
    description: str
    parameters: list[Parameter]
    returns: str = ""


class Record(Struct, frozen=True, kw_only=True):
    """One request at three tiers with the calls that answer it.

    Attributes:
        expected: calls in the order of the reference. A value ``$2.x`` stands for result ``x`` of the second call.
        edges: (earlier, later) positions in ``expected``: the later call uses the earlier one's result.
        requests: the request by tier; the expected calls are the same at each.
    """

    record_id: str
    domain: str
    topology: Topology
    tools: list[Tool]
    expected: list[ToolCall]
    edges: list[Edge]
    requests: dict[Tier, str]


class Plan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The calls that a planner proposes for a record.

    Attributes:
        planner: ``programmatic``, or the id of the model that planned.
        tier: the request that a model was shown; None if the plan is the same at every tier.
        fault: what was broken on purpose (``none`` for the reference itself); None for a model's plan.
        rate: share of the calls that the fault was to reach; None where the fault has no grades.
        status: not ``ok`` if the planner's reply could not be used (``reason`` says why); then it is not judged.
    """

    plan_id: str
    record_id: str
    planner: str
    tier: Tier | None
    fault: str | None
    rate: float | None
    calls: list[ToolCall]
    status: Status = "ok"
    reason: str | None = None
    raw_reply: str | None = None


class Levels(Struct, frozen=True):
    """One value in [0, 1] a metric: a judge's verdict, or a plan's score."""

    tool_selection: float
    parameter_structure: float
    sequence: float
    query_coverage: float


class PlanView(Struct, frozen=True):
    """What a judge is shown: no score, and no id or fault that would tell one.

    Attributes:
        token: an opaque digest that stands for plan and tier.
        reference: the calls that are said to be right; None where none are shown.
    """

    token: str
    tools: list[Tool]
    request: str
    calls: list[ToolCall]
    reference: list[ToolCall] | None


class PlanJudgement(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a judge says of one plan for one request.

    Attributes:
        levels: None where the reply could not be used (``status`` and ``reason`` say why); never a default.
        justifications: one sentence a metric; overall: one on the whole.
        log_odds: by metric, natural log of p(1) / p(less than 1) at the level's first token; no entry where unknown.
    """

    levels: Levels | None
    justifications: dict[Metric, str] = {}
    overall: str = ""
    log_odds: dict[Metric, float] = {}
    status: Status = "ok"
    reason: str | None = None
    latency_s: Seconds = 0.0
    server_s: Seconds | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cost: Money | None = None
    raw_reply: str | None = None
    finish_reason: str | None = None
    load_s: Seconds | None = None


class PlanVerdict(PlanJudgement, frozen=True, kw_only=True):
    """A judgement with its key: one per (plan, tier, judge). ``asked_with`` are options other than the judge's own."""

    asked_with: dict[str, Any] | None = None
    plan_id: str
    tier: Tier
    judge_id: str


def view_of(record: Record, plan: Plan, tier: Tier, reference: list[ToolCall] | None) -> PlanView:
    """The view of a plan for one request, beside a reference or none."""
    token = hashlib.sha256(f"{plan.plan_id}/{tier}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return PlanView(token, record.tools, record.requests[tier], plan.calls, reference)


def parameter(tool: Tool, name: str) -> Parameter | None:
    """The parameter of that name, or None."""
    return next((p for p in tool.parameters if p.name == name), None)


def references(value: Any) -> list[tuple[int, str]]:
    """(position of the call, its result) of each ``$position.result`` in an argument; positions count from zero."""
    if isinstance(value, list):
        return [found for part in value for found in references(part)]
    if not isinstance(value, str) or not value.startswith("$"):
        return []
    position, _, result = value[1:].partition(".")
    return [(int(position) - 1, result)] if position.isdecimal() and result else []
