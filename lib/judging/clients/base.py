"""What every client speaks: whom to ask, how to ask, and the completion given."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

TokenCap = Literal["max_tokens", "max_completion_tokens", "none"]
ResponseFormat = Literal["json_schema", "json_object", "none"]


class Decoding(Struct, frozen=True, kw_only=True):
    """How a completion is asked for: a judge's settings. What is None is left out of the request.

    Defaults are the judges' (paper Appendix D), with a cap on generated tokens.

    Attributes:
        num_ctx: context in tokens; Ollama is told, other servers have it set at their start.
        max_tokens: cap on generated tokens; token_cap: its name in the request, or none to send no cap.
        reasoning_effort, think: how long a reasoning model thinks, where its server takes such an option.
        response_format: how the form of the reply is enforced; without ``json_schema`` the prompt has to state it.
        extra_body: further fields of the request's body, as the server knows them.
        timeout: seconds to wait for the whole answer.
        logprobs: alternatives to report for each generated token; 0 reports none.
    """

    temperature: float | None = 0.0
    seed: int | None = 7
    num_ctx: int | None = 8192
    max_tokens: int = 1024
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


class Target(Struct, frozen=True, kw_only=True):
    """Which model is asked, where, how fast and at what price: nothing that changes a reply, and no key.

    Attributes:
        base_url: None for the backend's own default.
        headers: ``NAME: VALUE`` or ``NAME: $VARIABLE`` each.
        price_in, price_out: money per million tokens of prompts and of replies.
    """

    model: str
    backend: Literal["ollama", "openai"] = "ollama"
    base_url: str | None = None
    headers: tuple[str, ...] = ()
    requests_per_minute: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __repr__(self) -> str:
        return f"Target({self.backend}, {self.model})"  # an address or a header may hold a secret


def connect(target: Target) -> Client:
    """The client of a target. Raises UserError for an address that is none, or a key that cannot be sent."""
    # Only who asks a model loads what asks it.
    if target.backend == "openai":
        from lib.judging.clients.openai import OpenAIClient

        return OpenAIClient(target)
    from lib.judging.clients.ollama import OllamaClient

    return OllamaClient(target)
