"""What a record must pass: schema and trace (level 1), then that each request suffices and is grounded (level 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lib.plans.graph import topology
from lib.plans.inverse import CODE, DATE, EMAIL, INTEGER, NUMBER, recover
from lib.plans.records import TIERS, Parameter, Record, Tier, Tool, parameter, references

TOOLS, CALLS = range(8, 20), range(2, 6)
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
}


class Failure(NamedTuple):
    """Why a record does not pass: the level and rule, and where it is broken."""

    level: int
    rule: str
    where: str


def failures(record: Record) -> list[Failure]:
    """Everything that keeps a record out. Level 2 is asked only where level 1 holds."""
    first = [*_schema(record), *_arguments(record), *_trace(record)]
    return first or [*_grounding(record), *_wording(record), *_sufficiency(record)]


def _schema(record: Record) -> Iterator[Failure]:
    names = [tool.name for tool in record.tools]
    if len(names) not in TOOLS:
        yield Failure(1, "number of tools", str(len(names)))
    if len(record.expected) not in CALLS:
        yield Failure(1, "number of calls", str(len(record.expected)))
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Failure(1, "tool named twice", name)
    for tool in record.tools:
        held = [p.name for p in tool.parameters]
        if len(set(held)) < len(held):
            yield Failure(1, "parameter named twice", tool.name)
        yield from (Failure(1, "unknown type", f"{tool.name}.{p.name}") for p in tool.parameters if p.type not in TYPES)
    yield from (Failure(1, "no request", tier) for tier in TIERS if not record.requests.get(tier, "").strip())


def _arguments(record: Record) -> Iterator[Failure]:
    tools = {tool.name: tool for tool in record.tools}
    for call in record.expected:
        if call.tool not in tools:
            yield Failure(1, "unknown tool", call.tool)
            continue
        tool = tools[call.tool]
        for p in tool.parameters:
            if p.required and p.name not in call.args:
                yield Failure(1, "missing argument", f"{tool.name}.{p.name}")
        for name, value in call.args.items():
            yield from _value(tool, name, value)


def _value(tool: Tool, name: str, value: Any) -> Iterator[Failure]:
    held, where = parameter(tool, name), f"{tool.name}.{name}"
    if held is None:
        yield Failure(1, "unknown argument", where)
    elif not _fits(held, value):
        yield Failure(1, "type of argument", where)
    elif held.choices and value not in held.choices:
        yield Failure(1, "not a choice", where)


def _fits(held: Parameter, value: Any) -> bool:
    if isinstance(value, bool) != (held.type == "boolean"):
        return False
    return isinstance(value, TYPES.get(held.type, (object,)))


def _trace(record: Record) -> Iterator[Failure]:
    """References lead to results of earlier calls; edges are those references; topology is what the edges make."""
    returns = {tool.name: tool.returns for tool in record.tools}
    used = set()
    for later, call in enumerate(record.expected):
        for earlier, result in references(list(call.args.values())):
            if not 0 <= earlier < later:
                yield Failure(1, "reference to a later call", f"{call.tool}: ${earlier + 1}")
            elif returns.get(record.expected[earlier].tool) != result:
                yield Failure(1, "reference to no result", f"{call.tool}: ${earlier + 1}.{result}")
            else:
                used.add((earlier, later))
    if used != set(record.edges):
        yield Failure(1, "edges are not the references", str(sorted(used ^ set(record.edges))))
    made = topology([call.tool for call in record.expected], record.edges)
    if made != record.topology:
        yield Failure(1, "topology", f"{record.topology}, but the edges make it {made}")


def _grounding(record: Record) -> Iterator[Failure]:
    """Every literal of the calls stands in the request, and every literal of the request in the calls."""
    wanted = {text for call in record.expected for v in call.args.values() for text in _literals(v)}
    for tier in TIERS:
        said = _said(record.requests[tier])
        texts = {text for text in wanted if text in said or re.search(rf"\b{re.escape(text)}\b", record.requests[tier])}
        yield from (Failure(2, "argument not in the request", f"{tier}: {text}") for text in sorted(wanted - texts))
        yield from (Failure(2, "stray value in the request", f"{tier}: {text}") for text in sorted(said - wanted))


def _literals(value: Any) -> list[str]:
    """A value as it must stand in a request; references and flags have no text of their own."""
    if isinstance(value, (bool, list)):
        return []
    return [f"{value:.2f}" if isinstance(value, float) else str(value)]


def _said(request: str) -> set[str]:
    said: set[str] = set()
    for shape in (EMAIL, CODE, DATE, NUMBER, INTEGER):
        said |= set(shape.findall(request))
        request = shape.sub("", request)
    return said


def _wording(record: Record) -> Iterator[Failure]:
    names = {p.name for tool in record.tools for p in tool.parameters if "_" in p.name}
    tiers: tuple[Tier, ...] = ("medium", "hard")
    for tier in tiers:
        said = [name for name in sorted(names) if re.search(rf"\b{name}\b", record.requests[tier])]
        yield from (Failure(2, "parameter name in the request", f"{tier}: {name}") for name in said)
    for tier in tiers:
        if record.requests[tier] == record.requests["easy"]:
            yield Failure(2, "request not rewritten", tier)


def _sufficiency(record: Record) -> Iterator[Failure]:
    """A reader of nothing but request and tools finds exactly the expected calls."""
    for tier in TIERS:
        found = recover(record.requests[tier], record.tools)
        if found != record.expected:
            yield Failure(2, "request does not suffice", f"{tier}: {[call.tool for call in found]}")
