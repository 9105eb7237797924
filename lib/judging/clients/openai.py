"""Any OpenAI-compatible endpoint (llama.cpp, vLLM, LM Studio, hosted models) through the official client."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import PurePath, PureWindowsPath
from typing import Any, TypeVar

import msgspec
import openai
from msgspec import Struct

from lib.errors import UserError
from lib.judging.clients.address import check_address
from lib.judging.clients.base import Completion, Decoding, Retry, TokenLogprob, counted
from lib.judging.clients.bounds import bound_body
from lib.judging.clients.failures import TransportError, check_room, public_url, refusal
from lib.judging.reply import storable_text

KEY = "OPENAI_API_KEY"
DESCRIBE_TIMEOUT = 30.0
T = TypeVar("T")


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
    content: str | None


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
        try:
            check_address(base_url)
        except ValueError as error:
            shown = base_url.rpartition("@")[2]  # what stands before it may be a password
            raise UserError(f"--base-url {shown!r} is no address ({error}); give it as http://host:port/v1") from error
        self.retry = retry or Retry()

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenAIClient, (self.model, self.base_url, self.retry)

    @cached_property
    def endpoint(self) -> str:
        """Where the model is served, fit to be shown."""
        return public_url(self.base_url)

    def complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        """One user message in, one completion out; see ``Client.complete`` for what is raised."""
        return self.retry.run(lambda: self._complete(_request(self.model, prompt, schema, decoding), decoding))

    def describe(self) -> dict[str, Any]:
        """Backend, model, and what the server tells of its build and of the weights; asked once."""
        return dict(self._description)

    @cached_property
    def _api(self) -> openai.OpenAI:
        # Local servers ask for no key, but the official client insists on one.
        return openai.OpenAI(
            api_key=os.environ.get(KEY) or "none",
            base_url=self.base_url,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [bound_body(lambda: self.endpoint)]}),
        )

    def _complete(self, request: dict[str, Any], decoding: Decoding) -> Completion:
        create = self._api.with_options(timeout=decoding.timeout).chat.completions.with_raw_response.create
        started = time.perf_counter()
        body = self._send(lambda: create(**request).content)
        seconds = time.perf_counter() - started
        reply = self._decode(body, _Reply)
        if not reply.choices:
            raise TransportError(f"{self.endpoint}: an answer without choices")
        choice, usage = reply.choices[0], reply.usage or _Usage()
        check_room(counted(usage.prompt_tokens), decoding.num_ctx)
        # A model that is cut off while it still reasons has no text yet; otherwise no text is no answer.
        text = "" if choice.message.content is None and choice.finish_reason == "length" else choice.message.content
        if text is None:
            raise TransportError(f"{self.endpoint}: an answer without text")
        return Completion(
            text=storable_text(text),
            finish_reason=choice.finish_reason,
            prompt_tokens=counted(usage.prompt_tokens),
            completion_tokens=counted(usage.completion_tokens),
            seconds=seconds,
            logprobs=_logprobs(choice) if decoding.logprobs else None,
        )

    @cached_property
    def _description(self) -> dict[str, Any]:
        served = self._served()
        owner, meta = served.get("owned_by"), served.get("meta")
        said = {
            "backend": self.backend,
            "model": self.model,
            "served_by": owner,
            "served_model": _basename(served.get("id")),
            "digest": None,  # no server of this protocol tells it
            "version": self._version(owner),
        }
        if isinstance(meta, dict):
            said["weights"] = {field: meta[field] for field in ("ftype", "n_params", "size") if field in meta}
        return said

    def _version(self, owner: Any) -> Any:
        """The server's build, on the page where each kind of server tells it."""
        root = self.endpoint.removesuffix("/v1")
        if owner == "llamacpp":
            return self._get(f"{root}/props").get("build_info")
        if owner == "vllm":
            return self._get(f"{root}/version").get("version")
        return None

    def _served(self) -> dict[str, Any]:
        """The server's entry for the model; a server of a single model serves that one under any name."""
        listed = self._get(f"{self.endpoint}/models").get("data")
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        named = [entry for entry in entries if entry.get("id") == self.model]
        chosen = named or (entries if len(entries) == 1 else [])
        return chosen[0] if chosen else {}

    def _get(self, url: str) -> dict[str, Any]:
        """A page's JSON object; empty where the server has no such page."""
        api = self._api.with_options(timeout=DESCRIBE_TIMEOUT)

        def call() -> dict[str, Any]:
            return self._decode(self._send(lambda: api.get(url, cast_to=str).encode()), dict[str, Any])

        try:
            return self.retry.run(call)
        except openai.NotFoundError:
            return {}

    def _send(self, call: Callable[[], bytes]) -> bytes:
        try:
            return call()
        except openai.APITimeoutError as error:
            raise TransportError(f"{self.endpoint}: no answer in time") from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            if isinstance(cause, TransportError):
                raise cause from None
            raise TransportError(f"{self.endpoint}: {type(cause).__name__}: {cause}") from error
        except openai.APIStatusError as error:
            if error.status_code == 404 and error.request.method == "GET":
                raise
            raise refusal(
                where=self.endpoint,
                model=self.model,
                key=KEY,
                status=error.status_code,
                body=error.response.content,
                headers=error.response.headers,
            ) from None

    def _decode(self, body: bytes, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
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
