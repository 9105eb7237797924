"""A model behind Ollama, through the official client and Ollama's own API, so that the context length holds."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import httpx
import msgspec
import ollama
import pydantic

from lib.errors import UserError
from lib.judging.clients.address import check_address
from lib.judging.clients.base import Completion, Decoding, Retry, TokenLogprob, counted
from lib.judging.clients.bounds import bound_body
from lib.judging.clients.failures import TransportError, check_room, refusal
from lib.judging.reply import storable_text

HOST = "OLLAMA_HOST"
KEY = "OLLAMA_API_KEY"
LOCAL = "127.0.0.1"
DESCRIBE_TIMEOUT = 30.0
NANOSECONDS = 1e9
T = TypeVar("T")


class OllamaClient:
    """One model at one Ollama server. ``host`` takes every form of ``OLLAMA_HOST``, which is read when it is None."""

    backend = "ollama"

    def __init__(self, model: str, host: str | None = None, retry: Retry | None = None) -> None:
        self.model = model
        self.host = os.environ.get(HOST) if host is None else host
        self.told_by = HOST if host is None else "--base-url"
        self.retry = retry or Retry()
        self._apis: dict[float, ollama.Client] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return OllamaClient, (self.model, self.host, self.retry)

    @cached_property
    def endpoint(self) -> str:
        """Where the model is served, as the official client understood the host; it drops user and password."""
        return str(self._api(DESCRIBE_TIMEOUT)._client.base_url).rstrip("/")

    def complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        """One prompt in, one completion out; see ``Client.complete`` for what is raised."""
        return self.retry.run(lambda: self._complete(prompt, schema, decoding))

    def describe(self) -> dict[str, Any]:
        """Backend, model, the weights' digest and size, and the server's version; asked once."""
        return dict(self._description)

    def _complete(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> Completion:
        api = self._api(decoding.timeout)
        options = {
            "temperature": decoding.temperature,
            "seed": decoding.seed,
            "num_ctx": decoding.num_ctx,
            "num_predict": decoding.max_tokens,
        }
        started = time.perf_counter()
        reply = self._send(
            lambda: api.generate(
                model=self.model,
                prompt=prompt,
                format=schema,
                options=options,
                logprobs=bool(decoding.logprobs) or None,
                top_logprobs=decoding.logprobs or None,
            )
        )
        wall = time.perf_counter() - started
        if reply.response is None or not reply.done:
            raise TransportError(f"{self.endpoint}: an answer without a finished reply")
        check_room(counted(reply.prompt_eval_count), decoding.num_ctx)
        load = counted(reply.load_duration)
        load_s = None if load is None else load / NANOSECONDS
        return Completion(
            text=storable_text(reply.response),
            finish_reason=reply.done_reason,
            prompt_tokens=counted(reply.prompt_eval_count),
            completion_tokens=counted(reply.eval_count),
            seconds=max(wall - (load_s or 0.0), 0.0),
            load_s=load_s,
            logprobs=_logprobs(reply) if decoding.logprobs else None,
        )

    @cached_property
    def _description(self) -> dict[str, Any]:
        api = self._api(DESCRIBE_TIMEOUT)
        listed = self.retry.run(lambda: self._send(api.list)).models
        # The library has no call for the version.
        version = self.retry.run(lambda: self._send(lambda: api._client.get("/api/version").json().get("version")))
        names = (self.model, f"{self.model}:latest")
        entry = next((entry for entry in listed if entry.model in names), None)
        details = entry.details if entry else None
        return {
            "backend": self.backend,
            "model": self.model,
            "digest": entry.digest if entry else None,
            "version": version,
            "weights": {
                "ftype": details.quantization_level if details else None,
                "parameter_size": details.parameter_size if details else None,
                "size": int(entry.size) if entry and entry.size is not None else None,
            },
        }

    def _api(self, timeout: float) -> ollama.Client:
        """The official client, which takes its time-out when it is made, not with a call."""
        if timeout not in self._apis:
            try:
                made = ollama.Client(
                    _readable_host(self.host),
                    timeout=timeout,
                    event_hooks={"response": [bound_body(lambda: self.endpoint), self._check]},
                )
                check_address(str(made._client.base_url))
            except (ValueError, httpx.InvalidURL) as error:
                shown = (self.host or "").rpartition("@")[2]  # what stands before it may be a password
                raise UserError(f"{self.told_by} {shown!r} is no address ({error}); give it as host:port") from error
            self._apis[timeout] = made
        return self._apis[timeout]

    def _check(self, response: httpx.Response) -> None:
        """Refuses what is no JSON object before the library reads it: it would lose the headers, or stumble."""
        if response.is_redirect:
            return
        response.read()
        if response.is_error:
            raise refusal(
                where=self.endpoint,
                model=self.model,
                key=KEY,
                status=response.status_code,
                body=response.content,
                headers=response.headers,
            )
        try:
            msgspec.json.decode(response.content, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise TransportError(f"{self.endpoint}: not the answer asked for: {error}") from error

    def _send(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except httpx.TimeoutException as error:
            raise TransportError(f"{self.endpoint}: no answer in time") from error
        except httpx.RequestError as error:
            raise TransportError(f"{self.endpoint}: {type(error).__name__}: {error}") from error
        except ConnectionError as error:
            raise TransportError(f"{self.endpoint}: refused; is Ollama running there? (ollama serve)") from error
        except ollama.ResponseError as error:  # a status that is neither an answer nor an error, such as 304
            raise TransportError(f"{self.endpoint}: {error.status_code}: not the answer asked for") from error
        except RecursionError as error:
            raise TransportError(f"{self.endpoint}: not the answer asked for: {error}") from error
        except pydantic.ValidationError as error:
            raise TransportError(f"{self.endpoint}: not the answer asked for: {error.errors()[0]['msg']}") from error


def _readable_host(host: str | None) -> str:
    """The host in a form the official client reads: Ollama itself also takes quotes and a bare IPv6 address."""
    bare = (host or "").strip().strip("\"'")
    try:
        return f"[{ipaddress.IPv6Address(bare)}]"
    except ValueError:
        return bare or LOCAL


def _logprobs(reply: ollama.GenerateResponse) -> tuple[TokenLogprob, ...] | None:
    if reply.logprobs is None:
        return None
    return tuple(
        TokenLogprob(item.token, item.logprob, {top.token: top.logprob for top in item.top_logprobs or []})
        for item in reply.logprobs
    )
