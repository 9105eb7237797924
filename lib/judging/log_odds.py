"""The log-odds of what a judge says, from the log-probabilities of its own token."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from lib.judging.clients import TokenLogprob


def log_odds(tokens: Sequence[TokenLogprob], tail: str, words: tuple[str, str] = ("true", "false")) -> float | None:
    """Natural log of the odds of the first word against the second; None where the model's choice is not found.

    Each probability is the sum over the alternatives that begin the word, however it is cut into tokens. If no
    alternative begins one of the words, that word is no likelier than the least likely alternative that is told, nor
    than all that is left: the log-odds are then a bound, the nearest to 0 that is possible.

    Args:
        tokens: the generated tokens, with the likeliest ones at each place.
        tail: the reply's text from its word to the end. It is looked for from the end, since a server may cut or add
            text before it.
        words: what the model may say there, with different first characters.
    """
    start = "".join(token.token for token in tokens).rfind(tail)
    for token in tokens if start >= 0 else ():
        if start < len(token.token):
            return _odds(token, token.token[:start], words)
        start -= len(token.token)
    return None


def _odds(token: TokenLogprob, before: str, words: tuple[str, str]) -> float | None:
    """The log-odds at one token, of which the word is a part that follows ``before`` (as in ``:true``)."""
    told = {text: value for text, value in {**token.top, token.token: token.logprob}.items() if -1e5 < value <= 0}
    begun: dict[str, list[float]] = {word[0]: [] for word in words}
    starts = "|".join(word[:end] for word in words for end in range(1, len(word) + 1))
    for text, value in told.items():
        if match := re.match(rf'\s*"?({starts})(?![a-z0-9])', text.removeprefix(before), re.IGNORECASE):
            begun[match[1][0].lower()].append(value)
    if not any(begun.values()):
        return None
    left = 1 - math.fsum(math.exp(value) for value in told.values())
    least = min([*told.values(), math.log(left)] if left > 1e-9 else told.values())
    one, other = (_log_sum(values) if values else least for values in begun.values())
    return one - other


def _log_sum(values: Iterable[float]) -> float:
    values = list(values)
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
