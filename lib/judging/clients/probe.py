"""One small request before a run: what the server does not take is left out, where that is known to be harmless."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lib.errors import UserError
from lib.judging.clients.base import Client, Decoding
from lib.judging.clients.failures import Refused, RequestRefused

PROBE = 'Is 2 + 2 = 4? Reply with a JSON object, such as {"reasoning": "…", "faulty": false}.'
MOST_TOKENS = 64  # enough to see that the request is taken
_NO = r"unsupported|not (be )?support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed|unavailable"
_NO += r"|only the default|must be|deprecated|incompatible"


class Change(Struct, frozen=True):
    """What to do without an option: where a server's words match all of ``words`` and the option is ``old``."""

    option: str
    words: tuple[str, ...]
    old: tuple[Any, ...]
    new: Any
    source: str

    def fits(self, decoding: Decoding, said: str) -> bool:
        now = getattr(decoding, self.option)
        is_asked = now in self.old if self.old else bool(now) or now == 0
        return is_asked and now != self.new and all(re.search(words, said) for words in self.words)


_FORM = (r"response.?format|json.?schema|structured.?output|guided|\bformat\b|grammar",)
# In order. Each leaves the judge's question as it is, and the reply's reader checks what the option would have.
CHANGES = (
    Change(
        "token_cap", (r"\bmax_tokens\b", _NO + "|max_completion_tokens"), ("max_tokens",), "max_completion_tokens",
        "OpenAI API reference, chat completions: max_tokens is not compatible with reasoning models; ragas PR 2413",
    ),
    Change(
        "temperature", (r"\btemperature\b", _NO), (), None,
        "OpenAI reasoning models take only the default; openlit issue 1068, openbench issue 50",
    ),
    Change("seed", (r"\bseed\b", _NO), (), None, "optional where known, refused by Mistral (random_seed) and others"),
    Change(
        "logprobs", (r"logprobs", _NO), (), 0,
        "OpenAI reasoning models give none; the verdicts then carry no log-odds",
    ),
    Change(
        "response_format", (*_FORM, _NO + "|supported|invalid"), ("json_schema",), "json_object",
        "DeepSeek API, JSON output; inspect_ai issue 4916, litellm PR 31466, langchain issue 29282",
    ),
    Change(
        "response_format", (*_FORM, _NO + "|supported|invalid"), ("json_object",), "none",
        "servers without a grammar; the prompt states the form, and the reader checks it",
    ),
)  # fmt: skip

OPTIONS = {
    "max_tokens|max_completion_tokens": "--max-tokens or --cap-name",
    "temperature": "--temperature",
    "seed": "--seed",
    _FORM[0]: "--response-format",
    "reasoning_effort": "--reasoning-effort",
    "think": "--think or --reasoning-effort",
    "model": "--model",
    "api.?version": "--base-url",
}


def settle(client: Client, schema: dict[str, Any], decoding: Decoding) -> tuple[Decoding, list[str]]:
    """The decoding that the server takes, and what was changed for it, in words.

    Raises:
        UserError: the server refuses the request for another reason; with its own words and an option to change.
        CallFailed: no answer.
    """
    changed: list[str] = []
    while True:
        try:
            client.complete(PROBE, schema, replace(decoding, max_tokens=min(decoding.max_tokens, MOST_TOKENS)))
        except Refused:  # this prompt; what is to be judged is another one
            return decoding, changed
        except RequestRefused as refused:
            change = next((change for change in CHANGES if change.fits(decoding, refused.said)), None)
            if change is None:
                tried = "".join(f"; no better with {each.partition(',')[0]}" for each in changed)
                raise UserError(f"{refused} (what may be changed: {_option(refused.said)}{tried})") from None
            decoding = replace(decoding, **{change.option: change.new})
            now = "left out" if change.new in (None, 0) else f"now {change.new}"
            changed.append(f"{change.option} {now}, since the server says: {refused}")
        else:
            return decoding, changed


def _option(said: str) -> str:
    named = [option for words, option in OPTIONS.items() if re.search(words, said)]
    return ", ".join(named) or "the options of the request, see --help"
