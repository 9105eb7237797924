"""The catalogue of faults: each is one edit of the oracle's calls, which are then replayed."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from typing import cast

from msgspec import Struct

from lib.desk.environment import REFUND_STRATA, Instance, Move
from lib.desk.oracle import REPLY_STEP, moves_of
from lib.records import STRATA, FaultType, Stratum, ToolCall, Trajectory

POLICY_STEP, CHECK_STEP, ACTION_STEP = 2, 3, 4
INVENTED_SKUS = ("BUNDLE", "WARRANTY", "GIFT")
STOPPED_ANSWER = "I am looking into this and will get back to you."
UNSUPPORTED_SENTENCES = (
    "A replacement has already been dispatched and arrives on Tuesday.",
    "I have also cancelled the subscription linked to this order.",
    "Your account has been credited with a 10 EUR voucher as an apology.",
    "A courier will collect the item from your address tomorrow morning.",
)


class Edit(Struct, frozen=True):
    """An edited call list, the step at which it went wrong, and the final answer."""

    moves: list[Move]
    step: int
    final_answer: str


Editor = Callable[[Instance, Trajectory, random.Random], Edit]


class Fault(Struct, frozen=True):
    """An entry: the edit, the strata that can carry it, and what it does in a sentence or two."""

    edit: Editor
    carriers: frozenset[Stratum]
    words: str


FAULTS: dict[FaultType, Fault] = {}


def fault(words: str, carriers: Collection[Stratum] = STRATA) -> Callable[[Editor], Editor]:
    """Enters an edit under its function's name, which must be a ``lib.records.FaultType``."""

    def enter(edit: Editor) -> Editor:
        FAULTS[cast(FaultType, edit.__name__)] = Fault(edit, frozenset(carriers), words)
        return edit

    return enter


@fault("Instead of the policy, the order is looked up a second time. The policy is never read.")
def wrong_tool(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    lookup = ToolCall("lookup_order", {"order_id": instance.order.order_id})
    moves[POLICY_STEP] = Move("I pull the order details once more.", lookup)
    return Edit(moves, POLICY_STEP, parent.final_answer)


@fault("The policy of an item that does not exist is asked for, which fails. No policy is read.")
def hallucinated_argument(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    sku = f"SKU-{rng.choice(INVENTED_SKUS)}-{rng.randint(10, 99)}"
    moves[POLICY_STEP] = Move(moves[POLICY_STEP].thought, ToolCall("get_policy", {"sku": sku}))
    return Edit(moves, POLICY_STEP, parent.final_answer)


@fault("Eligibility is not checked, and the order total is refunded.", carriers=REFUND_STRATA)
def skipped_precondition(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    # The total is grounded in the lookup, so that the missing check is the only fault.
    moves[ACTION_STEP] = _refund_total(instance, "I refund the order total.")
    del moves[CHECK_STEP]
    return Edit(moves, CHECK_STEP, parent.final_answer)


@fault(
    "The check authorises less, because of a restocking fee; the total is refunded anyway.",
    carriers=["restocking"],
)
def ignored_observation(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    moves[ACTION_STEP] = _refund_total(instance, "I refund the full amount that the customer paid.")
    return Edit(moves, ACTION_STEP, parent.final_answer)


@fault("The agent stops after the check: nothing is refunded or escalated, and the customer is put off.")
def premature_stop(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    return Edit(moves_of(parent)[:ACTION_STEP], CHECK_STEP, STOPPED_ANSWER)


@fault("The reply gets one more sentence, which asserts something that no tool call shows.")
def unsupported_claim(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    text = f"{parent.final_answer} {rng.choice(UNSUPPORTED_SENTENCES)}"
    moves[REPLY_STEP] = Move(moves[REPLY_STEP].thought, ToolCall("reply", {"text": text}))
    return Edit(moves, REPLY_STEP, text)


def _refund_total(instance: Instance, thought: str) -> Move:
    args = {"order_id": instance.order.order_id, "amount_eur": instance.order.total_eur}
    return Move(thought, ToolCall("issue_refund", args))
