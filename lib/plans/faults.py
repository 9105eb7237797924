"""Plans with a known score: the reference, and what comes of it when one kind of fault reaches some of its calls.

A plan is the same at every tier, and so is its true score: a request's difficulty is told from a plan's error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from lib.plans.records import Parameter, Plan, Record, Tool, references
from lib.records import ToolCall

RATES = (0.25, 0.5, 1.0)
UNKNOWN_KEYS = ("trace_id", "locale", "dry_run")
FILLED = {"integer": 1, "number": 1.0, "boolean": True, "array": ["<result>"]}

Slot = tuple[int | None, ToolCall]
"""A call of a plan with its position in the reference; None for one that is not there."""


def plans(record: Record, seed: int) -> list[Plan]:
    """The reference as a plan (fault ``none``) and every fault at every rate at which it can be made.

    A rate is the share of calls that the fault reached; two rates that reach as many calls are one plan.
    """
    made = [_plan(record, "none", None, _slots(record))]
    for fault, (break_calls, graded) in FAULTS.items():
        counts = {max(1, round(rate * len(record.expected))) for rate in RATES} if graded else {0}
        for reached in sorted(counts):
            slots = break_calls(Random(f"{seed}/{record.record_id}/{fault}/{reached}"), record, reached)
            if slots is not None:
                made.append(_plan(record, fault, reached / len(record.expected) if graded else None, slots))
    return made


def some_plans(records: Sequence[Record], seed: int, each: int) -> list[Plan]:
    """The reference and so many broken plans of each record, every fault about equally often over the records.

    A record gets the faults that came least often before it, equal ones in a seeded order, each at a drawn rate.
    """
    used = dict.fromkeys(FAULTS, 0)
    chosen = []
    for record in records:
        rng = Random(f"{seed}/{record.record_id}/some")
        by_fault: dict[str, list[Plan]] = {}
        for plan in plans(record, seed):
            by_fault.setdefault(str(plan.fault), []).append(plan)
        chosen += by_fault.pop("none")
        turn = {fault: rng.random() for fault in by_fault}
        for fault in sorted(by_fault, key=lambda fault: (used[fault], turn[fault]))[:each]:
            chosen.append(rng.choice(by_fault[fault]))
            used[fault] += 1
    return chosen


def edited(record: Record, edits: int, rng: Random) -> list[ToolCall]:
    """The expected calls after one to four edits of different kinds, none of which takes another back."""
    kinds = [rng.choice(("add", "drop")), "missing_key", "swap", "wrong_tool"]
    for fault in rng.sample(kinds, edits):
        slots = FAULTS[fault][0](rng, record, 1)
        record = replace(record, expected=_renumbered(slots)) if slots is not None else record
    return record.expected


def disjoint(record: Record, calls: Sequence[ToolCall], rng: Random) -> list[ToolCall]:
    """As many calls as are expected, of tools that neither they nor ``calls`` use, or of all such tools."""
    made = {call.tool for call in calls}
    spare = [tool for tool in _unasked(record) if tool.name not in made]
    return [_call(tool) for tool in rng.sample(spare, min(len(record.expected), len(spare)))]


def _plan(record: Record, fault: str, rate: float | None, slots: Sequence[Slot]) -> Plan:
    name = fault if rate is None else f"{fault}@{rate:.2f}"
    return Plan(
        plan_id=f"{record.record_id}/{name}",
        record_id=record.record_id,
        planner="programmatic",
        tier=None,
        fault=fault,
        rate=rate,
        calls=_renumbered(slots),
    )


def _slots(record: Record) -> list[Slot]:
    return list(enumerate(record.expected))


def _renumbered(slots: Sequence[Slot]) -> list[ToolCall]:
    """The calls with references to where the call that they meant now stands; ``<result>`` if it is gone."""
    place: dict[int, int] = {}
    for now, (origin, _) in enumerate(slots):
        if origin is not None:
            place.setdefault(origin, now)

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(part) for part in value]
        if found := references(value):
            origin, result = found[0]
            return f"${place[origin] + 1}.{result}" if origin in place else f"<{result}>"
        return value

    return [ToolCall(call.tool, {k: moved(v) for k, v in call.args.items()}) for _, call in slots]


def _drop(rng: Random, record: Record, reached: int) -> list[Slot] | None:
    """Leaves calls out; at least one stays, since an empty plan is not judged."""
    if reached >= len(record.expected):
        return None
    gone = set(rng.sample(range(len(record.expected)), reached))
    return [slot for slot in _slots(record) if slot[0] not in gone]


def _add(rng: Random, record: Record, reached: int) -> list[Slot] | None:
    """Inserts calls of tools that nobody asked for."""
    slots, spare = _slots(record), _unasked(record)
    if reached > len(spare):
        return None
    for tool in rng.sample(spare, reached):
        slots.insert(rng.randint(0, len(slots)), (None, _call(tool)))
    return slots


def _swap(rng: Random, record: Record, reached: int) -> list[Slot] | None:
    """Exchanges neighbours of different tools."""
    slots = _slots(record)
    pairs = [i for i in range(len(slots) - 1) if slots[i][1].tool != slots[i + 1][1].tool]
    if reached > len(pairs):
        return None
    for i in sorted(rng.sample(pairs, reached)):
        slots[i], slots[i + 1] = slots[i + 1], slots[i]
    return slots


def _duplicate(rng: Random, record: Record, reached: int) -> list[Slot] | None:
    """Makes calls twice in a row."""
    twice = set(rng.sample(range(len(record.expected)), reached))
    return [slot for i, slot in enumerate(_slots(record)) for _ in range(2 if i in twice else 1)]


def _wrong_tool(rng: Random, record: Record, reached: int) -> list[Slot] | None:
    """Calls another tool, one that does the same to another thing where there is one."""
    slots, spare = _slots(record), _unasked(record)
    if reached > len(spare):
        return None
    for i in sorted(rng.sample(range(len(slots)), reached)):
        verb = slots[i][1].tool.partition("_")[0]
        alike = [tool for tool in spare if tool.name.partition("_")[0] == verb]
        tool = rng.choice(alike or spare)
        spare.remove(tool)
        slots[i] = (i, _call(tool, slots[i][1].args))
    return slots


def _keys(
    change: Callable[[Random, Tool, dict[str, Any]], dict[str, Any] | None],
) -> Callable[[Random, Record, int], list[Slot] | None]:
    """A fault that changes the keys of calls, where ``change`` gives other arguments and not None."""

    def broken(rng: Random, record: Record, reached: int) -> list[Slot] | None:
        tools = {tool.name: tool for tool in record.tools}
        slots = _slots(record)
        args = {i: change(rng, tools[call.tool], call.args) for i, (_, call) in enumerate(slots)}
        open_to_it = [i for i, changed in args.items() if changed is not None]
        if reached > len(open_to_it):
            return None
        chosen = set(rng.sample(open_to_it, reached))
        return [(i, ToolCall(c.tool, args[i] or {}) if i in chosen else c) for i, c in enumerate(record.expected)]

    return broken


def _without_required(rng: Random, tool: Tool, args: dict[str, Any]) -> dict[str, Any] | None:
    gone = rng.choice([p.name for p in tool.parameters if p.required])
    return {k: v for k, v in args.items() if k != gone}


def _without_optional(rng: Random, tool: Tool, args: dict[str, Any]) -> dict[str, Any] | None:
    used = [p.name for p in tool.parameters if not p.required and p.name in args]
    gone = rng.choice(used) if used else None
    return {k: v for k, v in args.items() if k != gone} if used else None


def _with_optional(rng: Random, tool: Tool, args: dict[str, Any]) -> dict[str, Any] | None:
    unused = [p for p in tool.parameters if not p.required and p.name not in args]
    added = rng.choice(unused) if unused else None
    return {**args, added.name: _filled(added)} if added else None


def _with_unknown(rng: Random, tool: Tool, args: dict[str, Any]) -> dict[str, Any] | None:
    return {**args, rng.choice(UNKNOWN_KEYS): "auto"}


def _reversed(rng: Random, record: Record, reached: int) -> list[Slot] | None:
    return _slots(record)[::-1]


FAULTS: dict[str, tuple[Callable[[Random, Record, int], list[Slot] | None], bool]] = {
    "drop": (_drop, True),
    "add": (_add, True),
    "swap": (_swap, True),
    "duplicate": (_duplicate, True),
    "wrong_tool": (_wrong_tool, True),
    "missing_key": (_keys(_without_required), True),
    "missing_optional": (_keys(_without_optional), True),
    "extra_key": (_keys(_with_optional), True),
    "unknown_key": (_keys(_with_unknown), True),
    "reversed": (_reversed, False),
}
"""Each fault with what makes it, and whether it has rates. An ``extra_key`` is valid in its tool's schema."""


def _unasked(record: Record) -> list[Tool]:
    asked = {call.tool for call in record.expected}
    return [tool for tool in record.tools if tool.name not in asked]


def _call(tool: Tool, args: dict[str, Any] | None = None) -> ToolCall:
    """A call with every required key; values are taken over where a key or, for codes, the tool's example fits."""
    given = args or {}
    return ToolCall(tool.name, {p.name: given.get(p.name, _filled(p)) for p in tool.parameters if p.required})


def _filled(parameter: Parameter) -> Any:
    if parameter.choices:
        return parameter.choices[0]
    _, _, example = parameter.description.rstrip(".").partition("such as ")
    return FILLED.get(parameter.type, example or f"<{parameter.name}>")
