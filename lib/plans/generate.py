"""Verified records from a seed, without any model: tools, expected calls and the request at three tiers."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from lib.plans import gate
from lib.plans.records import TIERS, TOPOLOGIES, Edge, Parameter, Record, Tier, Tool, Topology
from lib.plans.words import Asked, request
from lib.records import ToolCall

ATTEMPTS = 20
TOOLS = (8, 19)
ROOTS = ("get", "check", "search")
OPTIONAL_SHARE = 0.4
TYPES = {"code": "string", "date": "string", "email": "string", "choice": "string", "results": "array"}
FORMATS = ["pdf", "csv", "slides"]


@cache
def vocabulary() -> dict[str, Any]:
    return tomllib.loads(files("lib.plans").joinpath("vocabulary.toml").read_text("utf-8"))


def generate(seed: int, per_topology: int = 12) -> list[Record]:
    """Records of every topology in turn, over the fifteen domains; the same for the same seed.

    Record i of a topology does not depend on how many there are. Raises RuntimeError if no try passes the gate.
    """
    return [
        _verified(seed, kind, i, i * len(TOPOLOGIES) + j)
        for i in range(per_topology)
        for j, kind in enumerate(TOPOLOGIES)
    ]


def _verified(seed: int, kind: Topology, index: int, place: int) -> Record:
    for attempt in range(ATTEMPTS):
        record = _draft(Random(f"{seed}/{kind}/{index}/{attempt}"), kind, index, place)
        if not (failures := gate.failures(record)):
            return record
    raise RuntimeError(f"no {kind} record {index} of seed {seed} passed the gate: {failures}")


def _draft(rng: Random, kind: Topology, index: int, place: int) -> Record:
    domain = list(vocabulary()["domain"])[place % len(vocabulary()["domain"])]
    offered = _tools(domain)
    edges, roots, calls = _shape(rng, kind)
    chosen = _choose(rng, offered, kind, roots, calls)
    distractors = [tool for _, _, tool in offered if all(tool.name != c[2].name for c in chosen)]
    names = {c[2].name for c in chosen}
    pool = [*{c[2].name: c[2] for c in chosen}.values()]
    pool += rng.sample(distractors, rng.randint(*TOOLS) - len(names))
    rng.shuffle(pool)
    asked = _fill(rng, chosen, edges)
    requests: dict[Tier, str] = {tier: request(asked, edges, tier, vocabulary()["words"]) for tier in TIERS}
    return Record(
        record_id=f"{kind}-{index:03d}",
        domain=domain,
        topology=kind,
        tools=pool,
        expected=[ToolCall(a.tool.name, a.args) for a in asked],
        edges=edges,
        requests=requests,
    )


def _shape(rng: Random, kind: Topology) -> tuple[list[Edge], int, int]:
    """(edges, number of calls without predecessor, number of calls); such calls come first."""
    if kind == "linear":
        calls = rng.choice([2, 2, 3, 3, 4])
        return [(i, i + 1) for i in range(calls - 1)], 1, calls
    if kind == "fan_out":
        leaves = rng.choice([2, 2, 2, 3])
        return [(0, i + 1) for i in range(leaves)], 1, leaves + 1
    if kind == "fan_in":
        roots = rng.choice([2, 2, 2, 3])
        return [(i, roots) for i in range(roots)], roots, roots + 1
    if kind == "diamond":
        middle = rng.choice([2, 2, 3])
        return [(0, i + 1) for i in range(middle)] + [(i + 1, middle + 1) for i in range(middle)], 1, middle + 2
    if kind == "optional_enrichment":
        if rng.random() < 0.4:
            return [(0, 2)], 2, 3
        path = rng.choice([3, 4])
        return [(i, i + 1) for i in range(path - 1)] + [(rng.randrange(path - 1), path)], 1, path + 1
    if rng.random() < 0.5:
        roots = rng.choice([2, 2, 3])
        return [(i, roots) for i in range(roots)], roots, roots + 1
    rounds = rng.choice([2, 2, 3])
    return [(0, i + 1) for i in range(rounds)], 1, rounds + 1


Offer = tuple[str, dict[str, Any], Tool]


@cache
def _tools(domain: str) -> list[Offer]:
    """Every tool of a domain, with its kind and nouns."""
    words = vocabulary()["domain"][domain]
    nouns: dict[str, list[dict[str, Any]]] = {
        "notify": [{"person": p} for p in words["people"]],
        "issue": [{"paper": p} for p in words["papers"]],
        "compile": [{"report": r} for r in words["reports"]],
    }
    fields = ("noun", "prefix", "check", "estimate", "setting", "event", "states")
    things = [dict(zip(fields, thing, strict=True)) for thing in words["things"]]
    return [(k, n, _tool(spec, n)) for k, spec in vocabulary()["kind"].items() for n in nouns.get(k, things)]


def _tool(spec: dict[str, Any], nouns: dict[str, Any]) -> Tool:
    parameters = []
    for name, kind, description, *optional in spec["parameters"]:
        choices = (nouns["states"] if name == "state" else FORMATS) if kind == "choice" else []
        named = _snake(name.format(**nouns))
        told = description.format(**nouns)
        parameters.append(Parameter(named, TYPES.get(kind, kind), told, not optional, choices))
    told = spec["description"].format(**nouns)
    returns = _snake(spec["returns"].format(**nouns))
    return Tool(_snake(spec["name"].format(**nouns)), told, parameters, returns)


def _snake(words: str) -> str:
    return words.replace(" ", "_").replace("-", "_")


def _choose(rng: Random, offered: list[Offer], kind: Topology, roots: int, calls: int) -> list[Offer]:
    """A tool for each call: those that need no earlier result first."""
    first = [o for o in offered if o[0] in ROOTS]
    later = [o for o in offered if o[0] not in ROOTS]
    if kind != "loop_like":
        return rng.sample(first, roots) + rng.sample(later, calls - roots)
    if roots > 1:
        return [rng.choice([o for o in first if o[0] != "search"])] * roots + rng.sample(later, 1)
    again = rng.choice([o for o in later if o[0] in ("schedule", "set", "estimate")])
    return rng.sample(first, 1) + [again] * (calls - 1)


def _fill(rng: Random, chosen: list[Offer], edges: list[Edge]) -> list[Asked]:
    """Arguments: one code a thing (a new one each round of a loop), results of the calls before, some optional ones."""
    codes: dict[str, str] = {}
    asked: list[Asked] = []
    for position, (kind, nouns, tool) in enumerate(chosen):
        again = any(other.tool.name == tool.name for other in asked)
        args: dict[str, Any] = {}
        for (_, form, *_), p in zip(vocabulary()["kind"][kind]["parameters"], tool.parameters, strict=True):
            if not p.required and rng.random() >= OPTIONAL_SHARE:
                continue
            if form == "code" and again:
                codes[nouns["prefix"]] = _code(rng, nouns)
            if form == "code":
                args[p.name] = codes.setdefault(nouns["prefix"], _code(rng, nouns))
            elif form == "results":
                before = [a for a, b in edges if b == position]
                args[p.name] = [f"${a + 1}.{chosen[a][2].returns}" for a in before]
            else:
                args[p.name] = rng.choice(p.choices) if p.choices else _literal(rng, form)
        asked.append(Asked(vocabulary()["kind"][kind], nouns, tool, args))
    return asked


def _code(rng: Random, nouns: dict[str, Any]) -> str:
    return f"{nouns['prefix']}-{rng.randint(10001, 99999)}"


def _literal(rng: Random, form: str) -> Any:
    if form == "date":
        return f"2027-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if form == "email":
        person = rng.choice(["ada", "bruno", "chen", "dilek", "emeka", "farah", "goran", "hana"])
        return f"{person}@{rng.choice(['north', 'south', 'central'])}.example"
    if form == "number":
        return rng.randint(2000, 99999) / 100
    return True if form == "boolean" else rng.randint(2, 120)
