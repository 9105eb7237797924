"""How a server is asked: what the probe finds out, what is asked again, and environments that stand in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lib import ROOT
from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.errors import UserError
from lib.judging.clients import Decoding, Target, TransportError, connect, ollama
from lib.judging.clients.probe import CHANGES, settle
from lib.run.folder import Run
from tests.judging import fake_server as fake
from tests.judging.fake_server import FakeServer, serving

SCHEMA = {"type": "object", "properties": {"faulty": {"type": "boolean"}}}
Collect = Callable[..., tuple[int, str]]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as running:
        yield running


@pytest.fixture
def collect(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Collect:
    """``collect`` on a run of 28 trajectories: exit status, and all that was said."""
    Run.create(tmp_path, {"dataset": {"seed": 7}}, JudgedSet(28, 7))
    command = ["lib", "collect", "--run", str(tmp_path), "--judge", "outcome", "--model", "m", "--backend", "openai"]
    command += ["--base-url", f"http://{server.address}/v1", "--limit", "4"]

    def run(*options: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", [*command, *options])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), "".join(capsys.readouterr())

    return run


def picky(*refused: tuple[str, str]) -> fake.Behaviour:
    """A server that refuses bodies with a field, in words of its own."""

    def behave(handler: fake.Handler) -> None:
        said = next((words for field, words in refused if field in json.dumps(handler.body)), None)
        (fake.status(400, said) if said else fake.good())(handler)

    return behave


PICKY = [
    ('"max_tokens"', "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
    (
        '"temperature"',
        "Unsupported value: 'temperature' does not support 0.0, only the default (1) value.",
    ),
    ('"seed"', "Unrecognized request argument supplied: seed"),
    ('"logprobs"', "logprobs are not supported with reasoning models"),
    ("json_schema", "response_format.type `json_schema` is unavailable now"),
]


def test_what_a_server_does_not_take_is_left_out_said_and_recorded(
    server: FakeServer, collect: Collect, tmp_path: Path
) -> None:
    server.otherwise = picky(*PICKY)
    status, said = collect()
    assert status == 0, said
    assert said.count("Asked otherwise than told") == 5
    assert "4 verdicts (0 of them not ok), 0 failures" in said
    about = Run.open(tmp_path).manifest["judges"]["outcome:m"]
    decoding = about["decoding"]
    assert [decoding[name] for name in ("token_cap", "temperature", "seed", "logprobs", "response_format")] == [
        *("max_completion_tokens", None, None, 0, "json_object")
    ]
    assert len(about["collections"][0]["changed"]) == 5
    body = server.asked[0].body
    assert sorted(body) == ["max_completion_tokens", "messages", "model", "response_format"]
    assert "Reply with one JSON object" in fake.prompt_of(body)
    assert [status for status, _ in (collect(),)] == [0]  # the same is found out again, so the settings are the same


def test_every_known_change_names_its_source() -> None:
    assert all(change.source for change in CHANGES)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("max_tokens is too large: this model supports at most 4096", "--max-tokens"),
        ("Invalid model name passed in model=m", "--model"),
        ("reasoning_effort 'low' is not known", "--reasoning-effort"),
        ("zork", "--help"),
    ],
)
def test_any_other_refusal_ends_with_the_servers_words_and_an_option(
    server: FakeServer, words: str, option: str
) -> None:
    server.on_probe = [fake.status(400, words)] * 9
    with pytest.raises(UserError) as ended:
        settle(connect(Target(model="m", base_url=server.address)), SCHEMA, Decoding(reasoning_effort="low"))
    assert words in str(ended.value)
    assert option in str(ended.value)
    assert len(server.probed) == 1


def test_unread_replies_are_asked_again_with_another_cap_and_nothing_is_lost(
    server: FakeServer, collect: Collect, tmp_path: Path
) -> None:
    run = Run.open(tmp_path)
    server.script = [fake.good(), *[fake.good(text="{", finish_reason="length")] * 3]
    assert "--again unread --max-tokens N" in collect("--max-tokens", "50")[1]
    first, *cut = (tmp_path / "verdicts.jsonl").read_bytes().splitlines()
    assert "recorded 50, now 900" in collect("--max-tokens", "900")[1]
    server.script = [fake.good(), fake.good(text="{", finish_reason="length"), fake.good()]
    status, said = collect("--max-tokens", "900", "--again", "unread")
    assert (status, said) == (0, "3 verdicts (1 of them not ok), 0 failures\n")
    assert [asked.body["max_tokens"] for asked in server.asked] == [50] * 4 + [900] * 3
    assert (tmp_path / "verdicts.replaced.jsonl").read_bytes().splitlines() == cut
    assert (tmp_path / "verdicts.jsonl").read_bytes().splitlines()[0] == first
    verdicts = run.verdicts()
    assert [verdict.asked_with for verdict in verdicts] == [None] + [{"max_tokens": 900}] * 3
    assert sorted(verdict.status for verdict in verdicts) == ["ok", "ok", "ok", "truncated"]
    assert run.manifest["judges"]["outcome:m"]["decoding"]["max_tokens"] == 50
    assert collect("--max-tokens", "50")[1] == "0 verdicts (0 of them not ok), 0 failures\n"
    assert len(server.asked) == 7


def test_a_refused_prompt_is_asked_again_only_when_told(server: FakeServer, collect: Collect) -> None:
    server.script = [fake.good(), fake.status(400, "flagged by our content policy")]
    assert collect()[0] == 0
    assert "1 not asked, since the server refused them before; --again failed" in collect()[1]
    assert len(server.asked) == 4
    assert "1 verdict (" in collect("--again", "failed")[1]


def test_ten_refused_trajectories_in_a_row_end_the_run(server: FakeServer, collect: Collect, tmp_path: Path) -> None:
    server.otherwise, server.on_probe = fake.status(400, "zork"), [fake.good()]
    status, said = collect("--limit", "28")
    assert status == 1
    assert "10 calls in a row failed, the last with" in said
    assert "zork" in said
    assert [failure["kind"] for failure in Run.open(tmp_path).failures()] == ["refused"] * 10


def test_without_a_terminal_a_line_tells_the_progress(
    collect: Collect, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("lib.judging.collect.SECONDS_BETWEEN_LINES", 0.0)
    collect()
    assert caplog.messages[:2] == [f"{n} of 4 verdicts; 0 failed, 0 not ok" for n in (1, 2)]


REMOTE = "https://models.example/v1"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTPS_PROXY", "http://["),
        ("https_proxy", "http://127.0.0.1:abc"),
        ("SSL_CERT_FILE", "/there/is/none"),
        ("SSL_CERT_DIR", "/there/is/none"),
    ],
)
@pytest.mark.parametrize("backend", ["openai", "ollama"])
def test_a_variable_that_stands_in_the_way_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, backend: Any
) -> None:
    monkeypatch.setitem(sys.modules, "socks", None)
    monkeypatch.setenv(variable, value)
    with pytest.raises(UserError, match=rf"^{variable} names "):
        connect(Target(model="m", backend=backend, base_url=REMOTE)).describe()


def test_a_proxy_that_does_not_answer_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hunter22@127.0.0.1:9")
    client: Any = connect(Target(model="m", backend="openai", base_url=REMOTE))
    client.pace.attempts = 1
    with pytest.raises(TransportError, match="through the proxy that HTTPS_PROXY names") as failed:
        client.describe()
    assert "hunter22" not in str(failed.value)


@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTP_PROXY", "SSL_CERT_FILE"])
def test_this_machine_is_asked_without_a_proxy(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "socks5://127.0.0.1:9")
    client = connect(Target(model="m", base_url=server.address))
    assert client.complete("x", SCHEMA, Decoding()).text == fake.VERDICT


def test_ollamas_client_is_imported_whatever_the_environment_holds(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "ollama"]:
        monkeypatch.delitem(sys.modules, name)
    ollama._package.cache_clear()
    odd = {
        "OLLAMA_HOST": "::1",
        "OLLAMA_API_KEY": "\u201ckey\u201d",
        "all_proxy": "socks5://h",
        "SSL_CERT_FILE": "/none",
    }
    for name, value in odd.items():
        monkeypatch.setenv(name, value)
    ollama._package()
    assert odd.items() <= dict(os.environ).items()
    monkeypatch.delenv("OLLAMA_API_KEY")
    client = connect(Target(model="m", base_url=server.address))
    assert client.complete("x", SCHEMA, Decoding()).text == fake.VERDICT


def test_no_command_waits_for_a_client_or_for_charts_and_statistics_before_it_needs_them() -> None:
    heavy = ("ollama", "httpx", "altair", "scipy", "statsmodels", "sphinx")
    loads = f"import sys, lib.__main__; print([name for name in {heavy} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout == "[]\n"
