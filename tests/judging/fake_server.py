"""A local HTTP server that speaks the OpenAI and the Ollama protocol, and misbehaves as its script says.

A script is a list of behaviours, one for each POST in order of arrival; when it is used up every answer is
``otherwise``, a good one. The probe before a run has a script of its own.
The shapes are those of the two protocols' documentation: a chat completion, and the reply of ``/api/generate``.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lib.judging.clients.probe import PROBE

CHAT, GENERATE = "/v1/chat/completions", "/api/generate"
JSON, HTML = "application/json", "text/html"
VERDICT = '{"reasoning": "fine", "faulty": false, "failure_type": "none", "confidence": 0.9}'
SECOND = 1_000_000_000  # Ollama counts nanoseconds


@dataclass
class Asked:
    """One request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def prompt_of(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"] if "messages" in body else body["prompt"])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FakeServer
    body: dict[str, Any]

    def do_GET(self) -> None:
        self.server.visits.append(self.path)
        page = self.server.pages.get(self.path)
        if page is None:
            self.send(404, json.dumps({"error": {"message": "File Not Found", "code": 404}}))
        else:
            self.send(200, json.dumps(page))

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_probe = prompt_of(self.body) == PROBE
        asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, self.body)
        with self.server.turn:
            (self.server.probed if is_probe else self.server.asked).append(asked)
            script = self.server.on_probe if is_probe else self.server.script
            behaviour = script.pop(0) if script else self.server.otherwise
        behaviour(self)

    def send(self, status: int, text: str, content_type: str = JSON, headers: dict[str, str] | None = None) -> None:
        payload = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """A quiet server: what it was asked is in ``asked``."""


Behaviour = Callable[[Handler], None]


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, script: list[Behaviour] | None = None, pages: dict[str, Any] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script or []
        self.pages = pages or {}
        self.on_probe: list[Behaviour] = []
        self.otherwise = good()
        self.asked: list[Asked] = []
        self.probed: list[Asked] = []
        self.visits: list[str] = []
        self.turn = threading.Lock()
        self.stopped = threading.Event()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up waiting is part of the play."""


@contextmanager
def serving(*script: Behaviour, pages: dict[str, Any] | None = None) -> Iterator[FakeServer]:
    server = FakeServer(list(script), pages)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Answer:
    """A good answer, in the words of whichever protocol was spoken."""

    text: str | None = VERDICT
    finish_reason: str = "stop"
    prompt_tokens: int | None = 900
    completion_tokens: int | None = 30
    load_s: float = 0.0
    token: tuple[str, float, dict[str, float]] | None = None
    also: dict[str, Any] = field(default_factory=dict)

    def chat(self) -> dict[str, Any]:
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": self.finish_reason,
            "message": {"role": "assistant", "content": self.text},
        }
        if self.token:
            choice["logprobs"] = {"content": [self._token()]}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        if self.prompt_tokens is not None:
            answer["usage"] = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        return answer | self.also

    def generate(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "model": "m",
            "created_at": "2026-01-01T00:00:00Z",
            "response": self.text,
            "done": True,
            "done_reason": self.finish_reason,
            "total_duration": 2 * SECOND,
            "load_duration": int(self.load_s * SECOND),
        }
        if self.prompt_tokens is not None:
            answer |= {"prompt_eval_count": self.prompt_tokens, "eval_count": self.completion_tokens}
        if self.token:
            answer["logprobs"] = [self._token()]
        return answer | self.also

    def _token(self) -> dict[str, Any]:
        assert self.token is not None
        text, logprob, top = self.token
        return {
            "token": text,
            "logprob": logprob,
            "top_logprobs": [{"token": other, "logprob": value} for other, value in top.items()],
        }


def good(**changes: Any) -> Behaviour:
    answer = Answer(**changes)
    return lambda handler: handler.send(
        200, json.dumps(answer.chat() if handler.path.startswith(CHAT) else answer.generate())
    )


def echo_own(handler: Handler) -> None:
    """Replies with the prompt, so that a caller can tell its own answer."""
    good(text=prompt_of(handler.body))(handler)


def status(code: int, message: str = "out of order", **headers: str) -> Behaviour:
    """An error in each protocol's own shape; header names are given with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def behave(handler: Handler) -> None:
        error = {"message": message, "type": "error", "code": code} if handler.path.startswith(CHAT) else message
        handler.send(code, json.dumps({"error": error}), headers=named)

    return behave


def body(text: str, code: int = 200, content_type: str = JSON) -> Behaviour:
    """Any body at all."""
    return lambda handler: handler.send(code, text, content_type)


def slow(seconds: float) -> Behaviour:
    """Says nothing for a while, then answers well."""

    def behave(handler: Handler) -> None:
        if not handler.server.stopped.wait(seconds):
            good()(handler)

    return behave


def trickle(handler: Handler) -> None:
    """Sends a byte now and then, and never an end."""
    handler.send_response(200)
    handler.send_header("Content-Type", JSON)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    while not handler.server.stopped.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def endless(handler: Handler) -> None:
    """Sends without an end, as fast as it is read."""
    handler.send_response(200)
    handler.send_header("Content-Type", JSON)
    handler.send_header("Connection", "close")
    handler.end_headers()
    while not handler.server.stopped.is_set():
        handler.wfile.write(b" " * (1 << 20))


def cut(handler: Handler) -> None:
    """Promises a long body and hangs up in the middle."""
    handler.send_response(200)
    handler.send_header("Content-Type", JSON)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"mess')
    handler.close_connection = True


def drop(handler: Handler) -> None:
    """Hangs up instead of answering, as on a kept connection that the server had given up."""
    handler.close_connection = True


def close_after(handler: Handler) -> None:
    """Answers well, then closes the connection that it had promised to keep."""
    good()(handler)
    handler.close_connection = True


def bomb(times: int) -> Behaviour:
    """A small compressed body that unfolds to so many MiB of blanks."""
    packer, blanks = zlib.compressobj(9, wbits=31), b" " * (1 << 20)
    # After a full flush a part stands for itself, so that it is packed once and sent often.
    begin, part = (packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = begin + part * (times - 1)

    def behave(handler: Handler) -> None:
        handler.send_response(200)
        for name, value in {"Content-Type": JSON, "Content-Encoding": "gzip", "Content-Length": len(packed)}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(packed)

    return behave


def trickle_headers(handler: Handler) -> None:
    """Sends a header now and then, and never the body."""
    handler.send_response(200)
    while not handler.server.stopped.wait(0.05):
        handler.send_header("X-More", "soon")
        handler.flush_headers()


def echo_request(code: int) -> Behaviour:
    """Repeats all that it was sent, in every form that a careless server might."""

    def behave(handler: Handler) -> None:
        sent = " ".join([handler.path, *handler.headers.values()])
        said = good(text=json.dumps({"reasoning": sent, "faulty": True, "confidence": 0.9}))
        said(handler) if code == 200 else status(code, f"refused {sent}")(handler)

    return behave


def moved(place: str) -> Behaviour:
    return lambda handler: handler.send(307, "", headers={"Location": place})
