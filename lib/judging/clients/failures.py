"""How a call can fail, and what a server's words mean: wait, try again, pass over this trajectory, or stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

from msgspec import Struct

from lib.errors import UserError

LONGEST_QUOTE = 300
PASSING = (408, 409, 425)  # with every 5xx: the statuses that say nothing against the request itself

# What servers say of a prompt that is too long (llama.cpp, vLLM, Ollama, OpenAI, Anthropic, Gemini, Bedrock, Groq).
_CONTEXT = re.compile(
    r"context.{0,12}(size|length|window|limit)|(prompt|input|request|messages?)\b.{0,40}\btoo (long|large|many)"
    r"|too many (input )?tokens|maximum (prompt|input) length|(input|prompt) tokens? .{0,60}exceed"
    r"|(input|prompt).{0,40}exceeds.{0,60}token|reduce the length|request_too_large|payload too large"
)
# What they say of a prompt or a reply that they do not want to pass.
_CONTENT = re.compile(
    r"content[ _-]{0,3}(filter|management|policy|moderation|violation)|moderation|\bflagged\b|safety|jailbreak"
    r"|responsible.?ai|prohibited|inappropriate|data_inspection|sensitive|usage (policy|policies|guidelines)"
    r"|violat.{0,60}(policy|policies|guidelines|terms)|敏感|不安全"
)
_GRAMMAR = re.compile(r"grammar|json_validate_failed|failed to (generate|validate) json")
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|insufficient (credit|balance|funds)")
_NO_MODEL = re.compile(r"model\b.{0,200}(not found|not exist|unknown|no such)|(no such|unknown) model|model_not_found")
_WAIT = re.compile(r"(?:try again|retry|wait)\w*[^0-9]{0,20}((?:[0-9]+(?:\.[0-9]+)?\s?(?:ms|h|m|s)[a-z]{0,6}\s?){1,3})")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?(ms|h|m|s)")
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class CallFailed(Exception):
    """A call that gave no completion: kept among a run's failures, never scored as a verdict."""

    kind: ClassVar[str] = "transport"
    attempts = 1


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


class RateLimited(TransportError):
    """The server wants fewer requests a minute, or to be asked later: no fault of anybody."""


class Refused(CallFailed):
    """The server does not answer this prompt (content filter, moderation, its own grammar); others it may."""

    kind = "refused"


class ContextOverflow(Refused):
    """The prompt leaves no room in the context. Trying again is useless; other prompts may fit."""

    kind = "context"


class RequestRefused(UserError):
    """The server does not take the request as it is made. ``said`` are its words."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


class ModelMissing(UserError):
    """The server does not have the model; the message names the command that fetches it."""


class Said(Struct, frozen=True):
    """An error as a server puts it: its words, with code and parameter where it gives them, for people and machines."""

    words: str
    code: str = ""
    param: str = ""

    @property
    def all(self) -> str:
        return f"{self.code} {self.param} {self.words}".lower()


def said_in(body: Any) -> Said:
    """The message of an error's body, in any of the usual shapes; a body that is no JSON object is its own message."""
    code = param = ""
    while isinstance(body, dict):
        code, param = str(body.get("code") or body.get("type") or code), str(body.get("param") or param)
        body = body.get("error", body.get("message", body.get("detail", str(body))))
    return Said(" ".join(str(body).split())[:LONGEST_QUOTE], code[:100], param[:100])


def failure(
    where: str, status: int, said: Said, headers: Mapping[str, str], *, model: str, key: str, answered: bool
) -> Exception:
    """What an error means.

    Args:
        key: the environment variable that holds the secret.
        answered: whether this server has answered this client before, so that what it refuses now is this prompt.
    """
    text = f"{where}: {status}: {said.words}"
    wait = wanted_wait(headers, said.words)
    if status == 429 or "rate_limit" in said.all:
        if "too large" in said.all:  # more tokens than the limit of a minute: no wait will do
            return context_overflow(said.words)
        return UserError(text) if wait is None and _QUOTA.search(said.all) else RateLimited(text, retry_after=wait)
    if status == 413 or _CONTEXT.search(said.all):
        return context_overflow(said.words)
    if (status != 401 and _CONTENT.search(said.all)) or (answered and _GRAMMAR.search(said.all)):
        return Refused(text)
    if "unexpected endpoint" in said.all:
        return UserError(f"{text}; is the address complete? (--base-url …/v1)")
    if status in PASSING or status >= 500:
        return TransportError(text, retry_after=wait)
    if status == 401:  # what the server says is left out: some repeat part of the key that they refuse
        return UserError(f"{where}: {status}: access refused; set {key} to a key that may use {model!r}")
    if status == 404:
        return _not_there(text, said, model)
    if answered and status != 402:
        return Refused(text)
    if status in (402, 403):
        return UserError(f"{text}; does the key in {key} allow to use {model!r}?")
    return RequestRefused(text, said.all)


def _not_there(text: str, said: Said, model: str) -> UserError:
    if _NO_MODEL.search(said.all):
        return ModelMissing(
            f"{text}; there is no model {model!r}. With Ollama: ollama pull {model}; "
            "another server has to be started with the model"
        )
    return UserError(f"{text}; is it this kind of server, the model's name right, and the address complete (…/v1)?")


def wanted_wait(headers: Mapping[str, str], words: str) -> float | None:
    """Seconds that a server asks to wait: in ms, as a count or a date (RFC 9110, 10.2.3), or in its words."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,12})?", value):
            return float(value) * unit
    try:
        return max((parsedate_to_datetime(headers.get("retry-after", "")) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        asked = _WAIT.search(words.lower())
        return sum(float(n) * _UNIT[unit] for n, unit in _PART.findall(asked[1])) if asked else None


def context_overflow(said: str) -> ContextOverflow:
    return ContextOverflow(
        f"the prompt fills the context ({said}): give the server a larger one (--context) or judge a shorter view"
    )
