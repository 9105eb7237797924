"""The fault injector and the judged set: each mutant is the oracle's call list, edited once and replayed."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator
from itertools import islice

from msgspec import Struct

from lib.desk.environment import REFUND_STRATA, Instance, Instances, Move, outcome_matches, replay
from lib.desk.oracle import REPLY_STEP, moves_of, solve
from lib.records import FAULT_TYPES, STRATA, FaultType, Label, Stratum, ToolCall, Trajectory

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


def _wrong_tool(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    lookup = ToolCall("lookup_order", {"order_id": instance.order.order_id})
    moves[POLICY_STEP] = Move("I pull the order details once more.", lookup)
    return Edit(moves, POLICY_STEP, parent.final_answer)


def _hallucinated_argument(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    sku = f"SKU-{rng.choice(INVENTED_SKUS)}-{rng.randint(10, 99)}"
    moves[POLICY_STEP] = Move(moves[POLICY_STEP].thought, ToolCall("get_policy", {"sku": sku}))
    return Edit(moves, POLICY_STEP, parent.final_answer)


def _refund_total(instance: Instance, thought: str) -> Move:
    args = {"order_id": instance.order.order_id, "amount_eur": instance.order.total_eur}
    return Move(thought, ToolCall("issue_refund", args))


def _skipped_precondition(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    # The total is grounded in the lookup, so that the missing check is the only fault.
    moves[ACTION_STEP] = _refund_total(instance, "I refund the order total.")
    del moves[CHECK_STEP]
    return Edit(moves, CHECK_STEP, parent.final_answer)


def _ignored_observation(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    moves[ACTION_STEP] = _refund_total(instance, "I refund the full amount that the customer paid.")
    return Edit(moves, ACTION_STEP, parent.final_answer)


def _premature_stop(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    return Edit(moves_of(parent)[:ACTION_STEP], CHECK_STEP, STOPPED_ANSWER)


def _unsupported_claim(instance: Instance, parent: Trajectory, rng: random.Random) -> Edit:
    moves = moves_of(parent)
    text = f"{parent.final_answer} {rng.choice(UNSUPPORTED_SENTENCES)}"
    moves[REPLY_STEP] = Move(moves[REPLY_STEP].thought, ToolCall("reply", {"text": text}))
    return Edit(moves, REPLY_STEP, text)


_EDITS: dict[FaultType, Callable[[Instance, Trajectory, random.Random], Edit]] = {
    "wrong_tool": _wrong_tool,
    "hallucinated_argument": _hallucinated_argument,
    "skipped_precondition": _skipped_precondition,
    "ignored_observation": _ignored_observation,
    "premature_stop": _premature_stop,
    "unsupported_claim": _unsupported_claim,
}

# The strata that can carry a fault; a fault that needs a refund fits only where one is due.
CARRIERS: dict[FaultType, frozenset[Stratum]] = dict.fromkeys(FAULT_TYPES, frozenset(STRATA)) | {
    "skipped_precondition": REFUND_STRATA,
    "ignored_observation": frozenset[Stratum]({"restocking"}),
}


def inject(instance: Instance, fault: FaultType, seed: int) -> Trajectory:
    """The mutant of an instance: one fault at a known step, its outcome recomputed from the replayed steps.

    Raises ValueError when the instance's stratum cannot carry the fault (see CARRIERS).
    """
    if instance.stratum not in CARRIERS[fault]:
        raise ValueError(f"{fault} does not fit {instance.instance_id}: stratum {instance.stratum}")
    mutant_id = f"{instance.instance_id}-{fault}"
    edit = _EDITS[fault](instance, solve(instance), random.Random(f"{mutant_id}-{seed}"))
    steps = replay(instance, edit.moves)
    label = Label(True, edit.step, fault, outcome_matches(instance, steps))
    return Trajectory(mutant_id, instance.instance_id, instance.goal, steps, edit.final_answer, label)


class JudgedSet:
    """The judged set of a seed: a quarter clean, the rest shared equally by the six fault types, shuffled.

    Any prefix is a random sample over the cells. Iterating makes each trajectory anew; what is held is 8 bytes of order
    a trajectory and 13 bytes of draws an instance. ``shortfall`` is how many of the ``n`` asked for can't be filled.
    """

    def __init__(self, n: int, seed: int) -> None:
        n_clean = n // 4
        per_type = (n - n_clean) // len(FAULT_TYPES)
        self.seed = seed
        self._instances = Instances(seed, len(STRATA) * per_type + len(STRATA))
        self._pool = len(self._instances)
        # Kind and host in one number: kind 0 is clean, kind k the k-th fault type.
        self._order = array("Q", range(n_clean))
        for kind, fault in enumerate(FAULT_TYPES, start=1):
            hosts = (i for i in range(self._pool) if STRATA[i % len(STRATA)] in CARRIERS[fault])
            self._order.extend(kind * self._pool + host for host in islice(hosts, per_type))
        random.Random(f"order-{seed}").shuffle(self._order)
        self.shortfall = n - len(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Trajectory]:
        for code in self._order:
            kind, host = divmod(code, self._pool)
            instance = self._instances[host]
            yield inject(instance, FAULT_TYPES[kind - 1], self.seed) if kind else solve(instance)

    def parent(self, trajectory: Trajectory) -> Trajectory:
        """The clean parent of a mutant, regenerated (a clean trajectory is its own)."""
        return solve(self._instances[int(trajectory.instance_id.removeprefix("INS-"))])
