"""The judges that ``collect --judge`` knows: one line each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from lib.errors import UserError
from lib.judging.clients import Client, Decoding
from lib.judging.ensemble import Repeat, SelfConsistency
from lib.judging.judge import Coin, Constant, Judge
from lib.judging.llm import Direct, PromptJudge
from lib.judging.rules import Rules

MOST_MEMBERS = 100


class Asked(Struct, frozen=True):
    """What a model judge is made of: the model, how it is asked, and how often where that is more than once."""

    client: Client
    decoding: Decoding
    k: int


MODEL_FREE: dict[str, Callable[[], Judge]] = {
    "rules": Rules,
    "always-faulty": lambda: Constant("always-faulty", faulty=True),
    "always-clean": lambda: Constant("always-clean", faulty=False),
    "coin": Coin,
}
MODEL_JUDGES: dict[str, Callable[[Asked], Judge]] = {
    "outcome": lambda asked: PromptJudge("outcome", asked.client, asked.decoding),
    "step": lambda asked: PromptJudge("step", asked.client, asked.decoding),
    "direct-outcome": lambda asked: Direct("direct-outcome", asked.client, asked.decoding),
    "direct-step": lambda asked: Direct("direct-step", asked.client, asked.decoding),
    "selfcons": lambda asked: SelfConsistency(asked.k, asked.client, asked.decoding),
    "repeat": lambda asked: Repeat(asked.k, asked.client, asked.decoding),
}


def needs_model(names: Sequence[str]) -> bool:
    return any(name in MODEL_JUDGES for name in names)


def make_judges(names: Sequence[str], client: Client | None, decoding: Decoding, k: int) -> list[Judge]:
    """The judges of these names, in their order; ``client`` is what the model judges ask, ``k`` how often.

    Raises UserError for an unknown or repeated name, a k outside 2 to ``MOST_MEMBERS``, a model judge without a model.
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
    return [MODEL_FREE[name]() if name in MODEL_FREE else _model_judge(name, client, decoding, k) for name in names]


def _model_judge(name: str, client: Client | None, decoding: Decoding, k: int) -> Judge:
    if client is None:
        raise UserError(f"The judge {name!r} asks a model: name one with --model.")
    return MODEL_JUDGES[name](Asked(client, decoding, k))
