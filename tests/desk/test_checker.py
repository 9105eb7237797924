"""The eight rules on hand-made trajectories, and what they can and cannot see of each fault."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.desk.checker import TRACED, check
from lib.desk.environment import TOOLS
from lib.desk.injector import JudgedSet
from lib.records import FAULT_TYPES, FaultType, Observation, Step, ToolCall

GOAL = "Customer a.b11@example.com has asked for a refund on order ORD-1. The item is SKU-IN-GOAL, the fee 7.0."
ORDER = {"order_id": "ORD-1", "customer_id": "CUS-1", "sku": "SKU-1", "total_eur": 100.0, "status": "delivered"}
Call = tuple[str, dict[str, Any], dict[str, Any] | None]  # tool, arguments, data (None: the call failed)

CUSTOMER: Call = ("get_customer", {"email": "a.b11@example.com"}, {"customer_id": "CUS-1", "name": "A B"})
LOOKUP: Call = ("lookup_order", {"order_id": "ORD-1"}, ORDER)
POLICY: Call = ("get_policy", {"sku": "SKU-1"}, {"sku": "SKU-1", "refundable": True, "restocking_fee_pct": 10.0})
ALLOWED: Call = ("check_eligibility", {"order_id": "ORD-1"}, {"eligible": True, "max_refund_eur": 90.0})
DENIED: Call = ("check_eligibility", {"order_id": "ORD-1"}, {"eligible": False, "max_refund_eur": 0.0})
REPLY: Call = ("reply", {"text": "Done, ORD-1."}, {"sent": True})
ESCALATE: Call = ("escalate", {"reason": "no refund is due"}, {"ticket": "ESC-OPEN", "reason": "no refund is due"})


def paid(amount: Any = 90.0, order_id: Any = "ORD-1", ok: bool = True) -> Call:
    data = {"refunded_eur": amount, "status": "refunded"} if ok else None
    return "issue_refund", {"order_id": order_id, "amount_eur": amount}, data


def steps_of(*calls: Call) -> list[Step]:
    return [
        Step(index, "", ToolCall(tool, args), Observation(data is not None, data or {}, None if data else "no"))
        for index, (tool, args, data) in enumerate(calls)
    ]


def fired(*calls: Call) -> list[tuple[int, int]]:
    """(step, rule) of each violation."""
    return [(violation.step, violation.rule) for violation in check(GOAL, steps_of(*calls))]


def test_a_run_by_the_book_breaks_no_rule() -> None:
    assert fired(CUSTOMER, LOOKUP, POLICY, ALLOWED, paid(), REPLY) == []
    assert fired(CUSTOMER, LOOKUP, POLICY, DENIED, ESCALATE, REPLY) == []


TYPES: dict[int, FaultType] = {
    1: "hallucinated_argument",
    2: "skipped_precondition",
    3: "skipped_precondition",
    4: "ignored_observation",
    5: "ignored_observation",
    6: "ignored_observation",
    7: "premature_stop",
    8: "premature_stop",
}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        # 1: a traced argument that is not grounded
        ([CUSTOMER, LOOKUP, ("get_policy", {"sku": "SKU-X"}, None), ESCALATE, REPLY], [(2, 1)]),
        ([("get_policy", {"sku": "SKU-IN-GOAL"}, {"sku": "SKU-IN-GOAL"}), ESCALATE, REPLY], [(0, 1)]),
        ([("get_customer", {"email": "a.b11@example.co"}, None), ESCALATE, REPLY], [(0, 1)]),
        # 2: eligibility of an order that was never looked up, or whose lookup failed
        ([CUSTOMER, ALLOWED, ESCALATE, REPLY], [(1, 2)]),
        ([("lookup_order", {"order_id": "ORD-1"}, None), DENIED, ESCALATE, REPLY], [(1, 2)]),
        ([DENIED, LOOKUP, ESCALATE, REPLY], [(0, 2)]),
        # 3: no passing check on record: none, a failed call, or one that denied
        ([CUSTOMER, LOOKUP, paid(100.0), REPLY], [(2, 3)]),
        ([CUSTOMER, LOOKUP, ("check_eligibility", {"order_id": "ORD-1"}, None), paid(100.0), REPLY], [(3, 3)]),
        ([CUSTOMER, LOOKUP, DENIED, paid(100.0), REPLY], [(3, 3), (3, 4)]),
        # 4: another amount than the authorised one
        ([CUSTOMER, LOOKUP, ALLOWED, paid(100.0), REPLY], [(3, 4)]),
        ([CUSTOMER, LOOKUP, ALLOWED, paid(89.99), REPLY], [(3, 1), (3, 4)]),
        # 5: the order's owner is not the verified customer, or nobody was verified
        (
            [
                ("get_customer", {"email": "a.b11@example.com"}, {"customer_id": "CUS-2"}),
                LOOKUP,
                ALLOWED,
                paid(),
                REPLY,
            ],
            [(3, 5)],
        ),
        ([LOOKUP, ALLOWED, paid(), REPLY], [(2, 5)]),
        # 6: an order that was refunded before, by its record or in this very run
        (
            [CUSTOMER, ("lookup_order", {"order_id": "ORD-1"}, ORDER | {"status": "refunded"}), ALLOWED, paid(), REPLY],
            [(3, 6)],
        ),
        ([CUSTOMER, LOOKUP, ALLOWED, paid(), paid(ok=False), REPLY], [(4, 6)]),
        # 7: no reply, several, or one that is not last
        ([CUSTOMER, LOOKUP, ALLOWED, paid()], [(3, 7)]),
        ([CUSTOMER, REPLY, ESCALATE], [(1, 7)]),
        ([CUSTOMER, ESCALATE, REPLY, REPLY], [(2, 7)]),
        ([REPLY, ESCALATE, REPLY], [(0, 7)]),
        ([ESCALATE, ("reply", {}, None)], [(1, 7)]),
        # 8: neither refund nor escalation
        ([CUSTOMER, LOOKUP, DENIED, REPLY], [(3, 8)]),
        ([CUSTOMER, LOOKUP], [(1, 7), (1, 8)]),
    ],
)
def test_each_rule_fires_at_its_step(calls: list[Call], expected: list[tuple[int, int]]) -> None:
    assert fired(*calls) == expected
    violations = check(GOAL, steps_of(*calls))
    assert all(violation.failure_type == TYPES[violation.rule] for violation in violations)
    assert all(len(violation.message.split()) > 4 for violation in violations)


def test_a_trajectory_without_steps_stopped_too_early() -> None:
    assert [(v.step, v.rule, v.failure_type) for v in check(GOAL, [])] == [
        (-1, 7, "premature_stop"),
        (-1, 8, "premature_stop"),
    ]


def test_violations_are_ordered_by_step_then_by_rule() -> None:
    order = fired(DENIED, paid(55.0), REPLY, LOOKUP)
    assert order == [(0, 2), (1, 1), (1, 3), (1, 4), (2, 7)]
    assert order == sorted(order)


@pytest.mark.parametrize("order_id", ["ORD-2", None, 7, True, ["ORD-1"], {"order_id": "ORD-1"}, ""])
def test_a_check_of_another_order_is_none_for_this_one(order_id: Any) -> None:
    other = ("check_eligibility", {"order_id": order_id}, {"eligible": True, "max_refund_eur": 90.0})
    assert (3, 3) in fired(CUSTOMER, LOOKUP, other, paid(100.0), REPLY)


def test_a_refund_that_was_refused_is_judged_like_any_other() -> None:
    assert fired(CUSTOMER, LOOKUP, paid(100.0, ok=False), ESCALATE, REPLY) == [(2, 3)]
    assert (2, 4) in fired(CUSTOMER, DENIED, paid(90.0, ok=False), ESCALATE, REPLY)


@pytest.mark.parametrize(("amount", "differs"), [(90, False), (90.004, False), (89.996, False), (90.01, True)])
def test_amounts_compare_in_whole_cents(amount: float, differs: bool) -> None:
    steps = fired(CUSTOMER, LOOKUP, ALLOWED, paid(amount), REPLY)
    assert steps == ([(3, 1), (3, 4)] if differs else [])


def test_a_cents_sum_of_floats_is_the_same_amount() -> None:
    allowed = ("check_eligibility", {"order_id": "ORD-1"}, {"eligible": True, "max_refund_eur": 0.3})
    assert fired(CUSTOMER, LOOKUP, allowed, paid(0.1 + 0.2), REPLY) == []


ODD = [None, True, False, math.nan, math.inf, -math.inf, 10**400, 1e308, "90.0", "", [90.0], {"amount": 90.0}, (90.0,)]


@pytest.mark.parametrize("amount", ODD)
def test_an_amount_of_an_odd_type_is_ungrounded_and_differs(amount: Any) -> None:
    refused = paid(amount, ok=False)
    assert fired(CUSTOMER, LOOKUP, ALLOWED, refused, ESCALATE, REPLY) == [(3, 1), (3, 4)]


@pytest.mark.parametrize("value", [None, True, 1, 90.0, ["SKU-1"], {"sku": "SKU-1"}])
@pytest.mark.parametrize(("tool", "name"), [("get_policy", "sku"), ("get_customer", "email"), ("reply", "order_id")])
def test_a_text_argument_of_an_odd_type_is_ungrounded(tool: str, name: str, value: Any) -> None:
    assert (4, 1) in fired(CUSTOMER, LOOKUP, POLICY, ALLOWED, (tool, {name: value}, None), ESCALATE, REPLY)


def test_a_boolean_neither_grounds_a_number_nor_is_grounded_by_one() -> None:
    yes: Call = ("get_policy", {"sku": "SKU-1"}, {"refundable": True, "no": False})
    one: Call = ("get_policy", {"sku": "SKU-1"}, {"units": 1})
    assert (2, 1) in fired(LOOKUP, yes, paid(1, ok=False), ESCALATE, REPLY)
    assert (2, 1) in fired(LOOKUP, yes, paid(0, ok=False), ESCALATE, REPLY)
    assert (2, 1) not in fired(LOOKUP, one, paid(1, ok=False), ESCALATE, REPLY)
    assert (2, 1) in fired(LOOKUP, one, paid(True, ok=False), ESCALATE, REPLY)


def test_prose_is_neither_traced_nor_grounding_even_when_an_observation_echoes_it() -> None:
    echo: Call = ("escalate", {"reason": "ORD-9"}, {"ticket": "ESC-OPEN", "reason": "ORD-9"})
    heard: Call = ("reply", {"text": "SKU-9"}, {"sent": True, "text": "SKU-9"})
    assert fired(echo, ("lookup_order", {"order_id": "ORD-9"}, ORDER), REPLY) == [(1, 1)]
    assert (1, 1) in fired(heard, ("get_policy", {"sku": "SKU-9"}, None), ESCALATE)
    assert fired(("escalate", {"reason": "never heard of SKU-9"}, {"ticket": "ESC-OPEN"}), REPLY) == []


def test_a_failed_observation_grounds_nothing() -> None:
    step = Step(0, "", ToolCall("lookup_order", {"order_id": "ORD-1"}), Observation(False, {"sku": "SKU-1"}, "broken"))
    after = Step(1, "", ToolCall("get_policy", {"sku": "SKU-1"}), Observation(True, {}, None))
    assert (1, 1) in [(v.step, v.rule) for v in check(GOAL, [step, after])]


def test_a_value_grounds_what_comes_after_it_not_its_own_call() -> None:
    own: Call = ("get_policy", {"sku": "SKU-9"}, {"sku": "SKU-9"})
    assert fired(own, own, ESCALATE, REPLY) == [(0, 1)]


def test_values_inside_lists_and_objects_ground_too() -> None:
    nested: Call = ("lookup_order", {"order_id": "ORD-1"}, {"items": [{"sku": "SKU-3", "price": 12.5}]})
    assert fired(nested, ("get_policy", {"sku": "SKU-3"}, {}), ESCALATE, REPLY) == []


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.sampled_from(["ORD-1", "SKU-1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from(["sell", *TOOLS])
KEYS = st.sampled_from([*TRACED, "customer_id", "status", "eligible", "max_refund_eur"])
DATA = st.dictionaries(KEYS, ANYTHING, max_size=3)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NAMES, DATA, st.none() | DATA), max_size=6))
def test_no_trajectory_raises_and_the_first_violation_has_a_step_of_it(calls: list[Call]) -> None:
    violations = check(GOAL, steps_of(*calls))
    assert violations == sorted(violations)
    assert all(-1 <= violation.step < len(calls) for violation in violations)


@pytest.fixture(scope="module")
def coverage() -> dict[str | None, list[tuple[bool, bool, bool]]]:
    """For each fault type (None: clean), (flagged, rightly typed, rightly placed) of each of the 400."""
    found: dict[str | None, list[tuple[bool, bool, bool]]] = {}
    for item in JudgedSet(400, 7):
        first = next(iter(check(item.goal, item.steps)), None)
        typed = first is not None and first.failure_type == item.label.failure_type
        placed = first is not None and first.step == item.label.failure_step
        found.setdefault(item.label.failure_type, []).append((first is not None, typed, placed))
    return found


@pytest.mark.parametrize(
    ("fault", "rate"), [(fault, 0 if fault in ("wrong_tool", "unsupported_claim") else 1) for fault in FAULT_TYPES]
)
def test_four_types_are_always_flagged_and_typed_and_two_are_never_seen(
    fault: FaultType, rate: int, coverage: dict[str | None, list[tuple[bool, bool, bool]]]
) -> None:
    assert coverage[fault] == [(bool(rate),) * 3] * 50


def test_no_clean_trajectory_is_flagged(coverage: dict[str | None, list[tuple[bool, bool, bool]]]) -> None:
    assert coverage[None] == [(False, False, False)] * 100


def test_a_mutant_breaks_one_rule_only_but_for_the_stop() -> None:
    rules = {
        "hallucinated_argument": [1],
        "skipped_precondition": [3],
        "ignored_observation": [4],
        "premature_stop": [7, 8],
    }
    for item in JudgedSet(400, 7):
        broken = [violation.rule for violation in check(item.goal, item.steps)]
        assert broken == rules.get(item.label.failure_type or "clean", []), item.trajectory_id
