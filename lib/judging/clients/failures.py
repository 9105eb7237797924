"""How a call can fail, and what a server's refusal means: try again, pass over this prompt, or stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from lib.errors import UserError

PASSING = (408, 409, 425, 429)  # with every 5xx: the statuses that say nothing against the request itself
CONTEXT_WORDS = (
    "context size",  # llama.cpp
    "context length",  # vLLM, Ollama
    "context window",
    "exceed_context_size",
    "context_length_exceeded",  # OpenAI
)
LONGEST_QUOTE = 300


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


def refusal(*, where: str, model: str, key: str, status: int, body: bytes, headers: Mapping[str, str]) -> Exception:
    """What a status of 400 or more means. ``key`` is the environment variable that holds the secret, if any."""
    said = said_in(body)
    if status in PASSING or status >= 500:
        return TransportError(f"{where}: {status}: {said}", retry_after=retry_after(headers))
    if any(words in said.lower() for words in CONTEXT_WORDS):
        return context_overflow(said)
    if status in (401, 403):
        # What the server says is left out: some repeat the key that they refuse.
        return UserError(f"{where}: {status}: access refused; set {key} to a key that may use {model!r}")
    if status == 404 and "model" in said.lower():
        return ModelMissing(
            f"{where}: no model {model!r} there. With Ollama: ollama pull {model}; "
            "another server has to be started with the model"
        )
    if status == 404:
        return UserError(f"{where}: 404: no such page; is it this kind of server, and the address complete (…/v1)?")
    return UserError(f"{where}: {status}: {said}; change the options of the request, or the server")


def said_in(body: bytes) -> str:
    """The message in an error's body, in any of the usual shapes, or the start of the body itself."""
    try:
        said: Any = msgspec.json.decode(body)
        while isinstance(said, dict):
            said = said.get("error", said.get("message", said.get("detail", str(said))))
        text = str(said)
    except (ValueError, RecursionError):  # no JSON, a number too long to write out, or nested too deep
        text = body.decode("utf-8", "replace")
    return " ".join(text.split())[:LONGEST_QUOTE]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, in either of its forms (RFC 9110, 10.2.3): a count or a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


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
