"""A client that reads its replies from a script, and judges made of a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from lib.judging.clients import Completion, Decoding, TokenLogprob
from lib.judging.clients.probe import PROBE
from lib.records import About, Judgement, View


@dataclass
class Script:
    """A client whose replies are given; an exception among them is raised. Remembers what it was asked."""

    replies: list[str | Exception]
    model: str = "m"
    tokens: int | None = 10
    endpoint: str = "nowhere"
    logprobs: tuple[TokenLogprob, ...] | None = None
    status: Literal["truncated", "unparseable", "refused"] | None = None
    asked: list[tuple[str, dict[str, Any], Decoding]] = field(default_factory=list)

    def complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        if prompt == PROBE:
            return Completion(text="", finish_reason="stop", prompt_tokens=1, completion_tokens=1, seconds=0.0)
        self.asked.append((prompt, schema, decoding))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(
            text=reply,
            finish_reason="stop",
            prompt_tokens=self.tokens,
            completion_tokens=self.tokens,
            seconds=0.5,
            load_s=0.25,
            logprobs=self.logprobs,
            status=self.status,
            reason="the envelope tells" if self.status else None,
        )

    def describe(self) -> dict[str, Any]:
        return {"backend": "script", "model": self.model, "digest": "d1g357"}


def says(**fields: Any) -> str:
    """A reply of a judge; clean and sure of it by default."""
    reply = {"reasoning": "r", "faulty": False, "failure_step": None, "failure_type": "none", "confidence": 0.9}
    return json.dumps(reply | fields)


def acts(tool: str, **fields: Any) -> str:
    """An action of an agent, its other fields null, as the flat schema has them."""
    empty = dict.fromkeys(["email", "order_id", "sku", "amount_eur", "text"])
    return json.dumps({"reasoning": f"I choose {tool}.", "tool": tool} | empty | fields)


def clean(view: View) -> Judgement:
    return Judgement(faulty=False, confidence=0.9, rationale=view.token)


@dataclass
class FakeJudge:
    """A judge made of a function; ``seen`` are the views in order of arrival."""

    judge_id: str = "fake"
    answer: Callable[[View], Judgement] = clean
    batch: str = "fake"
    about: About = field(default_factory=lambda: About(kind="fake", sees="step"))
    more: dict[str, Any] = field(default_factory=dict)
    seen: list[View] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def settings(self) -> dict[str, Any]:
        return {"backend": "fake"} | self.more

    def judge(self, view: View) -> Judgement:
        with self.turn:
            self.seen.append(view)
        return self.answer(view)
