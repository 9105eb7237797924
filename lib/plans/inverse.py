"""From request and tools back to the calls: the proof that a request can be answered. It knows no record.

It reads only what a planner is shown. Where a tool is asked for is found by verb (a dictionary of everyday English)
and object (the tool's name); arguments are found by what the tool's schema says of each.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, NamedTuple

from lib.plans.records import Parameter, Tool
from lib.records import ToolCall

VERBS = {
    "get": "look up|find|pull",
    "check": "check|see what|peek at",
    "search": "search|bring up|dig out",
    "estimate": "estimate|work out|ballpark",
    "set": "set|change|bump",
    "schedule": "schedule|book|slot in",
    "notify": "notify|let|ping",
    "issue": "issue|make out|knock out",
    "compile": "compile|put together|throw together",
}
YES = {"include_history": r"include_history true|history too|happened", "urgent": r"urgent true|asap|cannot wait"}
CODE = re.compile(r"\b[A-Z]{3}-\d{5}\b")
DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
EMAIL = re.compile(r"\b[a-z]+@[a-z]+\.[a-z]+\b")
NUMBER = re.compile(r"\b\d+\.\d+\b")
INTEGER = re.compile(r"\b\d+\b")
GIVEN = re.compile(r"\b(?:from|based on|off)\b")


class _Found(NamedTuple):
    tool: Tool
    args: dict[str, Any]
    uses: str


def recover(request: str, tools: list[Tool]) -> list[ToolCall]:
    """The calls that the request asks for, each after those whose results it uses, else as they are spoken of."""
    starts = sorted((m.start(), i) for i, tool in enumerate(tools) for m in _trigger(tool).finditer(request))
    found: list[_Found] = []
    for (start, i), (end, _) in itertools.pairwise([*starts, (len(request), 0)]):
        found += _calls(tools[i], request[start:end], request[:start])
    return _ordered(found)


def _trigger(tool: Tool) -> re.Pattern[str]:
    verb, _, thing = tool.name.partition("_")
    named = rf"{thing.replace('_', '[ -]')}\b"
    coded = next((c for p in tool.parameters if p.required and (c := _prefix(p))), None)
    asked = rf"(?:{named}|(?={coded}-\d))" if verb == "get" and coded else named
    return re.compile(rf"\b(?:{VERBS[verb]})(?: the)? {asked}", re.IGNORECASE)


def _prefix(parameter: Parameter) -> str | None:
    example = CODE.search(parameter.description)
    return example[0][:3] if example else None


def _calls(tool: Tool, said: str, before: str) -> list[_Found]:
    """The calls of one tool in what is said of it: one for each code, or one for the code spoken of last."""
    cue = GIVEN.search(said)
    uses = said[cue.end() :] if cue else ""
    prefix = next((c for p in tool.parameters if (c := _prefix(p))), None)
    pieces = re.split(rf"(?=\b{prefix}-\d)", said)[1:] if prefix else [said]
    if not pieces:
        spoken = [code for code in CODE.findall(before) if code.startswith(f"{prefix}-")]
        pieces = [f"{spoken[-1] if spoken else ''} {said}"]
    return [_Found(tool, _arguments(tool, piece), uses) for piece in pieces]


def _arguments(tool: Tool, said: str) -> dict[str, Any]:
    values = {p.name: _value(p, said) for p in tool.parameters}
    return {name: value for name, value in values.items() if value is not None}


def _value(parameter: Parameter, said: str) -> Any:
    """What is said for a parameter, by its type, choices and description; None if nothing is."""
    if parameter.type == "array":
        return []
    if parameter.type == "boolean":
        return True if re.search(YES[parameter.name], said) else None
    if parameter.choices:
        chosen = re.search(rf"\b(?:{parameter.name}|that are|as|in) ({'|'.join(parameter.choices)})\b", said)
        return chosen[1] if chosen else None
    bare = DATE.sub("", CODE.sub("", said))
    if parameter.type == "integer":
        number = INTEGER.search(NUMBER.sub("", bare))
        return int(number[0]) if number else None
    if parameter.type == "number":
        number = NUMBER.search(bare)
        return float(number[0]) if number else None
    shape = CODE if _prefix(parameter) else DATE if "YYYY" in parameter.description else EMAIL
    text = shape.search(said)
    return text[0] if text else None


def _ordered(found: list[_Found]) -> list[ToolCall]:
    """Calls in an order that their uses allow, with the results that each uses filled in."""
    waiting, placed = list(range(len(found))), list[int]()
    needs = [[j for j in waiting if j != i and _named(found[j].tool, found[i].uses)] for i in waiting]
    while waiting:
        ready = next((i for i in waiting if set(needs[i]) <= set(placed)), waiting[0])
        waiting.remove(ready)
        placed.append(ready)
    place = {i: position + 1 for position, i in enumerate(placed)}
    calls = []
    for i in placed:
        results = [f"${place[j]}.{found[j].tool.returns}" for j in sorted(needs[i], key=place.__getitem__)]
        calls.append(ToolCall(found[i].tool.name, {k: results if v == [] else v for k, v in found[i].args.items()}))
    return calls


def _named(tool: Tool, uses: str) -> bool:
    return re.search(rf"\b{tool.returns.replace('_', '[ -]')}s?\b", uses) is not None
