"""Plans with a known score: each fault does what its name says, to the share of calls that its rate says."""

from collections import Counter

import pytest
from msgspec.structs import astuple

from lib.plans.faults import FAULTS, UNKNOWN_KEYS, plans, some_plans
from lib.plans.records import references
from lib.plans.score import corrected, score
from lib.records import ToolCall


@pytest.fixture(scope="module")
def planned(records):
    return [(record, plan) for record in records for plan in plans(record, seed=7)]


def of(planned, fault):
    found = [(r, p) for r, p in planned if p.fault == fault]
    assert len(found) >= 72 or fault in ("drop", "swap", "missing_optional", "extra_key")
    assert found
    return found


def names(calls):
    return [c.tool for c in calls]


def test_plans_follow_from_record_and_seed_and_have_ids_of_their_own(records):
    for record in records[:6]:
        made = plans(record, 7)
        assert made == plans(record, 7)
        assert len({p.plan_id for p in made}) == len(made)
        assert {p.record_id for p in made} == {record.record_id}
    assert plans(records[0], 7) != plans(records[0], 8)


def test_the_first_plan_is_the_reference_and_every_fault_is_made_somewhere(records, planned):
    assert all(plans(r, 7)[0].calls == r.expected for r in records)
    assert {p.fault for _, p in planned} == {"none", *FAULTS}


def test_every_fault_but_the_invisible_ones_lowers_a_score(planned):
    for record, plan in planned:
        lost = [m < 1 for m in astuple(score(plan.calls, record.expected))]
        truly = [m < 1 for m in astuple(corrected(plan.calls, record))]
        if plan.fault in ("none", "extra_key", "missing_optional"):
            assert not any(truly), plan.plan_id
        if plan.fault in ("wrong_tool", "missing_key", "unknown_key", "add", "duplicate", "drop"):
            assert any(truly), plan.plan_id
        if plan.fault in ("extra_key", "missing_optional", "unknown_key", "wrong_tool", "add"):
            assert any(lost) or len(set(names(record.expected))) < len(record.expected), plan.plan_id


def test_drop_leaves_the_rest_in_order(planned):
    for record, plan in of(planned, "drop"):
        assert len(record.expected) - len(plan.calls) == round(plan.rate * len(record.expected)) > 0
        assert plan.calls
        rest = iter(names(record.expected))
        assert all(tool in rest for tool in names(plan.calls))


def test_add_brings_tools_that_nobody_asked_for_and_keeps_the_references_right(planned):
    for record, plan in of(planned, "add"):
        wanted = set(names(record.expected))
        assert [t for t in names(plan.calls) if t in wanted] == names(record.expected)
        for call in plan.calls:
            for position, result in references(list(call.args.values())):
                made = next(t for t in record.tools if t.name == plan.calls[position].tool)
                assert made.returns == result


def test_swap_and_reversed_keep_the_calls_and_change_their_order(planned):
    for fault in ("swap", "reversed"):
        for record, plan in of(planned, fault):
            assert Counter(names(plan.calls)) == Counter(names(record.expected))
            if len(set(names(record.expected))) == len(record.expected):
                assert names(plan.calls) != names(record.expected)


def test_duplicate_makes_a_call_twice_in_a_row(planned):
    for record, plan in of(planned, "duplicate"):
        assert len(plan.calls) - len(record.expected) == round(plan.rate * len(record.expected))
        assert set(names(plan.calls)) == set(names(record.expected))


def test_wrong_tool_prefers_one_that_does_the_same_to_another_thing(planned):
    alike = 0
    for record, plan in of(planned, "wrong_tool"):
        changed = [(e.tool, p.tool) for e, p in zip(record.expected, plan.calls, strict=True) if e.tool != p.tool]
        assert len(changed) == round(plan.rate * len(record.expected))
        alike += sum(old.split("_")[0] == new.split("_")[0] for old, new in changed)
    assert alike > 100


@pytest.mark.parametrize(
    ("fault", "required", "change"),
    [("missing_key", True, -1), ("missing_optional", False, -1), ("extra_key", False, 1), ("unknown_key", None, 1)],
)
def test_key_faults_change_one_key_of_as_many_calls_as_the_rate_says(planned, fault, required, change):
    for record, plan in of(planned, fault):
        tools = {t.name: t for t in record.tools}
        reached = 0
        for old, new in zip(record.expected, plan.calls, strict=True):
            differ = set(old.args) ^ set(new.args)
            reached += bool(differ)
            if differ:
                (key,) = differ
                assert len(new.args) - len(old.args) == change
                held = next((p.required for p in tools[old.tool].parameters if p.name == key), None)
                assert held is required
                assert (key in UNKNOWN_KEYS) == (required is None)
        assert reached == round(plan.rate * len(record.expected))


def test_some_plans_hold_every_fault_about_equally_often(records):
    chosen = some_plans(records, 7, each=6)
    assert len(chosen) == 72 * 7
    assert len({p.plan_id for p in chosen}) == len(chosen)
    faults = Counter(p.fault for p in chosen)
    assert faults.pop("none") == 72
    assert set(faults) == set(FAULTS)
    assert max(faults.values()) - min(faults.values()) <= 1
    assert chosen == some_plans(records, 7, each=6)


def test_a_reference_to_a_dropped_call_becomes_a_placeholder(records):
    record = next(r for r in records if r.topology == "linear")
    plan = next(p for p in plans(record, 3) if p.fault == "drop" and p.calls[0].tool != record.expected[0].tool)
    assert isinstance(plan.calls[0], ToolCall)
    assert any(v == [f"<{tool_returns(record, 0)}>"] for v in plan.calls[0].args.values()) or len(plan.calls) == 1


def tool_returns(record, position):
    return next(t.returns for t in record.tools if t.name == record.expected[position].tool)
