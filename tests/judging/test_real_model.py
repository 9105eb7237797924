"""Two small real models behind llama.cpp: what the tests against a played server take for granted."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lib import ROOT
from lib.desk.injector import JudgedSet
from lib.judging.clients import Client, ContextOverflow, Decoding, Target, connect
from lib.judging.llm import Direct
from lib.judging.prompts import RUBRICS
from lib.judging.reply import read_reply
from lib.plans.records import METRICS
from lib.plans.study import PLANS
from lib.records import view_of
from lib.run.folder import Run

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


@contextmanager
def served(model: str) -> Iterator[str]:
    """Where a model is served, on one thread."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command, one_thread = ["bash", str(TOOL), "serve", model, str(port)], os.environ | {"THREADS": "1"}
    started = subprocess.run(command, capture_output=True, text=True, env=one_thread)
    assert started.returncode == 0, started.stderr
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.kill(int(started.stdout.split()[-1]), signal.SIGKILL)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(MODEL) as url:
        yield connect(Target(model=MODEL, backend="openai", base_url=url))


def test_a_real_reply_keeps_to_the_schema_and_is_counted(client: Client) -> None:
    done = client.complete(PROMPT, SCHEMA, Decoding())
    assert done.finish_reason == "stop"
    assert list(json.loads(done.text)) == ["reasoning", "faulty", "failure_type", "confidence"]
    assert read_reply(done.text, done.finish_reason, None).status == "ok"
    assert done.prompt_tokens is not None
    assert done.completion_tokens is not None
    assert 10 < done.prompt_tokens < 100
    assert 10 < done.completion_tokens < 200


def test_at_temperature_zero_the_same_prompt_gets_the_same_reply(client: Client) -> None:
    first, second = (client.complete(PROMPT, SCHEMA, Decoding()).text for _ in range(2))
    assert first == second


def test_log_probabilities_are_told_for_every_token(client: Client) -> None:
    done = client.complete(PROMPT, SCHEMA, Decoding(logprobs=3))
    assert done.logprobs is not None
    assert done.completion_tokens is not None
    assert 0 <= done.completion_tokens - len(done.logprobs) <= 1  # the end mark is generated, but is no text
    assert all(len(token.top) == 3 and token.logprob <= 0 for token in done.logprobs)


@pytest.mark.parametrize("sees", ["outcome", "step"])
def test_a_direct_verdict_has_the_log_odds_of_its_word(sees: str, client: Client) -> None:
    judge = Direct(RUBRICS[f"direct-{sees}"], client, Decoding())
    said = judge.judge(view_of(next(iter(JudgedSet(8, 7))), steps=sees == "step"))
    assert said.status == "ok"
    assert said.log_odds is not None
    assert said.log_odds != 0
    assert (said.log_odds > 0) == said.faulty
    assert said.confidence == pytest.approx(1 / (1 + math.exp(-abs(said.log_odds))))
    assert said.completion_tokens is not None
    assert said.completion_tokens <= 32
    assert said.server_s


def test_a_cap_on_tokens_makes_a_truncated_verdict(client: Client) -> None:
    done = client.complete(PROMPT, SCHEMA, Decoding(max_tokens=5))
    assert (done.finish_reason, done.completion_tokens) == ("length", 5)
    assert read_reply(done.text, done.finish_reason, None).status == "truncated"


def test_a_prompt_over_the_context_is_an_overflow_that_names_the_remedy(client: Client) -> None:
    with pytest.raises(ContextOverflow, match=r"8192 tokens.*--context"):
        client.complete("refund the order again " * 3000, SCHEMA, Decoding())


def test_a_real_server_is_described_without_a_path_of_its_machine(client: Client) -> None:
    said = client.describe()
    assert (said["served_by"], said["served_model"]) == ("llamacpp", f"{MODEL}.gguf")
    assert said["version"]
    assert said["weights"] == {"ftype": "Q4_1", "n_params": 134515008, "size": 96576768}
    assert "/" not in json.dumps(said)


def lib(*arguments: str | Path) -> str:
    """What a command printed; it must end well."""
    command = [sys.executable, "-m", "lib", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_real_model_judges_and_plays_from_the_command_line_and_the_run_is_sound(
    client: Client, tmp_path: Path
) -> None:
    """Small replies are cut off by the cap on purpose: that they are counted and kept is the point."""
    run = Run.create(tmp_path, {"dataset": {"seed": 7, "n": 7}}, JudgedSet(7, 7))
    served = ["--run", tmp_path, "--model", MODEL, "--backend", "openai", "--base-url", client.endpoint]
    collect = ["collect", *served, "--judge", "outcome,step,selfcons", "--k", "3", "--max-tokens", "60"]
    said = [lib(*collect, "--limit", limit) for limit in ("1", "2")]
    verdicts = run.verdicts()
    for line, new in zip(said, [verdicts[:3], verdicts[3:]], strict=True):
        unread = sum(verdict.status != "ok" for verdict in new)
        assert line == f"{len(new)} verdicts ({unread} of them not ok), 0 failures\n"
    ids = [*run.trajectories()][:2]
    judges = [f"outcome:{MODEL}", f"step:{MODEL}", f"selfcons3:{MODEL}"]
    assert {(v.trajectory_id, v.judge_id) for v in verdicts} == {(item, judge) for item in ids for judge in judges}
    for verdict in verdicts:
        replies = verdict.members or [verdict]
        assert len(verdict.members) == (3 if verdict.judge_id == judges[2] else 0)
        assert all(reply.raw_reply and reply.prompt_tokens and reply.latency_s > 0 for reply in replies)
        assert all((reply.status == "truncated") == (reply.finish_reason == "length") for reply in replies)
        assert verdict.completion_tokens == sum(reply.completion_tokens or 0 for reply in replies)
    settings = run.manifest["judges"]
    assert [*settings] == judges
    assert settings[judges[1]]["weights"]["size"] == 96576768
    assert len(settings[judges[1]]["collections"]) == 2

    lib("episodes", *served, "--n", "2", "--max-tokens", "60")
    assert [*run.episodes()] == ["INS-00000-agent", "INS-00001-agent"]
    counted = lib("check", "--run", tmp_path)
    assert "episodes: 2" in counted
    assert "failures: 0" in counted
    assert all(f"{judge}: 2 verdicts" in counted for judge in judges)


def test_a_real_model_plans_and_grades_plans_from_the_command_line(tmp_path: Path) -> None:
    lib("plans", "--out", tmp_path, "--n", "1", "--each", "1")
    with served("gemma3-270m") as url:
        asking = ["--run", tmp_path, "--model", "gemma3:270m", "--backend", "openai", "--base-url", url]
        lib("collect", *asking, "--judge", "with", "--limit", "2")
        lib("plan", *asking, "--n", "1", "--max-tokens", "96")
    run = Run.open(tmp_path, PLANS)
    verdicts = run.verdicts()
    assert [verdict.judge_id for verdict in verdicts] == ["with:gemma3:270m"] * 2
    for verdict in verdicts:
        assert (verdict.status, [*verdict.log_odds]) == ("ok", [*METRICS])
        assert all((verdict.log_odds[m] > 0) == (getattr(verdict.levels, m) == 1) for m in METRICS)
        assert verdict.server_s
    made = [plan for plan in run.records(PLANS.items).values() if plan.planner == "gemma3:270m"]
    assert [plan.tier for plan in made] == ["easy", "medium", "hard"]
    assert all(plan.raw_reply and (plan.calls or plan.reason) for plan in made)
