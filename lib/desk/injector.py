"""Mutants, and the judged set of a seed: each mutant is the oracle's call list, edited once and replayed."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice

from lib.desk.environment import Instance, Instances, outcome_matches, replay
from lib.desk.faults import FAULTS
from lib.desk.oracle import solve
from lib.records import FAULT_TYPES, STRATA, FaultType, Label, Trajectory


def inject(instance: Instance, name: FaultType, seed: int) -> Trajectory:
    """The mutant of an instance: one fault at a known step, its outcome recomputed from the replayed steps.

    Raises ValueError when the instance's stratum cannot carry the fault.
    """
    entry = FAULTS[name]
    if instance.stratum not in entry.carriers:
        raise ValueError(f"{name} does not fit {instance.instance_id}: stratum {instance.stratum}")
    mutant_id = f"{instance.instance_id}-{name}"
    edit = entry.edit(instance, solve(instance), random.Random(f"{mutant_id}-{seed}"))
    steps = replay(instance, edit.moves)
    label = Label(True, edit.step, name, outcome_matches(instance, steps))
    return Trajectory(mutant_id, instance.instance_id, instance.goal, steps, edit.final_answer, label)


class JudgedSet:
    """The judged set of a seed: a quarter clean, the rest shared equally by the fault types, shuffled.

    Any prefix is a random sample over the cells. Iterating makes each trajectory anew; what is held is 8 bytes of order
    a trajectory and 13 bytes of draws an instance. ``shortfall`` is how many of the ``n`` asked for can't be filled.
    """

    def __init__(self, n: int, seed: int, faults: Sequence[FaultType] = FAULT_TYPES) -> None:
        n_clean = n // 4
        per_type = (n - n_clean) // len(faults)
        self.seed, self._faults = seed, faults
        self._instances = Instances(seed, len(STRATA) * per_type + len(STRATA))
        self._pool = len(self._instances)
        # Kind and host in one number: kind 0 is clean, kind k the k-th fault type.
        self._order = array("Q", range(n_clean))
        for kind, fault in enumerate(faults, start=1):
            hosts = (i for i in range(self._pool) if STRATA[i % len(STRATA)] in FAULTS[fault].carriers)
            self._order.extend(kind * self._pool + host for host in islice(hosts, per_type))
        random.Random(f"order-{seed}").shuffle(self._order)
        self.shortfall = n - len(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Trajectory]:
        for code in self._order:
            kind, host = divmod(code, self._pool)
            instance = self._instances[host]
            yield inject(instance, self._faults[kind - 1], self.seed) if kind else solve(instance)

    def parent(self, trajectory: Trajectory) -> Trajectory:
        """The clean parent of a mutant, regenerated (a clean trajectory is its own)."""
        return solve(self._instances[int(trajectory.instance_id.removeprefix("INS-"))])
