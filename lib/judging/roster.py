"""The judges that ``collect --judge`` knows: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from lib.errors import UserError
from lib.judging.clients import Client, Decoding
from lib.judging.ensemble import Repeat, SelfConsistency
from lib.judging.judge import Coin, Constant, Judge
from lib.judging.llm import Direct, PromptJudge
from lib.judging.prompts import RUBRICS, Rubric
from lib.judging.rules import Rules

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


def needs_model(names: Sequence[str]) -> bool:
    return any(name in MODEL_JUDGES for name in names)


def make_judges(
    names: Sequence[str], client: Client | None, decoding: Decoding, k: int, rubrics: Mapping[str, Rubric] = RUBRICS
) -> list[Judge]:
    """The judges of these names, in their order.

    Args:
        client: what the model judges ask; k: how often those do that ask more than once.
        rubrics: by which they ask, by name of a judge.

    Raises:
        UserError: an unknown or repeated name, a k outside 2 to ``MOST_MEMBERS``, a model judge without a model.
    """
    known = [*MODEL_FREE, *MODEL_JUDGES]
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"There is no judge {unknown[0]!r}; choose from {', '.join(known)}.")
    if not names:
        raise UserError(f"Name at least one judge: {', '.join(known)}.")
    if len(set(names)) < len(names):
        raise UserError("A judge is named twice; name each once.")
    if not 2 <= k <= MOST_MEMBERS:
        raise UserError(f"An ensemble has 2 to {MOST_MEMBERS} members, not --k {k}.")
    made: list[Judge] = []
    for name in names:
        if name in MODEL_FREE:
            made.append(MODEL_FREE[name]())
        elif client is None:
            raise UserError(f"The judge {name!r} asks a model: name one with --model.")
        else:
            made.append(MODEL_JUDGES[name](Asked(client, decoding, k, rubrics)))
    return made
