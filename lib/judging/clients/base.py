"""What every client speaks: the decoding asked for, the completion given, the failures, and when to try again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import tenacity
from msgspec import Struct

from lib.errors import UserError

T = TypeVar("T")

_CONTEXT = re.compile(r"context (size|length|window)|exceed_context_size|context_length_exceeded", re.IGNORECASE)


class Decoding(Struct, frozen=True, kw_only=True):
    """How a completion is generated. Defaults are the judges' (paper Appendix D), with a cap on generated tokens.

    Attributes:
        num_ctx: context in tokens; Ollama is told, other servers have it set at their start.
        max_tokens: cap on generated tokens.
        timeout: seconds to wait for the server.
        logprobs: alternatives to report for each generated token; 0 reports none.
    """

    temperature: float = 0.0
    seed: int = 7
    num_ctx: int = 8192
    max_tokens: int = 1024
    timeout: float = 600.0
    logprobs: int = 0


class TokenLogprob(Struct, frozen=True):
    """A generated token, its natural log-probability, and those of the likeliest tokens at its place."""

    token: str
    logprob: float
    top: dict[str, float]


class Completion(Struct, frozen=True, kw_only=True):
    """A model's reply and what it cost.

    Attributes:
        finish_reason: ``stop``, ``length`` (cut off), or the server's own word; None when it does not say.
        prompt_tokens, completion_tokens: as the server counts; None when it does not.
        seconds: wall clock of the call that succeeded, without ``load_s``.
        load_s: seconds spent loading the model; None when the server does not say.
    """

    text: str
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    load_s: float | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None


class CallFailed(Exception):
    """A call that gave no completion: kept among a run's failures, never scored as a verdict."""


class ContextOverflow(CallFailed):
    """The prompt leaves no room in the context. Trying again is useless; other prompts may fit."""


class TransportError(CallFailed):
    """Server or network at fault: refused, timed out, cut, overloaded, or an answer that is none.

    Attributes:
        retry_after: seconds the server asks to wait, if it does.
        attempts: calls made when it was given up.
    """

    def __init__(self, message: str, *, retry_after: float | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.attempts = attempts


class ModelMissing(UserError):
    """The server does not have the model; the message names the command that fetches it."""


class Client(Protocol):
    """Anything that completes a prompt under a JSON schema."""

    model: str

    @property
    def endpoint(self) -> str:
        """Where the model is served, without secrets; may change between collections, unlike ``describe``."""
        ...

    def complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        """Raises ``CallFailed`` for a call to record and go on, ``UserError`` for one that no repetition will mend."""
        ...

    def describe(self) -> dict[str, Any]:
        """What serves the model: backend, model, digest or fingerprint, version. No secret, no path of a machine."""
        ...


class Retry(Struct, frozen=True, kw_only=True):
    """When to call again. Waits double from ``first_wait`` to ``longest_wait`` seconds; Retry-After lengthens them."""

    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def run(self, call: Callable[[], T]) -> T:
        """The call's result, repeated after a ``TransportError``; the last one is raised with the count of attempts."""
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(TransportError),
            sleep=self.sleep,
        )
        try:
            return retrying(call)
        except tenacity.RetryError as stopped:
            last = stopped.last_attempt.exception()
            made = stopped.last_attempt.attempt_number
            raise TransportError(f"{last} (after {made} attempts)", attempts=made) from last

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, TransportError) else None
        return min(max(self.first_wait * 2 ** (state.attempt_number - 1), asked or 0.0), self.longest_wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, in either of its forms (RFC 9110, 10.2.3): a count or a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def is_context_error(message: str) -> bool:
    """Whether a server's refusal says that the prompt does not fit its context."""
    return _CONTEXT.search(message) is not None


def context_overflow(said: str) -> ContextOverflow:
    return ContextOverflow(
        f"the prompt fills the context ({said}): give the server a larger one (--context) or judge a shorter view"
    )


def check_room(prompt_tokens: int | None, num_ctx: int) -> None:
    """Raises ``ContextOverflow`` when the server's count of the prompt is at or over the context."""
    if prompt_tokens is not None and prompt_tokens >= num_ctx:
        raise context_overflow(f"{prompt_tokens} of {num_ctx} tokens")


def public_url(url: str) -> str:
    """A URL as it may be shown and stored: no user, password, query or fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl().rstrip("/")
