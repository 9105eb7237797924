"""The judges on the bench, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lib.errors import UserError
from lib.judging.clients import Client, Decoding
from lib.judging.ensemble import SelfConsistency
from lib.judging.judge import Coin, Constant, Judge
from lib.judging.llm import PromptJudge
from lib.judging.rules import Rules

MODEL_FREE: dict[str, Callable[[], Judge]] = {
    "rules": Rules,
    "always-faulty": lambda: Constant("always-faulty", faulty=True),
    "always-clean": lambda: Constant("always-clean", faulty=False),
    "coin": Coin,
}
MODEL_JUDGES = ("outcome", "step", "selfcons")
MOST_MEMBERS = 100


def needs_model(names: Sequence[str]) -> bool:
    return any(name in MODEL_JUDGES for name in names)


def make_judges(names: Sequence[str], client: Client | None, decoding: Decoding, k: int) -> list[Judge]:
    """The judges of these names, in their order; ``client`` is what the model judges ask.

    Raises UserError for an unknown or repeated name, a k outside 2 to ``MOST_MEMBERS``, a model judge without a model.
    """
    known = [*MODEL_FREE, *MODEL_JUDGES]
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"There is no judge {unknown[0]!r}; choose from {', '.join(known)}.")
    if not names:
        raise UserError(f"Name at least one judge: {', '.join(known)}.")
    if len(set(names)) < len(names):
        raise UserError("A judge is named twice; name each once.")
    return [MODEL_FREE[name]() if name in MODEL_FREE else _model_judge(name, client, decoding, k) for name in names]


def _model_judge(name: str, client: Client | None, decoding: Decoding, k: int) -> Judge:
    if client is None:
        raise UserError(f"The judge {name!r} asks a model: name one with --model.")
    if name == "selfcons":
        if not 2 <= k <= MOST_MEMBERS:
            raise UserError(f"An ensemble has 2 to {MOST_MEMBERS} members, not --k {k}.")
        return SelfConsistency(k, client.model, client, decoding)
    return PromptJudge("outcome" if name == "outcome" else "step", client.model, client, decoding)
