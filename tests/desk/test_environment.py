"""The desk: permissive tools, the order of reasons, and when an outcome is the expected one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lib.desk.environment import TOOLS, Environment, Instance, Instances, Move, outcome_matches, replay
from lib.records import STRATA, Observation, Step, ToolCall

INSTANCES = dict(zip(STRATA, Instances(7, 6), strict=True))
HAPPY, RESTOCKING, ESCALATED = INSTANCES["happy"], INSTANCES["restocking"], INSTANCES["expired"]


def call(instance: Instance, tool: str, **args: Any) -> Observation:
    return Environment(instance).call(ToolCall(tool, args))


def played(instance: Instance, *calls: tuple[str, dict[str, Any]]) -> list[Step]:
    return replay(instance, [Move("", ToolCall(tool, args)) for tool, args in calls])


def refund(instance: Instance, amount: float) -> tuple[str, dict[str, Any]]:
    return "issue_refund", {"order_id": instance.order.order_id, "amount_eur": amount}


ESCALATE = ("escalate", {"reason": "to be decided by a person"})


def test_environment_is_permissive_by_design() -> None:
    """No tool enforces the procedure: a refund needs no check, no eligibility and no verified customer."""
    for stratum, instance in INSTANCES.items():
        [paid] = played(instance, refund(instance, 0.01))
        assert paid.observation.ok == (stratum != "already_refunded"), stratum
    assert call(ESCALATED, "check_eligibility", order_id=ESCALATED.order.order_id).data["eligible"] is False
    [full] = played(RESTOCKING, refund(RESTOCKING, RESTOCKING.order.total_eur))
    assert full.observation.data == {"refunded_eur": RESTOCKING.order.total_eur, "status": "refunded"}
    assert RESTOCKING.order.total_eur > RESTOCKING.authorised_eur
    assert call(HAPPY, "reply", text="").ok
    assert call(HAPPY, "escalate", reason="").ok
    assert call(HAPPY, "reply", text="An invented claim.").data == call(HAPPY, "reply", text="").data


@pytest.mark.parametrize(
    ("amount", "ok"),
    [
        (0.01, True),
        (HAPPY.order.total_eur, True),
        (HAPPY.order.total_eur + 0.01, False),
        (0, False),
        (-5, False),
        (math.nan, False),
        (math.inf, False),
        (10**400, False),
        (True, False),
        ("12.50", False),
        (None, False),
        ([1.0], False),
    ],
)
def test_a_refund_needs_an_amount_above_zero_and_at_most_the_total(amount: Any, ok: bool) -> None:
    assert HAPPY.order.total_eur < 481
    assert call(HAPPY, "issue_refund", order_id=HAPPY.order.order_id, amount_eur=amount).ok is ok


def test_an_order_is_refunded_once() -> None:
    first, second = played(HAPPY, refund(HAPPY, 5.0), refund(HAPPY, 5.0))
    assert first.observation.ok
    assert not second.observation.ok
    assert second.observation.error == f"order {HAPPY.order.order_id} is already refunded"


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("sell", {}, "no tool 'sell'"),
        ("call", {}, "no tool 'call'"),
        ("", {}, "no tool ''"),
        ("get_customer", {}, "needs the argument 'email'"),
        ("issue_refund", {"order_id": "ORD-20000"}, "needs the argument 'amount_eur'"),
        ("reply", {"text": "Hi", "to": "me"}, "takes no argument 'to'"),
        ("get_customer", {"email": 5}, "email has the wrong type"),
        ("escalate", {"reason": None}, "reason has the wrong type"),
        ("get_customer", {"email": "nobody@example.com"}, "no customer with email 'nobody@example.com'"),
        ("lookup_order", {"order_id": "ORD-1"}, "no order 'ORD-1'"),
        ("check_eligibility", {"order_id": "ORD-1"}, "no order 'ORD-1'"),
        ("get_policy", {"sku": "SKU-GIFT-11"}, "no policy for sku 'SKU-GIFT-11'"),
    ],
)
def test_a_call_that_cannot_be_served_is_a_failed_observation(tool: str, args: dict[str, Any], said: str) -> None:
    seen = call(HAPPY, tool, **args)
    assert (seen.ok, seen.data) == (False, {})
    assert seen.error is not None
    assert said in seen.error


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
USUAL = st.sampled_from([HAPPY.customer.email, HAPPY.order.order_id, HAPPY.order.sku, HAPPY.authorised_eur])
NAMES = st.sampled_from(["email", "order_id", "sku", "amount_eur", "reason", "text", "self"])


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([*TOOLS, "__init__", "refusal"]) | st.text(max_size=5),
    st.dictionaries(NAMES | st.text(max_size=3), ODD | USUAL, max_size=3),
)
def test_no_call_raises_and_money_moves_only_within_the_total(tool: str, args: dict[str, Any]) -> None:
    seen = Environment(HAPPY).call(ToolCall(tool, args))
    assert seen.ok == (seen.error is None)
    if tool == "issue_refund" and seen.ok:
        assert not isinstance(args["amount_eur"], bool)
        assert 0 < args["amount_eur"] <= HAPPY.order.total_eur


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_tools_own_arguments_of_any_type_never_raise(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from([*TOOLS]))
    seen = Environment(HAPPY).call(ToolCall(tool, {name: data.draw(ODD | USUAL) for name in TOOLS[tool]}))
    assert seen.ok == (seen.error is None)


def test_both_customers_of_an_instance_can_be_verified() -> None:
    mine, decoy = HAPPY.customer, HAPPY.decoy
    assert call(HAPPY, "get_customer", email=mine.email).data["customer_id"] == mine.customer_id
    assert call(HAPPY, "get_customer", email=decoy.email).data == {
        "customer_id": "CUS-9000",
        "name": "Other Person",
        "phone_last4": "0000",
    }


def test_the_first_reason_in_the_desks_order_is_given() -> None:
    policy = replace(HAPPY.policy, refundable=False, refund_window_days=30)
    order = replace(HAPPY.order, status="refunded", days_since_purchase=31, customer_id=HAPPY.decoy.customer_id)
    worst = replace(HAPPY, policy=policy, order=order)
    expected = [
        (worst, "already refunded"),
        (worst := replace(worst, order=replace(worst.order, status="delivered")), "policy: non-refundable"),
        (
            worst := replace(worst, policy=replace(worst.policy, refundable=True)),
            "outside 30-day window (31 days)",
        ),
        (
            worst := replace(worst, order=replace(worst.order, days_since_purchase=30)),
            "order belongs to a different customer",
        ),
        (replace(worst, order=replace(worst.order, customer_id=HAPPY.customer.customer_id)), "within policy"),
    ]
    for instance, reason in expected:
        data = call(instance, "check_eligibility", order_id=instance.order.order_id).data
        allowed = instance.authorised_eur if reason == "within policy" else 0.0
        assert data == {"eligible": reason == "within policy", "max_refund_eur": allowed, "reason": reason}


def test_identity_is_the_instances_customers_whoever_was_verified() -> None:
    stranger = INSTANCES["wrong_customer"]
    verified, checked = played(
        stranger,
        ("get_customer", {"email": stranger.decoy.email}),
        ("check_eligibility", {"order_id": stranger.order.order_id}),
    )
    assert verified.observation.data["customer_id"] == stranger.order.customer_id
    assert checked.observation.data["reason"] == "order belongs to a different customer"


def test_the_authorised_amount_is_the_total_less_the_fee_in_cents() -> None:
    order, policy = replace(RESTOCKING.order, total_eur=99.99), replace(RESTOCKING.policy, restocking_fee_pct=15.0)
    assert replace(RESTOCKING, order=order, policy=policy).authorised_eur == 84.99  # 84.9915
    assert HAPPY.authorised_eur == HAPPY.order.total_eur


DUE = RESTOCKING.authorised_eur


@pytest.mark.parametrize(
    ("instance", "calls", "matches"),
    [
        (RESTOCKING, [refund(RESTOCKING, DUE)], True),
        (RESTOCKING, [refund(RESTOCKING, DUE), ESCALATE], True),
        (RESTOCKING, [refund(RESTOCKING, DUE + 0.004)], True),
        (RESTOCKING, [refund(RESTOCKING, DUE + 0.006)], False),
        (RESTOCKING, [refund(RESTOCKING, DUE - 0.01)], False),
        (RESTOCKING, [refund(RESTOCKING, RESTOCKING.order.total_eur)], False),
        (RESTOCKING, [refund(RESTOCKING, DUE), refund(RESTOCKING, DUE)], True),  # the second is refused
        (RESTOCKING, [ESCALATE], False),
        (RESTOCKING, [], False),
        (ESCALATED, [ESCALATE], True),
        (ESCALATED, [ESCALATE, ESCALATE], True),
        (ESCALATED, [], False),
        (ESCALATED, [refund(ESCALATED, 1.0), ESCALATE], False),
        (ESCALATED, [refund(ESCALATED, 1000.0), ESCALATE], True),  # refused: no money moved
        (ESCALATED, [("escalate", {"reason": 3})], False),
    ],
)
def test_the_outcome_is_one_right_refund_or_an_escalation_without_any(
    instance: Instance, calls: list[tuple[str, dict[str, Any]]], matches: bool
) -> None:
    assert outcome_matches(instance, played(instance, *calls)) is matches


def test_strata_go_round_robin_and_instances_do_not_depend_on_how_many_are_made() -> None:
    many = Instances(3, 20)
    assert [instance.stratum for instance in many[:7]] == [*STRATA, "happy"]
    assert many[:9] == list(Instances(3, 9))
    assert [instance.instance_id for instance in many[18:20]] == ["INS-00018", "INS-00019"]
    with pytest.raises(IndexError):
        many[20]


def test_each_stratum_is_what_its_name_says() -> None:
    for index, instance in enumerate(Instances(11, 240)):
        order, policy = instance.order, instance.policy
        assert (policy.restocking_fee_pct in (5, 10, 15)) == (instance.stratum == "restocking")
        assert (order.days_since_purchase > policy.refund_window_days) == (instance.stratum == "expired")
        assert policy.refundable == (instance.stratum != "non_refundable")
        assert (order.customer_id == f"CUS-{9000 + index}") == (instance.stratum == "wrong_customer")
        assert (order.status == "refunded") == (instance.stratum == "already_refunded")
        assert 24 <= order.total_eur <= 480
        assert order.total_eur == round(order.total_eur, 2)
        assert (order.order_id, instance.customer.customer_id) == (f"ORD-{20000 + index}", f"CUS-{1000 + index}")
