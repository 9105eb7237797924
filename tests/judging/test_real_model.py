"""One real model, SmolLM2-135M behind llama.cpp: what the tests against a played server take for granted."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from lib import ROOT
from lib.judging.clients import ContextOverflow, Decoding, OpenAIClient
from lib.judging.reply import read_reply

MODEL = "smollm2-135m"
TOOL = ROOT.parent / "shared" / "tools" / "local_model.sh"
SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 80},
        "faulty": {"type": "boolean"},
        "failure_type": {"enum": ["wrong_tool", "premature_stop", "none"]},
        "confidence": {"type": "number"},
    },
    "required": ["reasoning", "faulty", "failure_type", "confidence"],
    "additionalProperties": False,
}
PROMPT = "The agent refunded an order twice. Is that faulty? Answer in JSON."

pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="needs ../shared/tools/local_model.sh to serve a local model")


@pytest.fixture(scope="session")
def client() -> Iterator[OpenAIClient]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = subprocess.run(["bash", str(TOOL), "serve", MODEL, str(port)], capture_output=True, text=True)
    assert started.returncode == 0, started.stderr
    try:
        yield OpenAIClient(MODEL, f"http://127.0.0.1:{port}/v1")
    finally:
        os.kill(int(started.stdout.split()[-1]), signal.SIGKILL)


def test_a_real_reply_keeps_to_the_schema_and_is_counted(client: OpenAIClient) -> None:
    done = client.complete(PROMPT, SCHEMA, Decoding())
    assert done.finish_reason == "stop"
    assert list(json.loads(done.text)) == ["reasoning", "faulty", "failure_type", "confidence"]
    assert read_reply(done.text, done.finish_reason, None).status == "ok"
    assert done.prompt_tokens is not None
    assert done.completion_tokens is not None
    assert 10 < done.prompt_tokens < 100
    assert 10 < done.completion_tokens < 200


def test_at_temperature_zero_the_same_prompt_gets_the_same_reply(client: OpenAIClient) -> None:
    first, second = (client.complete(PROMPT, SCHEMA, Decoding()).text for _ in range(2))
    assert first == second


def test_log_probabilities_are_told_for_every_token(client: OpenAIClient) -> None:
    done = client.complete(PROMPT, SCHEMA, Decoding(logprobs=3))
    assert done.logprobs is not None
    assert done.completion_tokens is not None
    assert 0 <= done.completion_tokens - len(done.logprobs) <= 1  # the end mark is generated, but is no text
    assert all(len(token.top) == 3 and token.logprob <= 0 for token in done.logprobs)


def test_a_cap_on_tokens_makes_a_truncated_verdict(client: OpenAIClient) -> None:
    done = client.complete(PROMPT, SCHEMA, Decoding(max_tokens=5))
    assert (done.finish_reason, done.completion_tokens) == ("length", 5)
    assert read_reply(done.text, done.finish_reason, None).status == "truncated"


def test_a_prompt_over_the_context_is_an_overflow_that_names_the_remedy(client: OpenAIClient) -> None:
    with pytest.raises(ContextOverflow, match=r"8192 tokens.*--context"):
        client.complete("refund the order again " * 3000, SCHEMA, Decoding())


def test_a_real_server_is_described_without_a_path_of_its_machine(client: OpenAIClient) -> None:
    said = client.describe()
    assert (said["served_by"], said["served_model"]) == ("llamacpp", f"{MODEL}.gguf")
    assert said["version"]
    assert said["weights"] == {"ftype": "Q4_1", "n_params": 134515008, "size": 96576768}
    assert "/" not in json.dumps(said)
