"""What every client speaks: the decoding asked for, the completion given, and when to try again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar

import tenacity
from msgspec import Struct
from msgspec.structs import replace

from lib.judging.clients.failures import TransportError

T = TypeVar("T")
TokenCap = Literal["max_tokens", "max_completion_tokens"]
ResponseFormat = Literal["json_schema", "json_object", "none"]


class Decoding(Struct, frozen=True, kw_only=True):
    """How a completion is asked for: a judge's settings. What is None is left out of the request.

    Defaults are the judges' (paper Appendix D), with a cap on generated tokens.

    Attributes:
        num_ctx: context in tokens; Ollama is told, other servers have it set at their start.
        max_tokens: cap on generated tokens; token_cap: its name in the request (OpenAI's newer models know the other).
        reasoning_effort, think: how long a reasoning model thinks, where its server takes such an option.
        response_format: how the form of the reply is enforced; without ``json_schema`` the prompt has to state it.
        extra_body: further fields of the request's body, as the server knows them.
        timeout: seconds to wait for the whole answer.
        logprobs: alternatives to report for each generated token; 0 reports none.
    """

    temperature: float | None = 0.0
    seed: int | None = 7
    num_ctx: int = 8192
    max_tokens: int | None = 1024
    token_cap: TokenCap = "max_tokens"
    reasoning_effort: str | None = None
    think: bool | str | None = None
    response_format: ResponseFormat = "json_schema"
    extra_body: dict[str, Any] = {}
    timeout: float = 600.0
    logprobs: int = 20

    def varied(self, **changes: Any) -> Decoding:
        """With other values, but for the options that are left out: those the server does not take."""
        return replace(self, **{name: value for name, value in changes.items() if getattr(self, name) is not None})


class TokenLogprob(Struct, frozen=True):
    """A generated token, its natural log-probability, and those of the likeliest tokens at its place."""

    token: str
    logprob: float
    top: dict[str, float]


class Completion(Struct, frozen=True, kw_only=True):
    """A model's reply and what it cost.

    Attributes:
        text: what the model said, fit to be written as UTF-8 and without any secret of the request.
        finish_reason: ``stop``, ``length`` (cut off), or the server's own word; None when it does not say.
        prompt_tokens, completion_tokens: as the server counts; None when it does not, or to no sense.
        seconds: wall clock of the call that succeeded, without ``load_s``.
        load_s: seconds spent loading the model; server_s: seconds spent computing; None when the server does not say.
        cost: money, where prices are given and tokens are counted.
        status: None for a text to be read; else what the answer itself tells, whatever the text is.
        reason: why there is such a status, or what is odd about the answer, in one phrase.
    """

    text: str
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    load_s: float | None = None
    server_s: float | None = None
    cost: float | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    status: Literal["truncated", "unparseable", "refused"] | None = None
    reason: str | None = None


def counted(value: int | None) -> int | None:
    """A server's count, or None where it is none that a run can hold: negative, or over 63 bits."""
    return value if value is not None and 0 <= value < 2**63 else None


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
