"""The support desk's instances and its seven tools.

The environment is permissive and the checker is strict: a tool refuses only what it cannot do (an unknown order, an
amount above the total), never what the procedure forbids, so that an agent is able to go wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from lib.records import STRATA, Observation, Step, Stratum, ToolCall

FIRST_NAMES = ("Anna", "Bram", "Chiara", "Diego", "Eva", "Farid", "Greta", "Hugo", "Iris", "Jonas")
LAST_NAMES = ("Bakker", "Costa", "Dubois", "Evans", "Fischer", "Novak", "Okafor", "Petrov", "Silva")
SKUS = ("SKU-AUDIO-11", "SKU-CHAIR-42", "SKU-LAMP-07", "SKU-PHONE-88", "SKU-TENT-23")
WINDOWS = (14, 30, 60)
FEES = (5, 10, 15)
REFUND_STRATA: frozenset[Stratum] = frozenset({"happy", "restocking"})

GOAL = (
    "Customer {email} has asked for a refund on order {order_id}. Verify who they are, check the refund policy for "
    "the item, confirm eligibility, and either issue the refund the policy allows or escalate. Reply to the customer."
)


class Customer(Struct, frozen=True):
    customer_id: str
    name: str
    email: str
    phone_last4: str


class Order(Struct, frozen=True):
    order_id: str
    customer_id: str
    sku: str
    total_eur: float
    days_since_purchase: int
    status: str


class Policy(Struct, frozen=True):
    sku: str
    refundable: bool
    refund_window_days: int
    restocking_fee_pct: float


class Instance(Struct, frozen=True):
    """One refund request: who asks, for what, under which policy, and a decoy customer."""

    instance_id: str
    stratum: Stratum
    customer: Customer
    decoy: Customer
    order: Order
    policy: Policy

    @property
    def goal(self) -> str:
        return GOAL.format(email=self.customer.email, order_id=self.order.order_id)

    @property
    def authorised_eur(self) -> float:
        """What the policy allows when a refund is due: the total less the restocking fee, in euros and cents."""
        return round(self.order.total_eur * (1 - self.policy.restocking_fee_pct / 100), 2)

    @property
    def refund_due(self) -> bool:
        return self.stratum in REFUND_STRATA


# One row of draws an instance: an instance is rebuilt from 13 bytes, so a million of them fit in memory.
_DRAWS = np.dtype(
    {
        "names": ["first", "last", "digits", "phone", "sku", "cents", "window", "days", "fee"],
        "formats": ["u1", "u1", "u1", "u2", "u1", "u4", "u1", "u1", "u1"],
    }
)


def _draw(rng: random.Random, index: int) -> tuple[int, ...]:
    """The draws of one instance, in the order of the released generator (seed compatibility)."""
    first = rng.choice(range(len(FIRST_NAMES)))
    last = rng.choice(range(len(LAST_NAMES)))
    digits, phone = rng.randint(10, 99), rng.randint(1000, 9999)
    sku = rng.choice(range(len(SKUS)))
    cents = round(round(rng.uniform(24, 480), 2) * 100)
    window = rng.choice(WINDOWS)
    days, fee = rng.randint(1, window), 0
    stratum = STRATA[index % len(STRATA)]
    if stratum == "restocking":
        fee = rng.choice(FEES)
    elif stratum == "expired":
        days = window + rng.randint(1, 45)
    return first, last, digits, phone, sku, cents, window, days, fee


def _build(index: int, row: np.void) -> Instance:
    stratum = STRATA[index % len(STRATA)]
    first, last = FIRST_NAMES[row["first"]], LAST_NAMES[row["last"]]
    email = f"{first}.{last}{row['digits']}@example.com".lower()
    customer = Customer(f"CUS-{1000 + index}", f"{first} {last}", email, str(row["phone"]))
    decoy = Customer(f"CUS-{9000 + index}", "Other Person", f"other{index}@example.com", "0000")
    owner = decoy if stratum == "wrong_customer" else customer
    status = "refunded" if stratum == "already_refunded" else "delivered"
    sku = SKUS[row["sku"]]
    # An integer over 100 is the same float that rounding to two decimals gives.
    total = int(row["cents"]) / 100
    order = Order(f"ORD-{20000 + index}", owner.customer_id, sku, total, int(row["days"]), status)
    policy = Policy(sku, stratum != "non_refundable", int(row["window"]), float(row["fee"]))
    return Instance(f"INS-{index:05d}", stratum, customer, decoy, order, policy)


class Instances(Sequence[Instance]):
    """The first ``n`` instances of a seed, rebuilt on access from their draws (13 bytes each).

    Source: trajectory-judge, Section 4; one stream for all instances, strata round-robin over the index.
    """

    def __init__(self, seed: int, n: int) -> None:
        rng = random.Random(seed)
        self._rows = np.fromiter((_draw(rng, index) for index in range(n)), _DRAWS, count=n)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Instance: ...
    @overload
    def __getitem__(self, index: slice) -> list[Instance]: ...
    def __getitem__(self, index: int | slice) -> Instance | list[Instance]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return _build(index, self._rows[index])


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


# Every tool with its arguments and what each must be.
TOOLS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "get_customer": {"email": _is_text},
    "lookup_order": {"order_id": _is_text},
    "get_policy": {"sku": _is_text},
    "check_eligibility": {"order_id": _is_text},
    "issue_refund": {"order_id": _is_text, "amount_eur": _is_amount},
    "escalate": {"reason": _is_text},
    "reply": {"text": _is_text},
}


def _failed(error: str) -> Observation:
    return Observation(False, {}, error)


class Environment:
    """A fresh desk for one instance. ``call`` answers every call with an observation and never raises."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._order = instance.order

    def call(self, call: ToolCall) -> Observation:
        arguments = TOOLS.get(call.tool)
        if arguments is None:
            return _failed(f"there is no tool {call.tool!r}")
        if missing := [name for name in arguments if name not in call.args]:
            return _failed(f"{call.tool} needs the argument {missing[0]!r}")
        if unknown := [name for name in call.args if name not in arguments]:
            return _failed(f"{call.tool} takes no argument {unknown[0]!r}")
        for name, is_valid in arguments.items():
            if not is_valid(call.args[name]):
                return _failed(f"{call.tool}: {name} has the wrong type")
        observation: Observation = getattr(self, f"_{call.tool}")(**call.args)
        return observation

    def _get_customer(self, email: str) -> Observation:
        for customer in (self._instance.customer, self._instance.decoy):
            if customer.email == email:
                fields = {"customer_id": customer.customer_id, "name": customer.name}
                return Observation(True, fields | {"phone_last4": customer.phone_last4})
        return _failed(f"no customer with email {email!r}")

    def _lookup_order(self, order_id: str) -> Observation:
        order = self._order
        if order_id != order.order_id:
            return _failed(f"no order {order_id!r}")
        return Observation(True, {name: getattr(order, name) for name in order.__struct_fields__})

    def _get_policy(self, sku: str) -> Observation:
        policy = self._instance.policy
        if sku != policy.sku:
            return _failed(f"no policy for sku {sku!r}")
        return Observation(True, {name: getattr(policy, name) for name in policy.__struct_fields__})

    def _check_eligibility(self, order_id: str) -> Observation:
        if order_id != self._order.order_id:
            return _failed(f"no order {order_id!r}")
        refusal = self._refusal()
        amount = 0.0 if refusal else self._instance.authorised_eur
        data = {"eligible": refusal is None, "max_refund_eur": amount, "reason": refusal or "within policy"}
        return Observation(True, data)

    def _refusal(self) -> str | None:
        """Why the order may not be refunded, in the desk's fixed order of reasons; None when it may."""
        order, policy = self._order, self._instance.policy
        if order.status == "refunded":
            return "already refunded"
        if not policy.refundable:
            return "policy: non-refundable"
        if order.days_since_purchase > policy.refund_window_days:
            return f"outside {policy.refund_window_days}-day window ({order.days_since_purchase} days)"
        if order.customer_id != self._instance.customer.customer_id:
            return "order belongs to a different customer"
        return None

    def _issue_refund(self, order_id: str, amount_eur: float) -> Observation:
        order = self._order
        if order_id != order.order_id:
            return _failed(f"no order {order_id!r}")
        if order.status == "refunded":
            return _failed(f"order {order_id} is already refunded")
        if not 0 < amount_eur <= order.total_eur:
            return _failed("the amount must be above 0 and at most the order total")
        self._order = replace(order, status="refunded")
        return Observation(True, {"refunded_eur": float(amount_eur), "status": "refunded"})

    def _escalate(self, reason: str) -> Observation:
        return Observation(True, {"ticket": "ESC-OPEN", "reason": reason})

    def _reply(self, text: str) -> Observation:
        return Observation(True, {"sent": True})


class Move(Struct, frozen=True):
    """A call before it is made, with the thought that goes with it."""

    thought: str
    call: ToolCall


def replay(instance: Instance, moves: Iterable[Move]) -> list[Step]:
    """The steps that the moves give on a fresh desk: nothing in an observation is hand-written."""
    desk = Environment(instance)
    return [Step(index, move.thought, move.call, desk.call(move.call)) for index, move in enumerate(moves)]


def outcome_matches(instance: Instance, steps: Iterable[Step]) -> bool:
    """Whether the end state is the expected one, whatever the way there.

    Expected is exactly one refund within half a cent of the authorised amount or, when none is due, no refund and
    at least one escalation (trajectory-judge, Section 4).
    """
    done = [step for step in steps if step.observation.ok]
    refunds = [step.observation.data["refunded_eur"] for step in done if step.call.tool == "issue_refund"]
    if instance.refund_due:
        return len(refunds) == 1 and abs(refunds[0] - instance.authorised_eur) < 0.005
    return not refunds and any(step.call.tool == "escalate" for step in done)
