"""A language model as a judge: one judge for every rubric."""

from __future__ import annotations

import math
from typing import Any

from msgspec.structs import asdict, replace

from lib.judging.clients import Client, Completion, Decoding
from lib.judging.log_odds import log_odds
from lib.judging.prompts import Rubric, checksum
from lib.judging.reply import Reading, kept_reply, read_reply, storable_text
from lib.records import About, Judgement, View

MOST_DIRECT_TOKENS = 32  # a verdict of one field, however its blanks are cut into tokens


class PromptJudge:
    """Asks a model once per view; its id is ``{name of the rubric}:{model}``."""

    def __init__(self, rubric: Rubric, client: Client, decoding: Decoding) -> None:
        self._rubric = rubric if decoding.response_format == "json_schema" else rubric.stated()
        self._client, self._decoding = client, decoding
        self.judge_id = f"{rubric.name}:{client.model}"
        self.batch = f"{client.model} {checksum(rubric.before)}"  # the text that a server keeps cached
        self.about = About(kind=rubric.kind, sees=rubric.sees, model=client.model, scored=decoding.logprobs > 0)

    def settings(self) -> dict[str, Any]:
        return model_settings(self._client, self._decoding) | self._rubric.checksums()

    def judge(self, view: View) -> Judgement:
        return self.ask(view, self._decoding)

    def ask(self, view: View, decoding: Decoding) -> Judgement:
        """The judgement under a decoding of one's own, as the members of an ensemble have."""
        # A lone surrogate in a judged text cannot be sent, and says nothing to a model.
        text = storable_text(self._rubric.prompt(view))
        completion = self._client.complete(text, self._rubric.schema, decoding)
        kept, cut = kept_reply(completion.text)
        n_steps = None if view.steps is None else len(view.steps)
        if completion.status is None:
            reading = read_reply(completion.text, completion.finish_reason, n_steps)
        else:
            reading = Reading(status=completion.status, reason=completion.reason)
        odds = log_odds(completion.logprobs or (), reading.tail) if reading.tail is not None else None
        return Judgement(
            faulty=reading.faulty,
            failure_step=reading.failure_step,
            failure_type=reading.failure_type,
            confidence=reading.confidence,
            log_odds=odds,
            rationale=reading.rationale,
            status=reading.status,
            reason=reading.reason,
            raw_reply=kept,
            raw_step=reading.raw_step,
            coercions=[*reading.coercions, *cut],
            **spent(completion),
        )


class Direct(PromptJudge):
    """Asks for one word without reasoning, whose log-odds are the score; the prompt is else that of the view's judge.

    Its confidence is the likelier word's share of the two, and 0.5 where the server tells no log-probabilities.
    """

    def __init__(self, rubric: Rubric, client: Client, decoding: Decoding) -> None:
        super().__init__(rubric, client, decoding.varied(max_tokens=MOST_DIRECT_TOKENS))

    def judge(self, view: View) -> Judgement:
        said = super().judge(view)
        if said.status != "ok":
            return said
        confidence = 0.5 if said.log_odds is None else 1 / (1 + math.exp(-min(abs(said.log_odds), 700.0)))
        notes = [note for note in said.coercions if note != "confidence is missing"]
        return replace(said, confidence=confidence, coercions=notes)


def spent(completion: Completion) -> dict[str, Any]:
    """What a judgement tells of the call that it cost, and how it ended."""
    return {
        "latency_s": completion.seconds,
        "server_s": completion.server_s,
        "load_s": completion.load_s,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "cost": completion.cost,
        "finish_reason": completion.finish_reason,
    }


def model_settings(client: Client, decoding: Decoding) -> dict[str, Any]:
    """What run.json records of a model and how it is asked: all that can change a reply, so not the time-out."""
    return client.describe() | {"decoding": {k: v for k, v in asdict(decoding).items() if k != "timeout"}}
