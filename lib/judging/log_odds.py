"""The log-odds of a verdict, from the log-probabilities of its own token."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from lib.judging.clients import TokenLogprob

_WORD = re.compile(r'\s*"?(t|tr|tru|true|f|fa|fal|fals|false)(?![a-z])', re.IGNORECASE)


def log_odds(tokens: Sequence[TokenLogprob], tail: str) -> float | None:
    """Natural log of p(true) / p(false) where the model chose; None where that place is not found.

    Each probability is the sum over the alternatives that begin the word, however it is cut into tokens. If no
    alternative begins one of the words, that word is no likelier than the least likely alternative that is told, nor
    than all that is left: the log-odds are then a bound, the nearest to 0 that is possible.

    Args:
        tokens: the generated tokens, with the likeliest ones at each place.
        tail: the reply's text from its verdict's word (true or false) to the end. It is looked for from the end, since
            a server may cut or add text before it.
    """
    start = "".join(token.token for token in tokens).rfind(tail)
    for token in tokens if start >= 0 else ():
        if start < len(token.token):
            return _odds(token, token.token[:start])
        start -= len(token.token)
    return None


def _odds(token: TokenLogprob, before: str) -> float | None:
    """The log-odds at one token, of which the word is a part that follows ``before`` (as in ``:true``)."""
    told = {text: value for text, value in {**token.top, token.token: token.logprob}.items() if -1e5 < value <= 0}
    words: dict[str, list[float]] = {"t": [], "f": []}
    for text, value in told.items():
        if match := _WORD.match(text.removeprefix(before)):
            words[match[1][0].lower()].append(value)
    if not any(words.values()):
        return None
    left = 1 - math.fsum(math.exp(value) for value in told.values())
    least = min([*told.values(), math.log(left)] if left > 1e-9 else told.values())
    true, false = (_log_sum(words[letter]) if words[letter] else least for letter in "tf")
    return true - false


def _log_sum(values: Iterable[float]) -> float:
    values = list(values)
    top = max(values)
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
