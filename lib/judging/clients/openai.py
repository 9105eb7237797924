"""Any OpenAI-compatible endpoint (llama.cpp, vLLM, LM Studio, hosted models) through the official client."""

from __future__ import annotations

import os
import time
from functools import cached_property
from pathlib import PurePath, PureWindowsPath
from typing import Any

import msgspec
import openai
from msgspec import Struct

from lib.errors import UserError
from lib.judging.clients.base import (
    Completion,
    Decoding,
    ModelMissing,
    Retry,
    T,
    TokenLogprob,
    TransportError,
    check_room,
    context_overflow,
    is_context_error,
    public_url,
    retry_after,
)
from lib.judging.reply import storable_text

KEY = "OPENAI_API_KEY"
PASSING = (408, 409, 425, 429)  # with every 5xx: the statuses that say nothing against the request itself


class _Top(Struct):
    token: str
    logprob: float


class _Token(Struct):
    token: str
    logprob: float
    top_logprobs: list[_Top] = []


class _Logprobs(Struct):
    content: list[_Token] | None = None


class _Message(Struct):
    content: str


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Reply(Struct):
    """The parts of a chat completion that are used, as the API reference describes them."""

    choices: list[_Choice]
    usage: _Usage | None = None


class OpenAIClient:
    """One model at one endpoint. The key comes from the environment (``OPENAI_API_KEY``) and is kept nowhere else."""

    backend = "openai"

    def __init__(self, model: str, base_url: str, retry: Retry | None = None) -> None:
        self.model = model
        self.base_url = base_url
        self.retry = retry or Retry()

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenAIClient, (self.model, self.base_url, self.retry)

    def complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        """One user message in, one completion out; see ``Client.complete`` for what is raised."""
        return self.retry.run(lambda: self._complete(prompt, schema, decoding))

    def describe(self) -> dict[str, Any]:
        """Backend, model, and what the server tells of its build and of the weights' size."""
        return self._description

    @cached_property
    def _api(self) -> openai.OpenAI:
        # Local servers ask for no key, but the official client insists on one.
        return openai.OpenAI(api_key=os.environ.get(KEY) or "none", base_url=self.base_url, max_retries=0)

    def _complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        started = time.perf_counter()
        body = self._send(
            lambda: (
                self._api.with_options(timeout=decoding.timeout)
                .chat.completions.with_raw_response.create(**_request(self.model, prompt, schema, decoding))
                .content
            )
        )
        seconds = time.perf_counter() - started
        reply = self._decode(body, _Reply)
        if not reply.choices:
            raise TransportError(f"{self.endpoint}: an answer without choices")
        usage = reply.usage or _Usage()
        check_room(usage.prompt_tokens, decoding.num_ctx)
        choice = reply.choices[0]
        return Completion(
            text=storable_text(choice.message.content),
            finish_reason=choice.finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=seconds,
            logprobs=_logprobs(choice) if decoding.logprobs else None,
        )

    @cached_property
    def endpoint(self) -> str:
        """Where the model is served, fit to be shown."""
        return public_url(self.base_url)

    @cached_property
    def _description(self) -> dict[str, Any]:
        said: dict[str, Any] = {"backend": self.backend, "model": self.model}
        served = self._served()
        owner = served.get("owned_by")
        said |= {"served_by": owner, "served_model": _basename(served.get("id")), "digest": None, "version": None}
        if isinstance(served.get("meta"), dict):
            said["weights"] = {
                key: served["meta"][key] for key in ("ftype", "n_params", "size", "n_ctx") if key in served["meta"]
            }
        if owner == "llamacpp":
            said["version"] = self._get("props").get("build_info")
        elif owner == "vllm":
            said["version"] = self._get("version").get("version")
        return said

    def _served(self) -> dict[str, Any]:
        """The server's entry for the model; a server of a single model serves that one under any name."""
        data = self._get("models", root=False).get("data")
        entries = [entry for entry in data or [] if isinstance(entry, dict)] if isinstance(data, list) else []
        named = [entry for entry in entries if entry.get("id") == self.model]
        if named or len(entries) == 1:
            return (named or entries)[0]
        return {}

    def _get(self, path: str, *, root: bool = True) -> dict[str, Any]:
        """A JSON object from the endpoint, or from the server's root; empty where the server has no such page."""
        address = self.endpoint if not root else self.endpoint.removesuffix("/v1")

        def call() -> dict[str, Any]:
            body = self._send(
                lambda: (
                    self._api.with_options(timeout=30).models.with_raw_response.list().content
                    if not root
                    else self._api.with_options(timeout=30).get(f"{address}/{path}", cast_to=str).encode()
                )
            )
            return self._decode(body, dict[str, Any])

        return self.retry.run(call)

    def _send(self, call: Any) -> bytes:
        try:
            body: bytes = call()
            return body
        except openai.APITimeoutError as error:
            raise TransportError(f"{self.endpoint}: no answer in time") from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise TransportError(f"{self.endpoint}: {type(cause).__name__}: {cause}") from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        """What a refusal means: try again, drop this prompt, or stop and tell the user."""
        status, said = error.status_code, self._redact(str(error.message))[:500]
        if status in PASSING or status >= 500:
            return TransportError(f"{self.endpoint}: {status}: {said}", retry_after=retry_after(error.response.headers))
        if is_context_error(said):
            return context_overflow(said)
        if status in (401, 403):
            return UserError(f"{self.endpoint}: {status}: the key is refused; set {KEY} to one that may use {self.model}")
        if status == 404 and "model" in said.lower():
            return ModelMissing(
                f"{self.endpoint}: no model {self.model!r}; start the server with it, or where Ollama serves: "
                f"ollama pull {self.model}"
            )
        if status == 404:
            return UserError(f"{self.endpoint}: 404: no such endpoint; the base URL usually ends in /v1")
        return UserError(f"{self.endpoint}: {status}: {said}; change the request's options or use another server")

    def _redact(self, text: str) -> str:
        key = os.environ.get(KEY)
        return text.replace(key, "(key)") if key else text

    def _decode(self, body: bytes, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise TransportError(f"{self.endpoint}: not the answer asked for: {error}") from error


def _request(model: str, prompt: str, schema: dict[str, Any], decoding: Decoding) -> dict[str, Any]:
    request = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "temperature": decoding.temperature,
        "seed": decoding.seed,
        "max_tokens": decoding.max_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": schema},
        },
    }
    if decoding.logprobs:
        request |= {"logprobs": True, "top_logprobs": decoding.logprobs}
    return request


def _logprobs(choice: _Choice) -> tuple[TokenLogprob, ...] | None:
    if choice.logprobs is None or choice.logprobs.content is None:
        return None
    return tuple(
        TokenLogprob(item.token, item.logprob, {top.token: top.logprob for top in item.top_logprobs})
        for item in choice.logprobs.content
    )


def _basename(name: Any) -> str | None:
    """The last part of a local path; a name such as ``org/model`` is no path of a machine and stays."""
    if not isinstance(name, str):
        return None
    is_path = PurePath(name).is_absolute() or PureWindowsPath(name).is_absolute()
    return PureWindowsPath(name).name if is_path else name
