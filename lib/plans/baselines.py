"""Judges that ask no model: what any other must beat."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from lib.plans.records import LEVELS, METRICS, Levels, PlanView
from lib.plans.score import schema_check


def _coin(view: PlanView) -> Levels:
    rng = Random(f"coin/{view.token}")
    return Levels(*(rng.choice(LEVELS) for _ in METRICS))


BASELINES: dict[str, Callable[[PlanView], Levels]] = {
    "always-1": lambda view: Levels(1.0, 1.0, 1.0, 1.0),
    "always-half": lambda view: Levels(0.5, 0.5, 0.5, 0.5),
    "coin": _coin,
    "schema": lambda view: schema_check(view.calls, view.tools),
}
"""By judge id. The schema checker's levels are shares, on no scale; the coin falls the same way each time."""
