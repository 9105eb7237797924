"""Judges that ask no model: what any other must beat."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from lib.plans.records import LEVELS, METRICS, Levels, Plan, Record, Tier
from lib.plans.score import schema_check


def _coin(record: Record, tier: Tier, plan: Plan) -> Levels:
    rng = Random(f"coin/{plan.plan_id}/{tier}")
    return Levels(*(rng.choice(LEVELS) for _ in METRICS))


BASELINES: dict[str, Callable[[Record, Tier, Plan], Levels]] = {
    "always-1": lambda record, tier, plan: Levels(1.0, 1.0, 1.0, 1.0),
    "always-half": lambda record, tier, plan: Levels(0.5, 0.5, 0.5, 0.5),
    "coin": _coin,
    "schema": lambda record, tier, plan: schema_check(plan.calls, record.tools),
}
"""By judge id. The schema checker's levels are shares, on no scale; the coin falls the same way each time."""
