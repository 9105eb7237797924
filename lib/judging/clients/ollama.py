"""A model behind Ollama, through Ollama's own API and official client, so that the context length holds."""

from __future__ import annotations

import ipaddress
import json
import os
import threading
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx

from lib.judging.clients.base import Completion, Decoding, Target
from lib.judging.clients.failures import TransportError
from lib.judging.clients.model import (
    DESCRIBE_TIMEOUT,
    ModelClient,
    counted,
    given,
    plain,
    seconds,
    token_logprobs,
    without_text,
    word,
)
from lib.judging.clients.pace import Pace
from lib.judging.clients.transport import Server

HOST = "OLLAMA_HOST"
KEY = "OLLAMA_API_KEY"
LOCAL = "127.0.0.1"
PORT = 11434
NANOSECOND = 1e-9


class OllamaClient(ModelClient):
    """One model of one server. The address takes every form of ``OLLAMA_HOST``, which is read where none is given."""

    backend = "ollama"

    def __init__(self, target: Target, pace: Pace | None = None) -> None:
        super().__init__(target, pace)
        host = os.environ.get(HOST, "") if target.base_url is None else target.base_url
        self.server = Server(_url(host), HOST if target.base_url is None else "--base-url", KEY, target.headers)
        self._ollama = _package().Client(
            "http://ollama", transport=_Transport(self.server, self.model), timeout=DESCRIBE_TIMEOUT, trust_env=False
        )

    def ask(self, body: dict[str, Any], timeout: float) -> dict[str, Any]:
        return self._raw("POST", "/api/generate", content=json.dumps(body).encode(), timeout=timeout)

    def _raw(self, *request: Any, **options: Any) -> dict[str, Any]:
        """The official client's raw request: its methods cannot say ``truncate``, nor read an answer with gaps."""
        answer: dict[str, Any] = self._ollama._request_raw(*request, **options).json()
        return answer

    def request(self, prompt: str, schema: dict[str, Any], decoding: Decoding) -> dict[str, Any]:
        options = given(
            temperature=decoding.temperature,
            seed=decoding.seed,
            num_ctx=decoding.num_ctx,
            num_predict=None if decoding.token_cap == "none" else decoding.max_tokens,
        )
        form = {"json_schema": schema, "json_object": "json", "none": None}[decoding.response_format]
        # A server that cannot read the whole prompt, or write the whole reply, is to say so.
        return {"model": self.model, "prompt": prompt, "stream": False, "truncate": False, "shift": False} | given(
            options=options,
            format=form,
            think=decoding.reasoning_effort if decoding.think is None else decoding.think,
            logprobs=True if decoding.logprobs else None,
            top_logprobs=decoding.logprobs or None,
        )

    def read(self, answer: dict[str, Any], decoding: Decoding) -> Completion:
        if "response" not in answer and "done" not in answer:
            raise TransportError(f"{self.endpoint}: not the answer asked for: {json.dumps(answer)[:100]}")
        text, status, reason = _said(answer)
        return Completion(
            text=text,
            finish_reason=word(answer.get("done_reason")),
            prompt_tokens=counted(answer.get("prompt_eval_count")) or None,
            completion_tokens=counted(answer.get("eval_count")),
            seconds=0.0,
            load_s=seconds(answer.get("load_duration"), unit=NANOSECOND),
            server_s=seconds(answer.get("prompt_eval_duration"), answer.get("eval_duration"), unit=NANOSECOND),
            logprobs=token_logprobs(answer.get("logprobs")) if decoding.logprobs else None,
            status=status,
            reason=reason,
        )

    def tell(self) -> dict[str, Any]:
        entry = self._listed()
        details = entry and entry.details
        return {
            "backend": self.backend,
            "model": self.model,
            "digest": word(entry and entry.digest),
            "version": word(self._raw("GET", "/api/version").get("version")),
            "weights": {
                "ftype": word(details and details.quantization_level),
                "parameter_size": word(details and details.parameter_size),
                "size": entry and entry.size and plain(int(entry.size)),
            },
        }

    def _listed(self) -> Any:
        """The server's entry for the model; None where it lists none, or in no way that its client understands."""
        try:
            models = self._ollama.list().models
        except ValueError:  # the client's models refuse it
            return None
        return next((entry for entry in models if entry.model in (self.model, f"{self.model}:latest")), None)


class _Transport(httpx.BaseTransport):
    """Sends what the official client asks as every client's requests are sent: one address, bounds, secrets, errors."""

    def __init__(self, server: Server, model: str) -> None:
        self._server, self._model = server, model

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path, timeout = request.url.path, request.extensions["timeout"]["read"]
        if request.method == "GET":
            answer = self._server.get(self._server.url(path), timeout)
        else:
            answer = self._server.post(path, request.content, timeout, self._model)
        return httpx.Response(200, content=json.dumps(answer).encode())


_importing = threading.Lock()


@cache
def _package() -> Any:
    """The official package. While imported it builds a client from variables that are ours to check: it sees none."""
    with _importing:
        ours = [name for name in os.environ if name.startswith(("OLLAMA_", "SSL_CERT")) or "_PROXY" in name.upper()]
        hidden = {name: os.environ.pop(name) for name in ours}
        try:
            import ollama
        finally:
            os.environ.update(hidden)
    return ollama


def _said(answer: dict[str, Any]) -> tuple[str, Any, str | None]:
    """Text of an answer, the status that its envelope tells (None: as the text says), and what is odd about it."""
    response, thought = answer.get("response"), answer.get("thinking")
    text = response if isinstance(response, str) else ""
    if answer.get("done") is False:
        return text, "truncated", "the server did not finish the reply"
    if text.strip():
        return text, None, None
    thought = thought if isinstance(thought, str) else ""
    return without_text(thought, cut=answer.get("done_reason") == "length")


def _url(host: str) -> str:
    """The URL that Ollama means by a host: quotes, a bare IPv6 address and a missing scheme, name or port are right."""
    bare = host.strip().strip("\"'")
    with suppress(ValueError):
        bare = f"[{ipaddress.IPv6Address(bare)}]"
    if "://" in bare:
        return bare.rstrip("/")
    place, slash, path = bare.partition("/")
    credentials, at, name = place.rpartition("@")
    if name.startswith(":") or not name:
        name = LOCAL + name
    try:
        port = "" if urlsplit(f"http://{name}").port else f":{PORT}"
    except ValueError:  # no number; said so by who checks the address
        port = ""
    return f"http://{credentials}{at}{name}{port}{slash}{path}".rstrip("/")
