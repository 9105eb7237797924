"""What the edges between calls say: the kind of workflow, and which call must come before which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lib.plans.records import Edge, Topology


def topology(tools: Sequence[str], edges: Sequence[Edge]) -> Topology | None:
    """The kind of workflow, computed from its calls' tools and edges; None for one that is none of the six.

    A tool that is called again makes it loop-like. Else roots and sinks decide: one and one is a path (linear) or a
    diamond, several roots and one sink a fan-in, one root and several sinks a fan-out. A path beside one call that
    its sink does not need is an optional enrichment.
    """
    calls = range(len(tools))
    if len(set(tools)) < len(tools):
        return "loop_like"
    heads, tails = {a for a, _ in edges}, {b for _, b in edges}
    roots, sinks = [c for c in calls if c not in tails], [c for c in calls if c not in heads]
    if any(_is_enrichment(len(tools), edges, side) for side in sinks):
        return "optional_enrichment"
    if len(roots) == len(sinks) == 1:
        return "linear" if len(edges) == len(tools) - 1 else "diamond"
    if len(sinks) == 1:
        return "fan_in"
    return "fan_out" if len(roots) == 1 else None


def _is_enrichment(calls: int, edges: Sequence[Edge], side: int) -> bool:
    """Whether leaving out ``side`` leaves a path: of three calls or more, or of two to which it has no edge."""
    rest = [edge for edge in edges if side not in edge]
    attached = len(edges) - len(rest)
    shortest = 3 if attached else 2
    path = len(rest) == calls - 2 and max(Counter(a for a, _ in rest).values(), default=0) == 1
    chain = path and max(Counter(b for _, b in rest).values(), default=0) == 1
    last = {b for _, b in rest} - {a for a, _ in rest}
    return chain and attached <= 1 and calls - 1 >= shortest and not any(a in last for a, _ in edges)


def ancestors(calls: int, edges: Sequence[Edge]) -> list[set[int]]:
    """For each call all calls that must come before it. Edges must lead from lower to higher positions."""
    before: list[set[int]] = [set() for _ in range(calls)]
    for earlier, later in sorted(edges, key=lambda edge: edge[1]):
        before[later] |= before[earlier] | {earlier}
    return before
