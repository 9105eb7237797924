"""The judges that ``collect --judge`` knows, by the study that they judge: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from lib.errors import UserError
from lib.judging.clients import Client, Decoding
from lib.judging.ensemble import Repeat, SelfConsistency
from lib.judging.judge import Coin, Constant, Judge
from lib.judging.llm import Direct, PromptJudge
from lib.judging.plans import Baseline, PlanJudge
from lib.judging.prompts import RUBRICS, Rubric
from lib.judging.rules import Rules
from lib.plans.prompts import CONDITIONS, judge_schema
from lib.plans.score import BASELINES
from lib.plans.study import PLANS
from lib.run.study import Study
from lib.trajectories import TRAJECTORIES

MOST_MEMBERS = 100


class Asked(Struct, frozen=True):
    """What a model judge is made of: the model, how it is asked and by what, and how often where more than once."""

    client: Client
    decoding: Decoding
    k: int
    rubrics: Mapping[str, Rubric]


def _once(name: str) -> Callable[[Asked], Judge]:
    return lambda asked: PromptJudge(asked.rubrics[name], asked.client, asked.decoding)


def _direct(name: str) -> Callable[[Asked], Judge]:
    return lambda asked: Direct(asked.rubrics[name], asked.client, asked.decoding)


MODEL_FREE: dict[str, Callable[[], Judge]] = {
    "rules": Rules,
    "always-faulty": lambda: Constant("always-faulty", faulty=True),
    "always-clean": lambda: Constant("always-clean", faulty=False),
    "coin": Coin,
}
MODEL_JUDGES: dict[str, Callable[[Asked], Judge]] = {
    "outcome": _once("outcome"),
    "step": _once("step"),
    "direct-outcome": _direct("direct-outcome"),
    "direct-step": _direct("direct-step"),
    "selfcons": lambda asked: SelfConsistency(asked.k, asked.rubrics["step"], asked.client, asked.decoding),
    "repeat": lambda asked: Repeat(asked.k, asked.rubrics["step"], asked.client, asked.decoding),
    "rubric": _once("rubric"),
}


def _under(condition: str) -> Callable[[Asked], Judge]:
    return lambda asked: PlanJudge(condition, asked.client, asked.decoding)


class Roster(Struct, frozen=True):
    """The judges of a study: those that ask no model, those that do, and the schema that their server is tried with."""

    free: Mapping[str, Callable[[], Judge]]
    asking: Mapping[str, Callable[[Asked], Judge]]
    schema: dict[str, Any]

    @property
    def names(self) -> str:
        return ", ".join([*self.free, *self.asking])


ROSTERS: dict[Study, Roster] = {
    TRAJECTORIES: Roster(MODEL_FREE, MODEL_JUDGES, RUBRICS["step"].schema),
    PLANS: Roster(
        {name: partial(Baseline, name) for name in BASELINES},
        {name: _under(name) for name in CONDITIONS},
        judge_schema(CONDITIONS["with"]),
    ),
}


def needs_model(names: Sequence[str], study: Study = TRAJECTORIES) -> bool:
    return any(name in ROSTERS[study].asking for name in names)


def make_judges(
    names: Sequence[str],
    client: Client | None,
    decoding: Decoding,
    k: int = 3,
    rubrics: Mapping[str, Rubric] = RUBRICS,
    study: Study = TRAJECTORIES,
) -> list[Judge]:
    """The judges of these names, in their order.

    Args:
        client: what the model judges ask; k: how often those do that ask more than once.
        rubrics: by which those of part I ask, by name of a judge.

    Raises:
        UserError: an unknown or repeated name, a k outside 2 to ``MOST_MEMBERS``, a model judge without a model.
    """
    roster = ROSTERS[study]
    if unknown := [name for name in names if name not in roster.free and name not in roster.asking]:
        raise UserError(f"There is no judge {unknown[0]!r} of {study.name}; choose from {roster.names}.")
    if not names:
        raise UserError(f"Name at least one judge: {roster.names}.")
    if len(set(names)) < len(names):
        raise UserError("A judge is named twice; name each once.")
    if not 2 <= k <= MOST_MEMBERS:
        raise UserError(f"An ensemble has 2 to {MOST_MEMBERS} members, not --k {k}.")
    made: list[Judge] = []
    for name in names:
        if name in roster.free:
            made.append(roster.free[name]())
        elif client is None:
            raise UserError(f"The judge {name!r} asks a model: name one with --model.")
        else:
            made.append(roster.asking[name](Asked(client, decoding, k, rubrics)))
    return made
