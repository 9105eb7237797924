"""The generator's records: verified, of six topologies by their edges, and answerable at every tier."""

from collections import Counter

import pytest
from msgspec.structs import replace

from lib.plans import gate
from lib.plans.generate import generate, vocabulary
from lib.plans.graph import ancestors, topology
from lib.plans.inverse import recover
from lib.plans.records import TIERS, TOPOLOGIES, references
from lib.records import ToolCall


@pytest.mark.parametrize(
    ("calls", "edges", "kind"),
    [
        (2, [(0, 1)], "linear"),
        (4, [(0, 1), (1, 2), (2, 3)], "linear"),
        (3, [(0, 1), (0, 2)], "fan_out"),
        (4, [(0, 1), (0, 2), (0, 3)], "fan_out"),
        (3, [(0, 2), (1, 2)], "fan_in"),
        (4, [(0, 1), (0, 2), (1, 3), (2, 3)], "diamond"),
        (3, [(0, 2)], "optional_enrichment"),
        (4, [(0, 1), (1, 2), (0, 3)], "optional_enrichment"),
        (4, [(0, 1), (1, 2), (1, 3)], "optional_enrichment"),
        (4, [(0, 2), (1, 3)], None),
    ],
)
def test_topology_is_computed_from_the_edges(calls, edges, kind):
    assert topology([f"tool_{i}" for i in range(calls)], edges) == kind


def test_a_repeated_tool_makes_a_workflow_loop_like():
    assert topology(["list", "cancel", "cancel"], [(0, 1), (0, 2)]) == "loop_like"


def test_ancestors_reach_through_calls_between():
    assert ancestors(4, [(0, 1), (1, 3), (2, 3)]) == [set(), {0}, set(), {0, 1, 2}]


def test_one_seed_gives_twelve_records_of_each_topology_over_fifteen_domains(records):
    assert Counter(r.topology for r in records) == dict.fromkeys(TOPOLOGIES, 12)
    assert len({r.domain for r in records}) == len(vocabulary()["domain"]) == 15
    assert len({r.record_id for r in records}) == 72
    assert {len(r.tools) for r in records} <= set(range(8, 20))
    assert {len(r.expected) for r in records} == {2, 3, 4, 5}


def test_the_same_seed_gives_the_same_records_and_more_of_them_change_none(records):
    assert generate(7, 2) == records[:12]
    assert generate(8, 1) != records[:6]


def test_every_tool_of_every_domain_comes_up_and_passes_the_gate():
    tools = {t.name for r in generate(3, 40) for t in r.tools}
    assert len(tools) == 15 * 24


@pytest.mark.parametrize("tier", TIERS)
def test_request_and_tools_alone_give_every_expected_call_back(records, tier):
    for record in records:
        assert recover(record.requests[tier], record.tools) == record.expected, record.record_id


def test_the_inverse_parser_notices_a_request_that_asks_for_something_else(records):
    record = records[0]
    for tier in TIERS:
        assert recover(records[6].requests[tier], record.tools) != record.expected


def test_only_the_easy_request_names_parameters_and_the_hard_one_keeps_numbers(records):
    record = next(r for r in records if any(isinstance(v, int) for c in r.expected for v in c.args.values()))
    names = {n for c in record.expected for n in c.args if "_" in n}
    assert names
    assert all(n in record.requests["easy"] for n in names)
    assert not any(n in record.requests[t] for n in names for t in ("medium", "hard"))
    assert all(any(s.isdigit() for s in record.requests[t]) for t in TIERS)


# The gate: each rule is broken once.


def broken(record, **changes):
    return {f.rule for f in gate.failures(replace(record, **changes))}


def with_call(record, position, **args):
    calls = list(record.expected)
    call = calls[position]
    calls[position] = ToolCall(call.tool, {k: v for k, v in (call.args | args).items() if v is not None})
    return calls


@pytest.fixture
def record(records):
    """One call whose result two others use."""
    return next(r for r in records if r.record_id == "fan_out-000")


def tool_of(record, position):
    return next(t for t in record.tools if t.name == record.expected[position].tool)


def rebuilt(record, position, **changes):
    old = tool_of(record, position)
    return [replace(t, **changes) if t is old else t for t in record.tools]


def test_generated_records_pass(record):
    assert gate.failures(record) == []


def test_gate_counts_tools_and_calls(record):
    assert "number of tools" in broken(record, tools=record.tools[:7])
    assert "number of calls" in broken(record, expected=record.expected[:1])


def test_gate_refuses_names_that_are_not_unique(record):
    assert "tool named twice" in broken(record, tools=[*record.tools, record.tools[0]])
    doubled = tool_of(record, 0).parameters * 2
    assert "parameter named twice" in broken(record, tools=rebuilt(record, 0, parameters=doubled))


def test_gate_refuses_an_unknown_type(record):
    odd = [replace(p, type="thing") for p in tool_of(record, 0).parameters]
    assert "unknown type" in broken(record, tools=rebuilt(record, 0, parameters=odd))


def test_gate_wants_a_request_at_every_tier(record):
    assert broken(record, requests={**record.requests, "hard": " "}) == {"no request"}


def test_gate_refuses_a_call_to_no_tool(record):
    assert "unknown tool" in broken(record, expected=[ToolCall("nothing", {}), *record.expected[1:]])


def test_gate_checks_arguments_against_the_schema(record):
    call = record.expected[1]
    results = next(k for k, v in call.args.items() if isinstance(v, list))
    assert "missing argument" in broken(record, expected=with_call(record, 1, **{results: None}))
    assert broken(record, expected=with_call(record, 0, colour="red")) == {"unknown argument"}
    code = next(iter(record.expected[0].args))
    for wrong in (7, True, ["x"]):
        assert broken(record, expected=with_call(record, 0, **{code: wrong})) == {"type of argument"}


def test_gate_refuses_a_value_outside_the_choices(records):
    record = next(r for r in records if r.expected[0].tool.startswith("search_"))
    assert broken(record, expected=with_call(record, 0, state="purple")) == {"not a choice"}


def test_gate_follows_references(record):
    name = next(k for k, v in record.expected[1].args.items() if isinstance(v, list))
    assert "reference to a later call" in broken(record, expected=with_call(record, 1, **{name: ["$3.x"]}))
    assert "reference to no result" in broken(record, expected=with_call(record, 1, **{name: ["$1.x"]}))
    assert "edges are not the references" in broken(record, edges=record.edges[:1])
    assert broken(record, topology="linear") == {"topology"}


def test_gate_wants_every_value_grounded_and_no_stray_one(record):
    code = next(iter(record.expected[0].args))
    assert "argument not in the request" in broken(record, expected=with_call(record, 0, **{code: "ACC-99999"}))
    hard = {**record.requests, "hard": record.requests["hard"] + " by 2027-01-01"}
    assert "stray value in the request" in broken(record, requests=hard)


def test_gate_refuses_parameter_names_and_copies_in_the_harder_tiers(record):
    code = next(iter(record.expected[0].args))
    assert broken(record, requests={**record.requests, "medium": record.requests["medium"] + f" The {code}!"}) == {
        "parameter name in the request"
    }
    copied = {**record.requests, "hard": record.requests["easy"]}
    assert "request not rewritten" in broken(record, requests=copied)


def test_gate_refuses_a_request_that_leaves_a_call_out(record):
    cut = record.requests["easy"].split(" Finally,")[0]
    assert broken(record, requests={**record.requests, "easy": cut}) == {"request does not suffice"}


def test_references_are_read_from_values_and_lists_only_where_they_are_whole():
    assert references(["$1.list", ["$2.x"]]) == [(0, "list"), (1, "x")]
    assert references("costs $5") == references("$.x") == references("$3") == references(4) == []
