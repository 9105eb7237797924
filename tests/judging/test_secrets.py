"""Nothing secret leaves: keys are planted wherever a user may put one, and all that is written or said is searched."""

from __future__ import annotations

import base64
import logging
import pickle
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.errors import UserError
from lib.judging.clients import Target, connect
from lib.judging.clients.secrets import Secrets, header, key_of
from lib.run.folder import Run
from tests.judging import fake_server as fake
from tests.judging.fake_server import serving

KEY, PASSWORD, HEADER, QUERY = "sk-planted/+1 key", "pass:planted@2", "planted-header-3", "planted=query4"
PLANTED = [KEY, PASSWORD, HEADER, QUERY]
FORMS = [form for secret in PLANTED for form in (secret, quote(secret, safe=""))]
FORMS.append(base64.b64encode(f"me:{PASSWORD}".encode()).decode())


def found(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


def collected(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, backend: str, *more: str) -> int:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n")
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    monkeypatch.setenv("TEAM_KEY", HEADER)
    command = ["lib", "collect", "--run", str(folder), "--judge", "outcome", "--model", "m", "--backend", backend]
    monkeypatch.setattr(sys, "argv", [*command, "--base-url", url, "--header", "X-Team: $TEAM_KEY", *more])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("place", ["key", "address"])
@pytest.mark.parametrize("code", [200, 400, 401, 429, 500])
@pytest.mark.parametrize("backend", ["openai", "ollama"])
def test_a_planted_key_is_nowhere_however_the_server_repeats_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    code: int,
    backend: str,
    place: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("lib.judging.clients.pace.A_MINUTE", 0.05)
    run = Run.create(tmp_path, {"dataset": {"seed": 7}}, JudgedSet(28, 7))
    with serving() as server:
        server.on_probe, server.otherwise = [fake.good()], fake.echo_request(code)
        user = f"me:{quote(PASSWORD, safe='')}@" if place == "address" else ""
        query = f"?api-version=1&token={quote(QUERY, safe='')}" if backend == "openai" and place == "address" else ""
        url = f"http://{user}{server.address}{'/v1' if backend == 'openai' else ''}{query}"
        collected(tmp_path, url, monkeypatch, backend, "--limit", "2")
        sent = " ".join(server.asked[0].headers.values())
    said = "".join(capsys.readouterr()) + caplog.text
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found(said) == []
    assert {name: found(text) for name, text in written.items() if found(text)} == {}
    assert HEADER in sent  # it was sent, so that it could be repeated
    assert (KEY if place == "key" else base64.b64encode(f"me:{PASSWORD}".encode()).decode()) in sent
    assert ("[hidden]" in said + "".join(written.values())) == (code != 401)
    assert run.manifest["judges"]["outcome:m"]["headers"] == ["X-Team"]


def test_a_planted_key_stays_out_of_what_a_cluster_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (requirements-cluster.txt)")
    monkeypatch.setattr("lib.judging.clients.pace.Pace.__init__.__defaults__", (1, 0.01, None))
    Run.create(tmp_path / "run", {}, JudgedSet(28, 7))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("TEAM_KEY", HEADER)
    with (
        serving() as server,
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
    ):
        server.on_probe = [fake.good()]
        server.script = [fake.echo_request(500), fake.echo_request(200), fake.echo_request(404)]
        url, more = f"http://{server.address}/v1", ["--limit", "4", "--cluster", cluster.scheduler_address]
        assert collected(tmp_path / "run", url, monkeypatch, "openai", *more) == 1
        logs = str(cluster.get_logs())
    stored = "".join(path.read_text() for path in (tmp_path / "run").iterdir())
    assert found("".join(capfd.readouterr()) + logs + stored) == []


def test_no_key_is_pickled_or_shown() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        target = Target(
            model="m", backend="openai", base_url="http://me:hunter22@h/v1", headers=("X: planted-header-3",)
        )
        client = connect(target)
        assert KEY.encode() not in pickle.dumps(client)
    assert found(repr(target) + str(client.describe) + client.endpoint) == []
    assert "hunter22" not in repr(target) + client.endpoint


def test_a_key_is_stripped_and_one_that_cannot_be_sent_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_KEY", "\tsk-1 \r\n")
    assert key_of("A_KEY") == "sk-1"
    for odd in ("sk-“1”", "sk-1\nsk-2", "sk-\x01", "sk-é"):
        monkeypatch.setenv("A_KEY", odd)
        with pytest.raises(UserError, match=r"^A_KEY: character \d+ is none that can be sent") as refused:
            key_of("A_KEY")
        assert odd not in str(refused.value)


def test_a_header_is_given_or_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", " t-1\n")
    assert header("X-Team: $TEAM_KEY") == ("X-Team", "t-1")
    assert header("X-Title:judges") == ("X-Title", "judges")
    for odd in ("X-Team", ": v", "X Team: v", "X-Team: $NOT_SET_AT_ALL"):
        with pytest.raises(UserError, match="--header"):
            header(odd)


def test_short_values_and_ordinary_words_stay() -> None:
    assert Secrets(["true", "", "x"]).hide('{"faulty": true}') == '{"faulty": true}'
    assert Secrets(["sk-abcdef"]).hide_in({"SK-ABCDEF": ["a sk-abcdef", 3]}) == {"[hidden]": ["a [hidden]", 3]}
