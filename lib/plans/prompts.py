"""What the judges and planners of part II read, as pure functions. The wording is our own; the paper's is not used.

A prompt is built from blocks in the order instructions, tools, reference, request, plan: whatever comes first changes
least, so that a server's prefix cache serves all tiers and plans of a record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Literal

from msgspec import Struct

from lib.plans.faults import disjoint, edited
from lib.plans.records import LEVELS, METRICS, Plan, PlanView, Record, Tool
from lib.records import ToolCall

Shown = Literal["true", "other", "plan", "edited", "disjoint"]
Form = Literal["grades", "justified", "reasoned"]
Block = Literal["Tools", "Reference", "Request", "Plan"]
MOST_EDITS = 3
MOST_CALLS = 8

_TASK = """\
You grade a plan of tool calls. The planner saw the request and the tools once, ran nothing, saw no result, and wrote \
down all calls at the start. Grade structure only: which tools, which parameter names, which order. Argument values \
do not matter; a placeholder or a reference such as $1.x to an earlier result is as good as a value."""

_WITH = """\
The reference lists the calls that an exact program will compare the plan with. The program's result is the truth \
that your grades are held to, so compare with the reference and with nothing else.
- tool_selection: 1 the plan's tools are the reference's; 0.5 one or a few are extra or absent; 0 most are.
- parameter_structure: 1 every call has the parameter names of its reference call; 0.5 some calls have names beyond \
them; 0 required names are missing or the calls are of other tools.
- sequence: 1 calls come in the reference's order, or in one that respects what depends on what; 0.5 some are out of \
place; 0 most are.
- query_coverage: 1 every tool of the reference is called; 0.5 some are; 0 hardly any is.
A parameter that its tool marks with ? is optional: leaving it out or putting it in never lowers a grade."""

_WITHOUT = """\
There is no reference. The tools' signatures are the only truth; any sensible way to answer the request is right.
- tool_selection: 1 each tool could serve the request; 0.5 one or a few clearly cannot; 0 most cannot.
- parameter_structure: 1 every call has its required parameters and none that its signature lacks; 0.5 some calls \
have a clearly invalid extra one; 0 required ones are missing.
- sequence: 1 no call needs the result of a later one; 0.5 some do; 0 most do.
- query_coverage: 1 all that the request asks for is done; 0.5 a part is; 0 hardly any is.
A parameter marked with ? is optional: leaving it out or putting it in never lowers a grade. An extra call lowers a \
grade only if it is clearly wrong."""

_FREE = """\
Grade each as 0, 0.5 or 1.
- tool_selection: are the right tools called?
- parameter_structure: do the calls have the right parameter names?
- sequence: is the order of the calls right?
- query_coverage: is everything that was asked for done?"""

_FORMULAS = """\
Grades are these numbers, G being the plan and E the reference, rounded to the nearest of 0, 0.5 and 1.
- tool_selection: 1 - (tools only in G + tools only in E) / tools in E, at least 0.
- parameter_structure: mean over the calls of G of 1 for the reference call's parameter names, 0.5 for names beyond \
them, 0 for a missing name or a tool that is not in E.
- sequence: positions at which G and E call the same tool / calls in E.
- query_coverage: tools of E that G calls / tools in E."""

_ONE = "Start from 1 for each grade. Go below only for a fault that you can point at.\nIf you are in doubt, give 1."
_HALF = "Start from 0.5 for each grade. Give 1 or 0 only on clear evidence.\nIf you are in doubt, give 0.5."


# The form is spelled out: a model that breaks lines as it likes takes more tokens for the same grades.
_DIRECT = (
    "Reply on one line with {" + ", ".join(f'"{metric}": G' for metric in METRICS) + "}, each G being 0, 0.5 or 1."
)
_SENTENCES = (
    "Reply on one line with JSON: "
    + ", ".join(f"{metric}_accuracy" for metric in METRICS)
    + ", each with {} (accuracy is 0, 0.5 or 1, justification a short sentence), then overall_assessment (a sentence)."
)
_FIELDS: dict[Form, tuple[str, ...]] = {
    "grades": (),
    "justified": ("accuracy", "justification"),
    "reasoned": ("justification", "accuracy"),
}


class Condition(Struct, frozen=True, kw_only=True):
    """How a judge is asked.

    Attributes:
        rubric, start: what the grades mean, and what they start from.
        shown: which reference it is shown; None: none.
        form: of the reply: grades alone (fewest tokens), each with a sentence after it, or before it.
        blocks: their order; the default suits a prefix cache, the other is the released code's.
    """

    rubric: str
    start: str = _ONE
    shown: Shown | None = None
    form: Form = "grades"
    blocks: tuple[Block, ...] = ("Tools", "Reference", "Request", "Plan")


CONDITIONS: dict[str, Condition] = {
    "with": Condition(rubric=_WITH, shown="true"),
    "without": Condition(rubric=_WITHOUT),
    "half": Condition(rubric=_WITHOUT, start=_HALF),
    "other": Condition(rubric=_WITH, shown="other"),
    "same": Condition(rubric=_WITH, shown="plan"),
    "edited": Condition(rubric=_WITH, shown="edited"),
    "disjoint": Condition(rubric=_WITH, shown="disjoint"),
    "free": Condition(rubric=_FREE, start="", shown="true"),
    "formulas": Condition(rubric=_FORMULAS, start="", shown="true"),
    "justified": Condition(rubric=_WITH, shown="true", form="justified"),
    "reasoned": Condition(rubric=_WITH, shown="true", form="reasoned"),
    "reordered": Condition(rubric=_WITH, shown="true", blocks=("Request", "Tools", "Plan", "Reference")),
}
"""By name. ``other`` to ``disjoint`` show a wrong reference under the prompt of ``with``; the truth stays the same."""


def reference_shown(
    condition: Condition, record: Record, plan: Plan, donor: Record, seed: int
) -> list[ToolCall] | None:
    """The calls that stand as reference, the same for the same record, plan and seed; None where none is shown.

    Args:
        donor: the record whose calls stand in for the reference in ``other`` (see ``donors``).
    """
    rng = Random(f"{seed}/{plan.plan_id}/{condition.shown}")
    if condition.shown == "edited":
        return edited(record, rng.randint(1, MOST_EDITS), rng)
    if condition.shown == "disjoint":
        return disjoint(record, plan.calls, rng)
    shown = {"true": record.expected, "other": donor.expected, "plan": plan.calls}
    return shown[condition.shown] if condition.shown else None


def donors(records: Sequence[Record], seed: int) -> dict[str, Record]:
    """For each record another of its topology, each once (a seeded cycle); a record alone is its own."""
    donor: dict[str, Record] = {}
    for kind in sorted({record.topology for record in records}):
        cycle = [record for record in records if record.topology == kind]
        Random(f"{seed}/{kind}").shuffle(cycle)
        donor |= {a.record_id: b for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)}
    return donor


def judge_prompt(condition: Condition, view: PlanView, clean: Callable[[str], str] = str) -> str:
    """The whole prompt for one plan; the reply is to follow ``judge_schema`` of the same condition.

    Args:
        clean: what every line of judged text goes through, such as what defuses a chat template's control tokens.
    """
    shown: dict[Block, list[str]] = {
        "Tools": [_signature(tool) for tool in view.tools],
        "Reference": _numbered(view.reference or []),
        "Request": [_line(view.request)],
        "Plan": _numbered(view.calls),
    }
    titles = [title for title in condition.blocks if title != "Reference" or view.reference is not None]
    return "\n\n".join(
        [instructions(condition), *(_block(title, map(clean, shown[title])) for title in titles), "Grades:\n"]
    )


def instructions(condition: Condition) -> str:
    """What stands before the blocks: the same for every plan."""
    fields = _FIELDS[condition.form]
    reply = _SENTENCES.format(" and ".join(fields)) if fields else _DIRECT
    return "\n\n".join(filter(None, [_TASK, condition.rubric, condition.start, reply]))


def judge_schema(condition: Condition) -> dict[str, Any]:
    """The JSON schema of a reply: four levels, perhaps with a sentence each, and then one on the whole."""
    level: dict[str, Any] = {"enum": [int(v) if v == int(v) else v for v in LEVELS]}
    kinds = {"accuracy": level, "justification": {"type": "string"}}
    if not (fields := _FIELDS[condition.form]):
        return _object(dict.fromkeys(METRICS, level))
    graded = _object({name: kinds[name] for name in fields})
    return _object({f"{metric}_accuracy": graded for metric in METRICS} | {"overall_assessment": {"type": "string"}})


PLANNING = (
    "Plan the tool calls that answer the request. All calls are written down now, before any is run. Use only "
    "these tools; a parameter marked with ? is optional. Where a call needs the result of an earlier one, write "
    "$1.x for result x of the first call, and so on. Reply on one line with JSON, calls in order: "
    '{"calls": [{"tool": NAME, "arguments": {NAME: VALUE}}]}'
)


def planner_prompt(tools: Sequence[Tool], request: str, clean: Callable[[str], str] = str) -> str:
    """What a model that plans is shown; the reply is to follow ``PLANNER_SCHEMA``."""
    shown = {"Tools": map(_signature, tools), "Request": [_line(request)]}
    return "\n\n".join([PLANNING, *(_block(title, map(clean, lines)) for title, lines in shown.items()), "Plan:\n"])


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_CALL = _object({"tool": {"type": "string"}, "arguments": {"type": "object"}})
PLANNER_SCHEMA = _object({"calls": {"type": "array", "minItems": 1, "maxItems": MOST_CALLS, "items": _CALL}})


def _block(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"## {title}", *lines])


def _signature(tool: Tool) -> str:
    """One line a tool: name, parameters with type or choices, ? behind optional ones, result, what it does."""
    held = [
        f"{p.name}{'' if p.required else '?'}: {'|'.join(p.choices) if p.choices else p.type}" for p in tool.parameters
    ]
    gives = f" -> {tool.returns}" if tool.returns else ""
    return _line(f"- {tool.name}({', '.join(held)}){gives}: {tool.description}")


def _numbered(calls: Sequence[ToolCall]) -> list[str]:
    """One line a call; names and values are JSON, so that no text of theirs can begin a line."""
    return [
        f"{i}. {_line(call.tool)} {json.dumps(call.args, ensure_ascii=False, default=str)}"
        for i, call in enumerate(calls, start=1)
    ] or ["(none)"]


def _line(text: str) -> str:
    return " ".join(text.split())
