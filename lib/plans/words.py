"""The request at each tier, in words: precise; conversational without parameter names; casual with goals merged."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from lib.plans.graph import ancestors, topology
from lib.plans.records import Edge, Tier, Tool

Words = dict[str, list[str]]
SENTENCES = ("Could you please {}?", "Then {}.", "Next, please {}.", "After that, {}.", "And last of all, {}.")


class Asked(NamedTuple):
    """One call with what its words are made from: the kind of its tool, its nouns and its arguments."""

    kind: dict[str, Any]
    nouns: dict[str, Any]
    tool: Tool
    args: dict[str, Any]

    @property
    def code(self) -> str:
        """The code of what it acts on; empty where it has none."""
        return next((str(v) for k, v in self.args.items() if k.endswith("_code")), "")


def request(asked: Sequence[Asked], edges: Sequence[Edge], tier: Tier, words: Words) -> str:
    """The request for these calls; ``words`` says how optional parameters are asked for (medium, hard)."""
    if tier == "easy":
        return _easy(asked, edges)
    return _medium(asked, edges, words) if tier == "medium" else _hard(asked, edges, words)


def _easy(asked: Sequence[Asked], edges: Sequence[Edge]) -> str:
    sentences = []
    for position, call in enumerate(asked):
        named = [f"{k} {_text(v)}" for k, v in call.args.items() if not isinstance(v, list)]
        named += [f"{k} from {_results(asked, edges, position)}" for k, v in call.args.items() if isinstance(v, list)]
        first, last = position == 0, position == len(asked) - 1
        start = "First, " if first else "Finally, " if last else "Then "
        sentences.append(f"{start}{call.kind['easy'].format(**call.nouns)} with {_listed(named)}.")
    return " ".join(sentences)


def _medium(asked: Sequence[Asked], edges: Sequence[Edge], words: Words) -> str:
    side = _side(asked, edges)
    sentences = []
    for position, call in enumerate(asked):
        head, item = _halves(call, "medium")
        clause = _joined(head, item, _options(call, words, 0), _given(asked, edges, position, "based on"))
        frame = "If it is no trouble, also {}." if position == side else SENTENCES[position]
        sentences.append(frame.format(clause))
    return " ".join(sentences)


def _hard(asked: Sequence[Asked], edges: Sequence[Edge], words: Words) -> str:
    """One run-on sentence: what all the rest serves comes first, rounds of a loop share their verb."""
    last, side = len(asked) - 1, _side(asked, edges)
    goal_first = len(ancestors(len(asked), edges)[last]) == last
    order = [last, *range(last)] if goal_first else list(range(len(asked)))
    clauses: list[str] = []
    spoken = ""
    for _, group in itertools.groupby(order, lambda i: asked[i].tool.name):
        rounds = list(group)
        calls = [asked[i] for i in rounds]
        head, items = _halves(calls[0], "hard")[0], [_halves(call, "hard")[1] for call in calls]
        if len(calls) == 1 and " " in head and calls[0].code == spoken:  # a bare verb needs the code to tell its object
            items = [items[0].replace(spoken, "it")] if spoken else items
        spoken = calls[-1].code or spoken
        said = [_joined(item, _options(call, words, 1)) for item, call in zip(items, calls, strict=True)]
        clause = _joined(head, " and ".join(said), _given(asked, edges, rounds[0], "off"))
        clauses.append(f"{clause} while you're at it" if side in rounds else clause)
    if goal_first:
        return f"hey, gotta {clauses[0]}, so first {_listed(clauses[1:])}"
    return f"hey, {_listed(clauses)}, thx"


def _halves(call: Asked, tier: Tier) -> tuple[str, str]:
    """How the call is asked for, in two halves: the verb with its object, and what it is to be done to."""
    values = {k: _text(v) for k, v in call.args.items()}
    head, item = call.kind[tier].format(**call.nouns, **values, code=call.code).split("|")
    return head.strip(), item.strip()


def _options(call: Asked, words: Words, place: int) -> str:
    left_open = [p.name for p in call.tool.parameters if not p.required and p.name in call.args]
    return ", ".join(words[name][place].format(value=_text(call.args[name])) for name in left_open)


def _given(asked: Sequence[Asked], edges: Sequence[Edge], position: int, cue: str) -> str:
    results = _results(asked, edges, position)
    return f"{cue} {results}" if results else ""


def _results(asked: Sequence[Asked], edges: Sequence[Edge], position: int) -> str:
    """What the calls before give, by name; in the plural where one tool was called again."""
    given = [asked[a].tool.returns.replace("_", " ") for a, b in edges if b == position]
    return _listed([f"the {name}{'s' if given.count(name) > 1 else ''}" for name in dict.fromkeys(given)])


def _side(asked: Sequence[Asked], edges: Sequence[Edge]) -> int | None:
    """The call that an enrichment could do without."""
    if topology([call.tool.name for call in asked], edges) != "optional_enrichment":
        return None
    before, heads = ancestors(len(asked), edges), {a for a, _ in edges}
    return min((c for c in range(len(asked)) if c not in heads), key=lambda c: (len(before[c]), -c))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
