"""The reference scores of a plan: Equations 1 to 3 of AgentJudgeBench (arXiv 2608.26623), and corrected ones.

All take calls as they were predicted and as they were expected, and give four values in [0, 1]. Beside them the judges
that ask no model: what any other must beat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random

from msgspec.structs import astuple

from lib.plans.graph import ancestors
from lib.plans.records import LEVELS, METRICS, Levels, PlanView, Record, Tool, references
from lib.records import ToolCall

DIGITS_OF_RELEASED_CODE = 4


def score(predicted: Sequence[ToolCall], expected: Sequence[ToolCall], *, released_code: bool = False) -> Levels:
    """The four scores as the paper defines them (Eqs 1a, 1b, 2 and 3): names and keys count, values never do.

    Where a tool is expected several times the paper does not say whose keys a call is held to; here it is the one
    that fits best. ``released_code`` holds it to the last one and rounds to four places, as that code does.
    """
    made, wanted = {call.tool for call in predicted}, {call.tool for call in expected}
    keys: dict[str, list[frozenset[str]]] = {}
    for call in expected:
        earlier = [] if released_code else keys.get(call.tool, [])
        keys[call.tool] = [*earlier, frozenset(call.args)]
    held = [max((_keys(frozenset(call.args), k) for k in keys.get(call.tool, [])), default=0.0) for call in predicted]
    in_place = sum(p.tool == e.tool for p, e in zip(predicted, expected, strict=False))
    scores = Levels(
        tool_selection=max(0.0, 1 - len(made ^ wanted) / max(len(wanted), 1)),
        parameter_structure=_mean(held),
        sequence=in_place / len(expected) if expected else 1.0,
        query_coverage=len(made & wanted) / len(wanted) if wanted else 1.0,
    )
    return Levels(*(round(s, DIGITS_OF_RELEASED_CODE) for s in astuple(scores))) if released_code else scores


def corrected(predicted: Sequence[ToolCall], record: Record) -> Levels:
    """Scores that do not penalise what is no fault, and count calls where Eqs 1 to 3 count names.

    Tools and coverage are of multisets. A call's parameters are held to its tool's schema: a required key that is
    missing scores 0, a key that the schema does not know 0.5; a call of a tool beyond its expected number scores 0. An
    expected call is in sequence if it was made, and none that it depends on was made after it.
    """
    made, wanted = Counter(c.tool for c in predicted), Counter(c.tool for c in record.expected)
    surplus, missing, hit = (made - wanted).total(), (wanted - made).total(), (made & wanted).total()
    total = wanted.total()
    tools = {tool.name: tool for tool in record.tools}
    left = Counter(wanted)
    held = []
    for call in predicted:
        held.append(_schema(call, tools.get(call.tool)) if left[call.tool] > 0 else 0.0)
        left[call.tool] -= 1
    place = _places(predicted, record.expected)
    before = ancestors(total, record.edges)
    ordered = sum(place[c] >= 0 and all(place[b] <= place[c] for b in before[c]) for c in range(total))
    return Levels(
        tool_selection=max(0.0, 1 - (surplus + missing) / max(total, 1)),
        parameter_structure=_mean(held),
        sequence=ordered / total if total else 1.0,
        query_coverage=hit / total if total else 1.0,
    )


def schema_check(predicted: Sequence[ToolCall], tools: Sequence[Tool]) -> Levels:
    """What can be said without a reference and without a model: whether the calls fit the schemas of the tools.

    Tool selection is the share of calls to tools that there are; parameters as in ``corrected``; sequence the share of
    calls none of whose references leads to a later or to no call; coverage is 1, since the request is not read.
    """
    known = {tool.name: tool for tool in tools}
    return Levels(
        tool_selection=_mean(float(call.tool in known) for call in predicted),
        parameter_structure=_mean(_schema(call, known.get(call.tool)) for call in predicted),
        sequence=_mean(float(_refers_back(i, call)) for i, call in enumerate(predicted)),
        query_coverage=1.0,
    )


def _coin(view: PlanView) -> Levels:
    rng = Random(f"coin/{view.token}")
    return Levels(*(rng.choice(LEVELS) for _ in METRICS))


BASELINES: dict[str, Callable[[PlanView], Levels]] = {
    "always-1": lambda view: Levels(1.0, 1.0, 1.0, 1.0),
    "always-half": lambda view: Levels(0.5, 0.5, 0.5, 0.5),
    "coin": _coin,
    "schema": lambda view: schema_check(view.calls, view.tools),
}
"""By judge id. The schema checker's levels are shares, on no scale; the coin falls the same way each time."""


def _keys(made: frozenset[str], wanted: frozenset[str]) -> float:
    if made == wanted:
        return 1.0
    return 0.5 if made > wanted else 0.0


def _schema(call: ToolCall, tool: Tool | None) -> float:
    if tool is None or any(p.required and p.name not in call.args for p in tool.parameters):
        return 0.0
    return 1.0 if set(call.args) <= {p.name for p in tool.parameters} else 0.5


def _places(predicted: Sequence[ToolCall], expected: Sequence[ToolCall]) -> list[int]:
    """Where each expected call was made, or -1: a call equal in its arguments first, then any of the tool, in order."""
    place = [-1] * len(expected)
    taken: set[int] = set()
    for exact in (True, False):
        for i, wanted in enumerate(expected):
            fits = (
                j
                for j, call in enumerate(predicted)
                if j not in taken and call.tool == wanted.tool and (not exact or call.args == wanted.args)
            )
            if place[i] < 0 and (found := next(fits, -1)) >= 0:
                place[i] = found
                taken.add(found)
    return place


def _refers_back(position: int, call: ToolCall) -> bool:
    return all(0 <= earlier < position for earlier, _ in references(list(call.args.values())))


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held) if held else 1.0
