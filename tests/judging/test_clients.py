"""Both clients against a server that speaks their protocols and misbehaves on demand."""

from __future__ import annotations

import json
import pickle
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest

from lib.errors import UserError
from lib.judging.clients import (
    CallFailed,
    Completion,
    ContextOverflow,
    Decoding,
    ModelMissing,
    Target,
    TransportError,
)
from lib.judging.clients import pace as pacing
from lib.judging.clients.failures import failure, said_in, wanted_wait
from lib.judging.clients.ollama import OllamaClient
from lib.judging.clients.openai import OpenAIClient
from lib.judging.clients.pace import Pace
from tests.judging import fake_server as fake
from tests.judging.fake_server import FakeServer, serving

SCHEMA = {"type": "object", "properties": {"faulty": {"type": "boolean"}}, "required": ["faulty"]}
SECRET = "sk-never-written"
AnyClient = OllamaClient | OpenAIClient


@pytest.fixture(params=["openai", "ollama"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OLLAMA_API_KEY", SECRET)
    return str(request.param)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(pacing.time, "sleep", waited.append)
    return waited


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as running:
        yield running


def client_of(kind: str, address: str, waits: list[float], attempts: int = 3) -> AnyClient:
    pace = Pace(attempts=attempts)
    if kind == "openai":
        return OpenAIClient(Target(model="qwen", base_url=f"http://{address}/v1"), pace)
    return OllamaClient(Target(model="qwen", base_url=address), pace)


def ask(client: AnyClient, prompt: str = "judge this", **decoding: Any) -> Completion:
    return client.complete(prompt, SCHEMA, Decoding(**({"timeout": 5.0} | decoding)))


def test_a_completion_carries_text_counts_and_finish_reason(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.good(text="{}", finish_reason="length", prompt_tokens=11, completion_tokens=7)]
    done = ask(client_of(kind, server.address, waits))
    assert (done.text, done.finish_reason, done.prompt_tokens, done.completion_tokens) == ("{}", "length", 11, 7)
    assert 0 < done.seconds < 5
    assert done.logprobs is None


def test_an_unknown_count_is_none_not_zero(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.good(prompt_tokens=None)]
    done = ask(client_of(kind, server.address, waits))
    assert done.prompt_tokens is None
    assert done.completion_tokens is None


def test_a_model_cut_off_before_its_text_is_truncated_not_broken(server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.good(text=None, finish_reason="length")]
    done = ask(client_of("openai", server.address, waits))
    assert (done.text, done.finish_reason) == ("", "length")


def test_openai_is_asked_for_the_schema_with_one_user_message(server: FakeServer, waits: list[float]) -> None:
    ask(client_of("openai", server.address, waits), temperature=0.7, seed=9, max_tokens=50, logprobs=2)
    asked = server.asked[0]
    assert asked.path == fake.CHAT
    assert asked.body == {
        "model": "qwen",
        "messages": [{"role": "user", "content": "judge this"}],
        "temperature": 0.7,
        "seed": 9,
        "max_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
        },
        "logprobs": True,
        "top_logprobs": 2,
    }


def test_ollama_is_told_the_context_length_and_the_schema(server: FakeServer, waits: list[float]) -> None:
    ask(client_of("ollama", server.address, waits), num_ctx=4096, max_tokens=50)
    asked = server.asked[0]
    assert asked.path == fake.GENERATE
    assert asked.body["prompt"] == "judge this"
    assert asked.body["format"] == SCHEMA
    assert asked.body["stream"] is False
    assert asked.body["options"] == {"temperature": 0.0, "seed": 7, "num_ctx": 4096, "num_predict": 50}


def test_log_probabilities_are_kept_when_asked_for(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.good(token=("true", -0.5, {"true": -0.5, "false": -1.0}))]
    done = ask(client_of(kind, server.address, waits), logprobs=2)
    assert done.logprobs is not None
    assert [(t.token, t.logprob, t.top) for t in done.logprobs] == [("true", -0.5, {"true": -0.5, "false": -1.0})]


def test_model_load_is_counted_apart_where_the_server_tells_it(server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.good(load_s=0.25)]
    done = ask(client_of("ollama", server.address, waits))
    assert done.load_s == 0.25
    assert done.seconds < 0.25  # the answer came at once, so nothing is left when the load is taken off
    assert ask(client_of("openai", server.address, waits)).load_s is None


PASSING = {
    "500": fake.status(500),
    "503 while the model loads": fake.status(503, "Loading model"),
    "HTML with 502": fake.body("<html>Bad gateway</html>", 502, fake.HTML),
    "HTML with 200": fake.body("<html>Sign in</html>", 200, fake.HTML),
    "HTML that claims to be JSON": fake.body("<html></html>"),
    "an empty body": fake.body(""),
    "half a JSON": fake.body('{"choices": [{"message"'),
    "a list": fake.body("[1, 2]"),
    "an empty object": fake.body("{}"),
    "a cut connection": fake.cut,
    "a dropped connection": fake.drop,
}


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING.keys())
def test_a_passing_trouble_is_met_by_asking_again(
    kind: str, server: FakeServer, waits: list[float], behaviour: fake.Behaviour
) -> None:
    server.script = [behaviour, behaviour]
    assert ask(client_of(kind, server.address, waits)).text == fake.VERDICT
    assert len(server.asked) == 3
    assert waits == [1.0, 2.0]


def test_a_lasting_trouble_is_a_transport_failure_with_its_attempts(
    kind: str, server: FakeServer, waits: list[float]
) -> None:
    server.script = [*PASSING.values()][:9]
    with pytest.raises(TransportError, match="after 3 attempts") as failure:
        ask(client_of(kind, server.address, waits))
    assert failure.value.attempts == 3
    assert server.address in str(failure.value)
    assert len(server.asked) == 3


def test_a_slow_server_is_given_up_at_the_time_out_and_asked_again(
    kind: str, server: FakeServer, waits: list[float]
) -> None:
    server.script = [fake.slow(3)]
    assert ask(client_of(kind, server.address, waits), timeout=0.2).text == fake.VERDICT
    assert len(server.asked) == 2


def test_an_answer_that_never_ends_is_given_up_at_the_time_out(
    kind: str, server: FakeServer, waits: list[float]
) -> None:
    server.script = [fake.trickle]
    assert ask(client_of(kind, server.address, waits), timeout=0.3).text == fake.VERDICT
    assert len(server.asked) == 2


def test_an_answer_without_measure_is_given_up_before_it_fills_the_memory(
    kind: str, server: FakeServer, waits: list[float]
) -> None:
    server.script = [fake.endless] * 3
    with pytest.raises(TransportError, match="more than 67108864 bytes"):
        ask(client_of(kind, server.address, waits))


def test_a_kept_connection_that_the_server_closes_costs_no_reply(
    kind: str, server: FakeServer, waits: list[float]
) -> None:
    server.script = [fake.good(), fake.close_after, fake.good(), fake.drop, fake.good()]
    client = client_of(kind, server.address, waits)
    assert [ask(client).text for _ in range(4)] == [fake.VERDICT] * 4


def test_a_refused_connection_is_a_transport_failure(kind: str, waits: list[float]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(TransportError, match=address):
            ask(client_of(kind, address, waits))
    assert waits == [1.0, 2.0]


def test_waits_double_up_to_the_longest(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.status(500)] * 9
    with pytest.raises(TransportError):
        ask(client_of(kind, server.address, waits, attempts=9))
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


NOW = {"retry-after": format_datetime(datetime.now(UTC), usegmt=True)}
FAR = {"retry-after": "Mon, 01 Jan 100000000000000000000 00:00:00 GMT"}
WAITS: list[tuple[dict[str, str], str, float | None]] = [
    ({"retry-after": "7"}, "", 7.0),
    ({"retry-after": "1.5"}, "", 1.5),
    ({"retry-after-ms": "250", "retry-after": "1"}, "", 0.25),
    ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0.0),
    (NOW, "", 0.0),
    (FAR, "", None),
    ({"retry-after": "soon"}, "", None),
    ({}, "Limit 20, Used 20. Please try again in 20s. Visit the page", 20.0),
    ({}, "Please try again in 1m30.5s.", 90.5),
    ({}, "Rate limited: try again in 750ms", 0.75),
    ({}, "Requests to this operation are over the limit. Please retry after 26 seconds.", 26.0),
    ({}, "Quota exceeded for metric. Please retry in 34.07s.", 34.07),
    ({}, "try again later, error 1234", None),
    ({}, "too many requests", None),
]


@pytest.mark.parametrize(("headers", "words", "seconds"), WAITS)
def test_the_wait_that_a_server_wants_is_read_in_every_form(
    headers: dict[str, str], words: str, seconds: float | None
) -> None:
    assert wanted_wait(headers, words) == (None if seconds is None else pytest.approx(seconds))


def test_words_without_an_end_are_read_in_no_time() -> None:
    started = time.perf_counter()
    for letters in (
        "retry ",
        "1",
        "1m",
        "model ",
        "prompt ",
        "input tokens ",
        "content ",
        "violat",
        "1.",
        " ",
        "context",
    ):
        words = letters * (200_000 // len(letters))
        said = said_in({"error": {"message": words, "code": words}})
        failure("here", 429, said, {}, model="m", key="K", answered=True)
        failure("here", 400, said, {}, model="m", key="K", answered=True)
    assert time.perf_counter() - started < 2


def test_a_limited_rate_holds_all_threads_back_and_costs_no_attempt(kind: str, server: FakeServer) -> None:
    server.script = [fake.status(429, "slow down", Retry_After="0.3") for _ in range(6)]
    client = client_of(kind, server.address, [], attempts=1)
    client.pace.first_wait = 0.01
    started = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda _: ask(client), range(8)))
    assert [each.text for each in done] == [fake.VERDICT] * 8
    assert time.monotonic() - started >= 0.6  # the first refusals pause together; two more come one at a time
    assert len(server.asked) == 14


def test_who_is_refused_alone_after_a_minute_is_told_so(
    kind: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pacing, "A_MINUTE", 0.2)
    server.otherwise = fake.status(429, "Limit 20. Please try again in 0.1s")
    client = client_of(kind, server.address, [])
    client.pace.first_wait = 0.01
    with pytest.raises(TransportError, match=r"Limit 20.*fewer --workers or --requests-per-minute"):
        ask(client)
    assert "Waiting 0.1 s for the server's limit" in caplog.text
    assert 3 <= len(server.asked) <= 4


@pytest.mark.parametrize(
    ("words", "said"),
    [("insufficient_quota: check your plan and billing", "billing"), ("try again in 7h12m", "try again in 7h12m")],
)
def test_a_limit_that_no_wait_mends_ends_the_run(kind: str, server: FakeServer, words: str, said: str) -> None:
    server.script = [fake.status(429, words)]
    with pytest.raises(UserError, match=said):
        ask(client_of(kind, server.address, []))
    assert len(server.asked) == 1


def test_no_more_requests_are_sent_in_a_minute_than_allowed(server: FakeServer) -> None:
    client = OpenAIClient(Target(model="m", base_url=f"http://{server.address}", requests_per_minute=600.0))
    started = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: ask(client), range(5)))
    assert 0.4 <= time.monotonic() - started < 2


def test_a_missing_model_names_the_command_that_pulls_it(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.status(404, "model 'qwen' not found")]
    with pytest.raises(ModelMissing, match="ollama pull qwen"):
        ask(client_of(kind, server.address, waits))
    assert len(server.asked) == 1


def test_a_wrong_address_is_not_taken_for_a_missing_model(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.body("404 page not found", 404, "text/plain")]
    with pytest.raises(UserError, match="address complete") as failure:
        ask(client_of(kind, server.address, waits))
    assert not isinstance(failure.value, ModelMissing)


OVERFLOWS = {
    "llama.cpp": "request (18031 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "vLLM": "This model's maximum context length is 8192 tokens. However, you requested 9024 tokens.",
    "Ollama": "the input length exceeds the context length",
}


@pytest.mark.parametrize("message", OVERFLOWS.values(), ids=OVERFLOWS.keys())
def test_a_refusal_for_lack_of_context_is_a_failure_that_names_the_remedy(
    kind: str, server: FakeServer, waits: list[float], message: str
) -> None:
    server.script = [fake.status(400, message)]
    with pytest.raises(ContextOverflow, match="--context"):
        ask(client_of(kind, server.address, waits))
    assert len(server.asked) == 1


@pytest.mark.parametrize("tokens", [100, 101])
def test_a_prompt_that_fills_the_context_is_a_failure(
    kind: str, server: FakeServer, waits: list[float], tokens: int
) -> None:
    server.script = [fake.good(prompt_tokens=tokens)]
    with pytest.raises(ContextOverflow, match=f"{tokens} of 100 tokens"):
        ask(client_of(kind, server.address, waits), num_ctx=100)


def test_a_prompt_one_token_short_of_the_context_fits(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.script = [fake.good(prompt_tokens=99)]
    assert ask(client_of(kind, server.address, waits), num_ctx=100).prompt_tokens == 99


def test_overflow_and_transport_are_told_apart() -> None:
    assert issubclass(ContextOverflow, CallFailed)
    assert issubclass(TransportError, CallFailed)
    assert not issubclass(ContextOverflow, TransportError)


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_stops_at_once_and_is_never_repeated(
    kind: str, server: FakeServer, waits: list[float], code: int
) -> None:
    server.script = [fake.status(code, f"Incorrect API key provided: {SECRET}")]
    with pytest.raises(UserError, match="API_KEY") as failure:
        ask(client_of(kind, server.address, waits))
    assert SECRET not in str(failure.value)
    assert len(server.asked) == 1


def test_a_refused_request_stops_at_once_with_the_servers_words(
    kind: str, server: FakeServer, waits: list[float]
) -> None:
    server.script = [fake.status(400, "JSON schema error at #: unrecognized type zork")]
    with pytest.raises(UserError, match="unrecognized type zork"):
        ask(client_of(kind, server.address, waits))
    assert len(server.asked) == 1


LLAMA_CPP = {
    "/v1/models": {
        "object": "list",
        "data": [
            {
                "id": "/home/someone/models/small.gguf",
                "owned_by": "llamacpp",
                "meta": {"n_params": 134515008, "size": 96576768, "ftype": "Q4_1", "n_ctx": 8192},
            }
        ],
    },
    "/props": {"build_info": "b6000-abc", "model_path": "/home/someone/models/small.gguf"},
}
VLLM = {
    "/v1/models": {"data": [{"id": "org/other", "owned_by": "vllm"}, {"id": "qwen", "owned_by": "vllm"}]},
    "/version": {"version": "0.9.1"},
}
OLLAMA = {
    "/api/tags": {
        "models": [
            {"model": "qwen:7b", "digest": "no", "size": 1},
            {
                "model": "qwen:latest",
                "digest": "f6daf2b25194",
                "size": 986061892,
                "details": {"parameter_size": "1.5B", "quantization_level": "Q4_K_M"},
            },
        ]
    },
    "/api/version": {"version": "0.12.3"},
}


def description(kind: str, pages: dict[str, Any]) -> dict[str, Any]:
    with serving(pages=pages) as server:
        client = client_of(kind, server.address, [])
        first = client.describe()
        visits = len(server.visits)
        assert client.describe() == first
        assert len(server.visits) == visits  # asked once a collection
        return first


def test_llama_cpp_tells_build_and_weights_but_no_path_of_its_machine() -> None:
    said = description("openai", LLAMA_CPP)
    assert said == {
        "backend": "openai",
        "model": "qwen",
        "served_by": "llamacpp",
        "served_model": "small.gguf",
        "digest": None,
        "version": "b6000-abc",
        "weights": {"ftype": "Q4_1", "n_params": 134515008, "size": 96576768},
    }


def test_vllm_tells_its_version_and_the_model_asked_for() -> None:
    said = description("openai", VLLM)
    assert (said["served_model"], said["version"]) == ("qwen", "0.9.1")


@pytest.mark.parametrize("pages", [{}, {"/v1/models": {"data": None}}, {"/v1/models": {"data": [3, {"id": "x"}]}}])
def test_a_server_that_tells_nothing_is_described_by_what_was_asked(pages: dict[str, Any]) -> None:
    said = description("openai", pages)
    assert (said["model"], said["digest"], said["version"]) == ("qwen", None, None)


def test_ollama_tells_the_weights_digest_and_its_version() -> None:
    assert description("ollama", OLLAMA) == {
        "backend": "ollama",
        "model": "qwen",
        "digest": "f6daf2b25194",
        "version": "0.12.3",
        "weights": {"ftype": "Q4_K_M", "parameter_size": "1.5B", "size": 986061892},
    }


def test_no_secret_is_kept_or_shown(kind: str, server: FakeServer, waits: list[float]) -> None:
    server.pages = LLAMA_CPP | OLLAMA
    with_password = f"user:hunter2@{server.address}"
    client = client_of(kind, with_password if kind == "openai" else f"http://{with_password}", waits)
    ask(client)
    shown = json.dumps(client.describe()) + client.endpoint
    assert server.address in client.endpoint
    assert "hunter2" not in shown
    assert SECRET not in shown
    assert SECRET.encode() not in pickle.dumps(client)
    server.script = [fake.status(500)] * 3
    with pytest.raises(TransportError) as failure:
        ask(client)
    assert "hunter2" not in str(failure.value)


def test_a_local_server_needs_no_key(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert ask(client_of("openai", server.address, [])).text == fake.VERDICT


def test_the_key_goes_to_the_server_and_nowhere_else(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    ask(client_of("openai", server.address, []))
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_client_can_be_sent_to_another_process(kind: str, server: FakeServer) -> None:
    client = client_of(kind, server.address, [])
    ask(client)
    assert ask(pickle.loads(pickle.dumps(client))).text == fake.VERDICT


def test_threads_that_share_a_client_get_their_own_answers(kind: str, server: FakeServer) -> None:
    server.script = [fake.echo_own for _ in range(64)]
    client = client_of(kind, server.address, [])
    prompts = [f"prompt {i}" for i in range(64)]
    with ThreadPoolExecutor(16) as threads:
        assert [done.text for done in threads.map(lambda prompt: ask(client, prompt), prompts)] == prompts


HOSTS = {
    "": "http://127.0.0.1:11434",
    "  ": "http://127.0.0.1:11434",
    "example.com": "http://example.com:11434",
    "example.com:8080": "http://example.com:8080",
    "example.com/ollama/": "http://example.com:11434/ollama",
    ":8080": "http://127.0.0.1:8080",
    "0.0.0.0": "http://0.0.0.0:11434",
    '"example.com:8080"': "http://example.com:8080",
    "http://example.com": "http://example.com",
    "http://example.com:8080/": "http://example.com:8080",
    "https://example.com": "https://example.com",
    "https://example.com:8443/api-of-mine": "https://example.com:8443/api-of-mine",
    "::1": "http://[::1]:11434",
    "[::1]": "http://[::1]:11434",
    "[::1]:8080": "http://[::1]:8080",
    "http://[::1]:8080": "http://[::1]:8080",
}


@pytest.mark.parametrize(("host", "endpoint"), HOSTS.items())
def test_ollama_host_is_read_in_every_form(monkeypatch: pytest.MonkeyPatch, host: str, endpoint: str) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert OllamaClient(Target(model="qwen")).endpoint == endpoint
    assert OllamaClient(Target(model="qwen", base_url=host)).endpoint == endpoint


def test_a_given_host_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "elsewhere:1")
    assert OllamaClient(Target(model="qwen", base_url="here:2")).endpoint == "http://here:2"


NO_HOSTS = ["h:99999", "h:abc", "http://[", "http://xn--/v1", "a" * 400, "a..b", "h\ud800", "ftp://h"]


@pytest.mark.parametrize("host", NO_HOSTS)
def test_a_host_that_is_no_address_is_said_so_with_the_place_it_came_from(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    with pytest.raises(UserError, match=r"^--base-url '.*' is no address .*host:port/v1$"):
        OllamaClient(Target(model="qwen", base_url=host))
    monkeypatch.setattr("os.environ", {"OLLAMA_HOST": host})
    with pytest.raises(UserError, match=r"^OLLAMA_HOST '.*' is no address .*host:port/v1$"):
        OllamaClient(Target(model="qwen"))


def test_an_address_that_is_none_is_shown_without_its_password() -> None:
    with pytest.raises(UserError, match="'h:abc/v1' is no address") as refused:
        OpenAIClient(Target(model="qwen", base_url=f"http://me:{SECRET}@h:abc/v1"))
    assert SECRET not in str(refused.value)
    with pytest.raises(UserError, match="'h:99999' is no address") as refused:
        OllamaClient(Target(model="qwen", base_url=f"me:{SECRET}@h:99999"))
    assert SECRET not in str(refused.value)


NO_URLS = ["127.0.0.1:8080/v1", "/v1", "http://", "ftp://h/v1", "http://[", "http://h:abc/v1", "http://h:99999/v1"]
NO_URLS += ["http://xn--/v1", f"http://{'a' * 400}/v1", "http://a..b/v1", "http://h\ud800/v1", ""]


@pytest.mark.parametrize("url", NO_URLS)
def test_a_base_url_that_is_no_address_is_said_so(url: str) -> None:
    with pytest.raises(UserError, match="http://host:port/v1"):
        OpenAIClient(Target(model="qwen", base_url=url))


DEEP = '{"a": ' + "[" * 100_000


@pytest.mark.parametrize("count", [-1, 2**63, 10**30])
def test_a_count_that_makes_no_sense_is_none(kind: str, server: FakeServer, waits: list[float], count: int) -> None:
    server.script = [fake.good(prompt_tokens=count, completion_tokens=count)]
    done = ask(client_of(kind, server.address, waits))
    assert (done.prompt_tokens, done.completion_tokens) == (None, None)


@pytest.mark.parametrize("load", [-1, 2**63, 10**400])
def test_a_load_time_that_makes_no_sense_is_none(server: FakeServer, waits: list[float], load: int) -> None:
    server.script = [fake.good(also={"load_duration": load})]
    done = ask(client_of("ollama", server.address, waits))
    assert done.load_s is None
    assert done.seconds > 0


@pytest.mark.parametrize("code", [200, 500])
def test_an_answer_nested_too_deep_is_a_transport_failure(
    kind: str, server: FakeServer, waits: list[float], code: int
) -> None:
    server.script = [fake.body(DEEP, code)]
    with pytest.raises(TransportError):
        ask(client_of(kind, server.address, waits, attempts=1))


@pytest.mark.parametrize("code", [302, 304])
def test_a_status_that_is_neither_answer_nor_error_is_a_transport_failure(
    server: FakeServer, waits: list[float], code: int
) -> None:
    server.script = [fake.body("", code)]
    with pytest.raises(TransportError, match=f"{code}: not the answer asked for"):
        ask(client_of("ollama", server.address, waits, attempts=1))
