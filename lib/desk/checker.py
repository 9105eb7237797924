"""The strict checker: eight procedural rules in one left-to-right pass (trajectory-judge, Section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from lib.records import FaultType, Step, ToolCall, Trajectory

RULES: dict[int, str] = {
    1: "an email, order, item or amount passed to a tool stands neither in the goal nor in an earlier observation",
    2: "eligibility is checked for an order that has not been looked up",
    3: "a refund is issued without a passing eligibility check on record",
    4: "the amount refunded is not the authorised one",
    5: "the refund is on an order that the verified customer does not own",
    6: "the refund is on an order that was already refunded",
    7: "the customer gets no reply, several, or one before the end",
    8: "the request is neither refunded nor escalated",
}
"""What breaks each rule, in general; a ``Violation`` says it of the case."""

TRACED = ("email", "order_id", "sku", "amount_eur")
PROSE_TOOLS = ("escalate", "reply")
# An address begins where a run of its characters begins: elsewhere it is not tried, so that the time stays linear.
_GOAL_VALUE = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+|ORD-\d+")


class Violation(Struct, frozen=True, order=True):
    """A broken rule. Ordered by step, then by rule number; ``step`` is -1 for a trajectory without steps."""

    step: int
    rule: int
    failure_type: FaultType
    message: str


def _cents(value: Any) -> int | None:
    """An amount in whole cents; None for what is no amount (booleans, texts, NaN, infinities)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return round(value * 100)
    except (OverflowError, ValueError):
        return None


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _scalars(item)
    else:
        yield value


class _Record:
    """What the steps so far have established."""

    def __init__(self, goal: str) -> None:
        self.texts: set[str] = set(_GOAL_VALUE.findall(goal))
        self.amounts: set[int] = set()
        self.customer: str | None = None
        self.owners: dict[str, Any] = {}
        self.refunded: set[str] = set()
        self.checks: dict[str, dict[str, Any]] = {}

    def grounds(self, name: str, value: Any) -> bool:
        if name == "amount_eur":
            return _cents(value) in self.amounts
        return isinstance(value, str) and value in self.texts

    def learn(self, step: Step) -> None:
        if not step.observation.ok or step.call.tool in PROSE_TOOLS:
            return
        data, order_id = step.observation.data, step.call.args.get("order_id")
        for value in _scalars(data):
            if isinstance(value, str):
                self.texts.add(value)
            elif (cents := _cents(value)) is not None:
                self.amounts.add(cents)
        if step.call.tool == "get_customer":
            self.customer = data.get("customer_id")
        elif isinstance(order_id, str):
            self._learn_of_order(step.call.tool, order_id, data)

    def _learn_of_order(self, tool: str, order_id: str, data: dict[str, Any]) -> None:
        if tool == "lookup_order":
            self.owners[order_id] = data.get("customer_id")
            if data.get("status") == "refunded":
                self.refunded.add(order_id)
        elif tool == "check_eligibility":
            self.checks[order_id] = data
        elif tool == "issue_refund":
            self.refunded.add(order_id)


def _argument_rule(step: Step, record: _Record) -> Iterator[Violation]:
    for name in TRACED:
        if name in step.call.args and not record.grounds(name, step.call.args[name]):
            message = f"{name}={step.call.args[name]!r} stands neither in the goal nor in an earlier observation"
            yield Violation(step.index, 1, "hallucinated_argument", message)


def _key(call: ToolCall) -> str:
    """The order a call names; an id of an odd type names none that is on record."""
    order_id = call.args.get("order_id")
    return order_id if isinstance(order_id, str) else ""


def _check_rule(step: Step, record: _Record) -> Iterator[Violation]:
    if step.call.tool == "check_eligibility" and _key(step.call) not in record.owners:
        message = "eligibility was checked for an order that had not been looked up"
        yield Violation(step.index, 2, "skipped_precondition", message)


def _refund_rules(step: Step, record: _Record) -> Iterator[Violation]:
    if step.call.tool != "issue_refund":
        return
    order_id, check = _key(step.call), record.checks.get(_key(step.call))
    if check is None or check.get("eligible") is not True:
        message = "a refund was issued with no passing eligibility check on record"
        yield Violation(step.index, 3, "skipped_precondition", message)
    if check is not None:
        allowed, amount = check.get("max_refund_eur"), step.call.args.get("amount_eur")
        if _cents(amount) is None or _cents(amount) != _cents(allowed):
            message = f"the refund of {amount!r} is not the authorised {allowed!r}"
            yield Violation(step.index, 4, "ignored_observation", message)
    if order_id in record.owners and record.owners[order_id] != record.customer:
        message = "the refund is on an order that the verified customer does not own"
        yield Violation(step.index, 5, "ignored_observation", message)
    if order_id in record.refunded:
        message = "the refund is on an order that was already refunded"
        yield Violation(step.index, 6, "ignored_observation", message)


def _ending_rules(steps: list[Step]) -> Iterator[Violation]:
    last = len(steps) - 1
    replies = [step.index for step in steps if step.call.tool == "reply" and step.observation.ok]
    if replies != [last]:
        misplaced = [index for index in replies if index != last]
        message = (
            "the customer got several replies, or one before the end" if misplaced else "the customer got no reply"
        )
        yield Violation(misplaced[0] if misplaced else last, 7, "premature_stop", message)
    done = {step.call.tool for step in steps if step.observation.ok}
    if not done & {"issue_refund", "escalate"}:
        yield Violation(last, 8, "premature_stop", "the request was neither refunded nor escalated")


def first_broken(episodes: Iterable[Trajectory]) -> list[Violation]:
    """The first violation of each trajectory that has one."""
    return [found[0] for episode in episodes if (found := check(episode.goal, episode.steps))]


def check(goal: str, steps: list[Step]) -> list[Violation]:
    """Every violation, by step and then by rule number; an empty list is a correct trajectory as far as rules see."""
    record = _Record(goal)
    violations: list[Violation] = []
    for step in steps:
        for rule in (_argument_rule, _check_rule, _refund_rules):
            violations += rule(step, record)
        record.learn(step)
    return sorted([*violations, *_ending_rules(steps)])
