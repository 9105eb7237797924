"""A model behind a server: what both protocols share, and the reading of an envelope's fields, whatever they hold."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from msgspec.structs import replace

from lib.judging.clients.base import Completion, Decoding, Target, TokenLogprob
from lib.judging.clients.failures import context_overflow
from lib.judging.clients.pace import Pace
from lib.judging.clients.transport import Server
from lib.judging.reply import storable_text
from lib.records import Status

DESCRIBE_TIMEOUT = 30.0
LONGEST_WORD = 200  # characters of a server's own word, such as a finish reason, that a run keeps
MOST_TOKENS = 10**9  # a larger count is none, and so many of them add up to one that still can be written
MOST_SECONDS = 1e8
MOST_LETTERS_PER_TOKEN = 6.0  # tokenizers that are in use take 3 to 5 letters of a judge's prompt for one
HALF = 16  # tokens around half of the context, which is what some servers leave of a prompt that they cut


class ModelClient(ABC):
    """One model at one server. Pickles without its key, which each process reads from its own environment."""

    backend: ClassVar[str]
    server: Server

    def __init__(self, target: Target, pace: Pace | None = None) -> None:
        self.target, self.model = target, target.model
        self.pace = pace or Pace(per_minute=target.requests_per_minute)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_this_process, (type(self), self.target, self.server.answered)

    @property
    def endpoint(self) -> str:
        """Where the model is served, fit to be shown."""
        return self.server.endpoint

    def complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        """One prompt in, one completion out; see ``Client.complete`` for what is raised."""
        body = merged(self.request(prompt, _bare(schema), decoding), decoding.extra_body)
        return self.pace.run(lambda: self._complete(prompt, body, decoding))

    def _complete(self, prompt: str, body: dict[str, Any], decoding: Decoding) -> Completion:
        started = time.perf_counter()
        answer = self.ask(body, decoding.timeout)
        wall = time.perf_counter() - started
        read = self.read(answer, decoding)
        check_room(prompt, read.prompt_tokens, decoding.num_ctx)
        return replace(
            read,
            text=storable_text(read.text),
            seconds=max(wall - (read.load_s or 0.0), 0.0),
            cost=_cost(read, self.target),
        )

    def describe(self) -> dict[str, Any]:
        """What is known of model and server, asked once; the names of further headers, never their values."""
        names = sorted(text.partition(":")[0].strip() for text in self.target.headers)
        return dict(self._description) | ({"headers": names} if names else {})

    @cached_property
    def _description(self) -> dict[str, Any]:
        return self.pace.run(self.tell)

    @abstractmethod
    def request(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> dict[str, Any]:
        """The body of a request; options that are None are left out."""

    @abstractmethod
    def ask(self, body: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to a request, without secrets. Raises what ``failures.failure`` makes of any other."""

    @abstractmethod
    def read(self, answer: dict[str, Any], decoding: Decoding) -> Completion:
        """The completion in an answer, however odd; its seconds are filled in later. Raises TransportError for none."""

    @abstractmethod
    def tell(self) -> dict[str, Any]:
        """Backend, model, and what the server says of its build and the weights."""


@lru_cache
def _of_this_process(kind: type[ModelClient], target: Target, answered: bool) -> ModelClient:
    """The one client of a worker process, with its connections and its pace, however often it is sent there."""
    client = kind(target)
    client.server.answered = answered
    return client


def merged(body: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A request's body with further fields, those of inner objects too."""
    inner = {
        key: merged(body[key], value)
        for key, value in more.items()
        if isinstance(value, dict) and isinstance(body.get(key), dict)
    }
    return body | more | inner


def given(**options: Any) -> dict[str, Any]:
    """Options without those that are left out."""
    return {name: value for name, value in options.items() if value is not None}


def _bare(schema: Any) -> Any:
    """A schema without bounds of numbers, which strict servers refuse; whoever reads the reply checks them anyway."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _bare(value) for key, value in schema.items() if key not in ("minimum", "maximum")}


def check_room(prompt: str, tokens: int | None, num_ctx: int | None) -> None:
    """Raises ``ContextOverflow`` where the server's count says that the prompt fills the context, or was cut to fit."""
    if tokens is None or num_ctx is None:
        return
    if tokens >= num_ctx:
        raise context_overflow(f"{tokens} of {num_ctx} tokens")
    letters = len(prompt) / tokens
    is_half = abs(tokens - num_ctx // 2) <= HALF
    if letters > MOST_LETTERS_PER_TOKEN or (is_half and letters > 0.8 * MOST_LETTERS_PER_TOKEN):
        raise context_overflow(f"the server read {tokens} tokens of {len(prompt):,} characters: it cut the prompt")


def _cost(read: Completion, target: Target) -> float | None:
    if read.prompt_tokens is None or read.completion_tokens is None:
        return None
    if target.price_in is None or target.price_out is None:
        return None
    return (read.prompt_tokens * target.price_in + read.completion_tokens * target.price_out) / 1e6


def counted(value: Any) -> int | None:
    """A server's count, or None where it is none: no whole number, negative, or beyond all use."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


def seconds(*values: Any, unit: float) -> float | None:
    """The sum of a server's durations; None where one is missing or makes no sense."""
    known = [value * unit for value in values if type(value) in (int, float) and 0 <= value <= MOST_SECONDS / unit]
    return sum(known) if len(known) == len(values) else None


def word(value: Any) -> str | None:
    """A server's own word, cut to what a run keeps; None for anything else."""
    return storable_text(value[:LONGEST_WORD]) if isinstance(value, str) else None


def plain(value: Any) -> Any:
    """A number or word of a server as it may be stored; None for anything else."""
    return value if type(value) is int and abs(value) < 2**63 else word(value)


def table(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def first(value: Any) -> dict[str, Any]:
    """The first item of a list of objects; empty where there is none."""
    return table(value[0]) if isinstance(value, list) and value else {}


def without_text(thought: str, *, cut: bool) -> tuple[str, Status, str]:
    """What to make of a reply that holds no text but perhaps a thought: text, status and reason."""
    if cut:
        return thought, "truncated", "the cap on tokens was used up" + (" by thinking" if thought else "")
    return thought, "unparseable", "the reply holds a thought and no answer" if thought else "the reply holds no text"


def token_logprobs(items: Any) -> tuple[TokenLogprob, ...] | None:
    """The tokens of a reply with their log-probabilities; None where any of them is not what the protocols say."""
    try:
        return tuple(TokenLogprob(*_scored(item), dict(map(_scored, item.get("top_logprobs") or ()))) for item in items)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _scored(item: Any) -> tuple[str, float]:
    token, logprob = item["token"], float(item["logprob"])
    if not isinstance(token, str) or not math.isfinite(logprob):
        raise ValueError("no token with a log-probability")
    return token, logprob
