"""A language model as a judge: the outcome judge and the step judge are one judge with two views."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from lib.judging.clients import Client, Decoding
from lib.judging.prompts import SCHEMAS, JudgeKind, prompt, prompt_checksums
from lib.judging.reply import kept_reply, read_reply, storable_text
from lib.records import Judgement, View


class PromptJudge:
    """Asks a model once per view; its id is ``{kind}:{model}``."""

    def __init__(self, kind: JudgeKind, model: str, client: Client, decoding: Decoding) -> None:
        self.judge_id = f"{kind}:{model}"
        self.shows_steps = kind == "step"
        self.batch = f"{kind}:{model}"
        self._kind = kind
        self._client = client
        self._decoding = decoding

    def settings(self) -> dict[str, Any]:
        return model_settings(self._client, self._decoding) | prompt_checksums(self._kind)

    def judge(self, view: View) -> Judgement:
        # A lone surrogate in a judged text cannot be sent, and says nothing to a model.
        text = storable_text(prompt(self._kind, view))
        completion = self._client.complete(text, SCHEMAS[self._kind], self._decoding)
        kept, cut = kept_reply(completion.text)
        n_steps = None if view.steps is None else len(view.steps)
        reading = read_reply(completion.text, completion.finish_reason, n_steps)
        return Judgement(
            faulty=reading.faulty,
            failure_step=reading.failure_step,
            failure_type=reading.failure_type,
            confidence=reading.confidence,
            rationale=reading.rationale,
            latency_s=completion.seconds,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            status=reading.status,
            raw_reply=kept,
            raw_step=reading.raw_step,
            coercions=[*reading.coercions, *cut],
            finish_reason=completion.finish_reason,
            load_s=completion.load_s,
        )


def model_settings(client: Client, decoding: Decoding) -> dict[str, Any]:
    """What run.json records of a model and how it is asked: all that can change a reply, so not the time-out."""
    return client.describe() | {"decoding": {k: v for k, v in asdict(decoding).items() if k != "timeout"}}
