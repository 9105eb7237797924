"""An answer that arrived is read, however odd its envelope; what is no answer ends early, with the server's words."""

# ruff: noqa: E501 -- tables with a server's words

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lib.errors import UserError
from lib.judging.clients import Completion, ContextOverflow, Decoding, Refused, Target, TransportError
from lib.judging.clients.ollama import OllamaClient
from lib.judging.clients.openai import OpenAIClient
from lib.judging.clients.pace import Pace
from tests.judging import fake_server as fake
from tests.judging.fake_server import FakeServer, serving

SAID = '{"faulty": true}'
SCHEMA = {"type": "object", "properties": {"faulty": {"type": "boolean"}, "n": {"type": "number", "minimum": 0}}}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as running:
        yield running


def ask(server: FakeServer, answer: Any, backend: str = "openai", prompt: str = "judge", **decoding: Any) -> Completion:
    if answer is not None:
        server.script = [answer if callable(answer) else fake.body(json.dumps(answer))]
    kind = OpenAIClient if backend == "openai" else OllamaClient
    client = kind(Target(model="m", base_url=f"http://{server.address}", price_in=1.0, price_out=2.0), Pace(attempts=1))
    return client.complete(prompt, SCHEMA, Decoding(**({"timeout": 5.0, "num_ctx": None} | decoding)))


def choice(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"} | more]}


TOOL = {"function": {"name": "reply", "arguments": SAID}}
CHOICES: dict[str, tuple[dict[str, Any], str, str | None, str | None]] = {
    "text parts": (choice({"content": [{"type": "text", "text": '{"faulty"'}, {"text": ": true}"}]}), SAID, None, None),
    "plain parts": (choice({"content": [SAID]}), SAID, None, None),
    "the reply as an object": (choice({"content": {"faulty": True}}), SAID, None, None),
    "a completion's text": ({"choices": [{"text": SAID, "finish_reason": "stop"}]}, SAID, None, None),
    "a tool call": (choice({"content": "", "tool_calls": [TOOL]}), SAID, None, "tool call"),
    "a call's arguments as an object": (
        choice({"tool_calls": [{"function": {"arguments": {"faulty": True}}}]}), SAID, None, "tool call",
    ),
    "the older function call": (choice({"content": None, "function_call": TOOL["function"]}), SAID, None, "tool call"),
    "two tool calls": (choice({"content": None, "tool_calls": [TOOL, TOOL]}), "", "unparseable", "no text"),
    "a refusal": (choice({"content": None, "refusal": "I can't."}), "I can't.", "refused", "refused to answer"),
    "a filter": (choice({"content": "The"}, finish_reason="content_filter"), "The", "refused", "content filter"),
    "a thought only": (choice({"content": None, "reasoning": SAID}), SAID, "unparseable", "a thought and no answer"),
    "a thinking part only": (choice({"content": [{"thinking": "hm"}]}), '"hm"', "unparseable", "a thought"),
    "a thought to the cap": (choice({"reasoning_content": "hm"}, finish_reason="length"), "hm", "truncated", "thinking"),
    "null": (choice({"content": None}), "", "unparseable", "no text"),
    "a number": (choice({"content": 3}), "", "unparseable", "no text"),
    "no message": ({"choices": [{}]}, "", "unparseable", "no text"),
    "no choice": ({"choices": []}, "", "unparseable", "no text"),
    "null for choices": ({"choices": None, "usage": 7}, "", "unparseable", "no text"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "text", "status", "reason"), CHOICES.values(), ids=CHOICES.keys())
def test_a_completion_that_arrived_is_no_transport_failure(
    server: FakeServer, answer: dict[str, Any], text: str, status: str | None, reason: str | None
) -> None:
    done = ask(server, answer)
    assert (done.text, done.status) == (text, status)
    assert (reason or "") in (done.reason or "")


OLLAMA: dict[str, tuple[dict[str, Any], str | None]] = {
    "cut while thinking": ({"response": "", "thinking": "hm", "done": True, "done_reason": "length"}, "truncated"),
    "a thought only": ({"response": "", "thinking": SAID, "done": True, "done_reason": "stop"}, "unparseable"),
    "null": ({"response": None, "done": True}, "unparseable"),
    "a list": ({"response": [SAID], "done": True}, "unparseable"),
    "not done": ({"response": SAID, "done": False}, "truncated"),
    "no word of an end": ({"response": SAID}, None),
}


@pytest.mark.parametrize(("answer", "status"), OLLAMA.values(), ids=OLLAMA.keys())
def test_ollamas_envelope_is_read_as_leniently(server: FakeServer, answer: dict[str, Any], status: str | None) -> None:
    assert ask(server, answer, "ollama").status == status


COUNTS = [(7, 7), (7.0, 7), ("7", None), (True, None), (-1, None), (2**63, None), (10**400, None), (None, None)]


@pytest.mark.parametrize(("said", "read"), COUNTS)
def test_a_count_is_a_whole_number_or_none(server: FakeServer, said: Any, read: int | None) -> None:
    done = ask(server, choice({"content": SAID}) | {"usage": {"prompt_tokens": said, "completion_tokens": said}})
    assert (done.prompt_tokens, done.completion_tokens) == (read, read)


@pytest.mark.parametrize("usage", [3, [], "many", None, {}, {"prompt_tokens": {}}])
def test_an_odd_usage_costs_no_reply(server: FakeServer, usage: Any) -> None:
    assert ask(server, choice({"content": SAID}) | {"usage": usage}).text == SAID


def test_a_cost_follows_from_prices_and_counts(server: FakeServer) -> None:
    usage = {"prompt_tokens": 2_000_000, "completion_tokens": 500_000}
    assert ask(server, choice({"content": SAID}) | {"usage": usage}).cost == 3.0
    assert ask(server, choice({"content": SAID})).cost is None


def test_what_a_server_computed_is_told_apart_from_waiting(server: FakeServer) -> None:
    timings = {"timings": {"prompt_ms": 250.0, "predicted_ms": 500.0}}
    assert ask(server, choice({"content": SAID}) | timings).server_s == 0.75
    spent = {"response": SAID, "done": True, "prompt_eval_duration": 10**9, "eval_duration": 5 * 10**8}
    assert ask(server, spent, "ollama").server_s == 1.5


def test_odd_bytes_and_half_characters_are_replaced(server: FakeServer) -> None:
    raw = '{"choices": [{"message": {"content": "a\\ud83d"}, "finish_reason": "\\udc00"}]}'
    assert ask(server, fake.body(raw)).text == "a�"
    latin = b'{"choices": [{"message": {"content": "\xe9t\xe9"}}]}'
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(latin)}\r\n\r\n".encode()
    assert ask(server, lambda handler: handler.wfile.write(head + latin)).text == "�t�"


def test_a_servers_words_are_bounded(server: FakeServer) -> None:
    done = ask(server, choice({"content": SAID}, finish_reason="x" * 10_000))
    assert done.finish_reason == "x" * 200


def test_log_probabilities_that_are_none_cost_no_reply(server: FakeServer) -> None:
    for odd in (3, {"content": 3}, {"content": [{"token": 1, "logprob": 0}]}, {"content": [{"token": "a"}]}):
        assert ask(server, choice({"content": SAID}, logprobs=odd)).logprobs is None


def test_a_schema_is_sent_without_bounds_of_numbers(server: FakeServer) -> None:
    ask(server, None)
    assert server.asked[0].body["response_format"]["json_schema"]["schema"]["properties"]["n"] == {"type": "number"}


def test_ollama_is_told_to_cut_nothing(server: FakeServer) -> None:
    ask(server, None, "ollama", think=False)
    body = server.asked[0].body
    assert (body["truncate"], body["shift"], body["think"]) == (False, False, False)


def test_what_is_left_out_is_not_sent(server: FakeServer) -> None:
    ask(server, None, temperature=None, seed=None, token_cap="none", response_format="none", logprobs=0)
    assert sorted(server.asked[0].body) == ["messages", "model"]
    ask(server, None, token_cap="max_completion_tokens", reasoning_effort="low", extra_body={"top_p": 1})
    body = server.asked[1].body
    assert (body["max_completion_tokens"], body["reasoning_effort"], body["top_p"]) == (1024, "low", 1)
    assert "max_tokens" not in body


@pytest.mark.parametrize(("tokens", "num_ctx"), [(100, 100), (58, 4096), (130, 256), (100, 8192)])
def test_a_prompt_that_was_cut_is_never_read(server: FakeServer, tokens: int, num_ctx: int) -> None:
    answer = {"response": SAID, "done": True, "prompt_eval_count": tokens}
    with pytest.raises(ContextOverflow, match="context"):
        ask(server, answer, "ollama", prompt="word " * 130, num_ctx=num_ctx)


ERRORS: list[tuple[Any, int, type[Exception]]] = [
    ({"error": {"message": "flagged by our moderation", "code": 200}}, 200, Refused),
    ({"error": "the prompt is longer than the context window"}, 200, ContextOverflow),
    ({"error": {"message": "Provider returned error", "code": 502}}, 200, TransportError),
    ({"error": {"code": "content_filter", "message": "no"}}, 400, Refused),
    ({"error": {"message": "Input data may contain inappropriate content", "code": "data_inspection_failed"}}, 400, Refused),
    ({"error": {"message": "Your input exceeds the context window of this model"}}, 400, ContextOverflow),
    ({"error": {"message": "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"}}, 400, ContextOverflow),
    ({"message": "Input is too long for requested model."}, 400, ContextOverflow),
    ({"error": {"message": "The input token count (40000) exceeds the maximum number of tokens allowed"}}, 400, ContextOverflow),
    ({"error": {"message": "Request too large for m: Limit 30000, Requested 35000", "code": "rate_limit_exceeded"}}, 429, ContextOverflow),
    ({}, 413, ContextOverflow),
    ({"error": {"message": "out of credit: insufficient balance"}}, 402, UserError),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "code", "kind"), ERRORS, ids=lambda value: str(value)[:60])
def test_a_servers_error_is_told_by_its_words(
    server: FakeServer, answer: Any, code: int, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        ask(server, fake.body(json.dumps(answer), code))


def test_after_a_good_answer_a_refusal_is_this_prompts_alone(server: FakeServer) -> None:
    client = OpenAIClient(Target(model="m", base_url=f"http://{server.address}"))
    for code in (400, 403, 422):
        server.script = [fake.good(), fake.status(code, "zork")]
        client.complete("one", SCHEMA, Decoding())
        with pytest.raises(Refused, match="zork"):
            client.complete("two", SCHEMA, Decoding())


@pytest.mark.parametrize("backend", ["openai", "ollama"])
def test_a_body_is_bounded_after_it_is_unpacked(server: FakeServer, backend: str) -> None:
    bomb = fake.bomb(1_000)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(TransportError, match="more than 67108864 bytes"):
        ask(server, bomb, backend, timeout=60.0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB
    assert time.monotonic() - started < 20


def test_headers_that_trickle_end_at_the_time_out(server: FakeServer) -> None:
    started = time.monotonic()
    with pytest.raises(TransportError, match="no answer in time"):
        ask(server, fake.trickle_headers, timeout=0.4)
    assert time.monotonic() - started < 2


def test_an_address_that_has_moved_is_named_without_its_secrets(server: FakeServer) -> None:
    with pytest.raises(UserError, match=r"moved to https://new\.example/v1/chat/completions; .*--base-url") as ended:
        ask(server, fake.moved("https://me:hunter2@new.example/v1/chat/completions?key=1"))
    assert "hunter2" not in str(ended.value)


ADDRESSES = {
    "http://{}": "/v1/chat/completions",
    "http://{}/": "/v1/chat/completions",
    "http://{}/v1/": "/v1/chat/completions",
    "http://{}/api/v3": "/api/v3/chat/completions",
    "http://{}/v1/chat/completions": "/v1/chat/completions",
    "http://{}/openai/deployments/d?api-version=2024-10-21": (
        "/openai/deployments/d/chat/completions?api-version=2024-10-21"
    ),
}


@pytest.mark.parametrize(("address", "path"), ADDRESSES.items())
def test_an_address_is_taken_in_every_form(server: FakeServer, address: str, path: str) -> None:
    client = OpenAIClient(Target(model="m", base_url=address.format(server.address)))
    server.script = [fake.body(json.dumps(choice({"content": SAID})))]
    assert client.complete("x", SCHEMA, Decoding()).text == SAID
    assert server.asked[0].path == path
