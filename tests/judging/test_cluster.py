"""The same work on a Dask cluster of two worker processes gives the same verdicts."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.records import Verdict
from lib.run.folder import Run
from tests.judging.fake_server import FakeServer, good, serving, slow, status

dask = pytest.importorskip("dask", reason="Dask is not installed (requirements-cluster.txt)")
distributed = pytest.importorskip("distributed", reason="Dask is not installed (requirements-cluster.txt)")

N = 23
JUDGES = "outcome,step,selfcons,rules,coin"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a scheduler with two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as running:
        yield running.scheduler_address


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving() as running:
        yield running


def lib(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["lib", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def collected(run: Run) -> dict[tuple[str, str], Verdict]:
    """Verdicts by key, without their times."""
    verdicts = run.verdicts()
    found = {
        (verdict.trajectory_id, verdict.judge_id): replace(
            verdict, latency_s=0.0, members=[replace(member, latency_s=0.0) for member in verdict.members]
        )
        for verdict in verdicts
    }
    assert len(found) == len(verdicts)
    return found


def test_a_cluster_of_two_processes_gives_the_same_verdicts(
    tmp_path: Path, cluster: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [Run.create(tmp_path / name, {"dataset": {"seed": 7}}, JudgedSet(N, 7)) for name in ("here", "there")]
    asked = ["--judge", JUDGES, "--model", "m", "--backend", "openai", "--base-url", f"http://{server.address}/v1"]
    for run, more in zip(runs, ([], ["--cluster", cluster]), strict=True):
        command = ["collect", "--run", str(run.folder), *asked, "--workers", "4", *more]
        assert lib(monkeypatch, *command, "--limit", "10") == 0
        assert lib(monkeypatch, *command) == 0
    here, there = (collected(run) for run in runs)
    assert len(here) == N * 5
    assert here == there
    assert len(server.asked) == 2 * N * 5  # an ensemble asks three times
    with distributed.Client(cluster, set_as_default=False) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert client.who_has() == {}, "the collector left results on the cluster"


def test_failures_on_a_cluster_are_kept_like_any_other(
    tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving() as server:
        run = Run.create(tmp_path / "run", {}, JudgedSet(8, 7))
        too_long = "the request exceeds the available context size"
        server.script = [status(400, too_long), status(404, "model 'm' not found")]
        url = f"http://{server.address}/v1"
        command = ["collect", "--run", str(run.folder), "--judge", "outcome", "--model", "m", "--backend", "openai"]
        assert lib(monkeypatch, *command, "--base-url", url, "--cluster", cluster) == 1
        said = capsys.readouterr().err
        assert "there is no model 'm'" in said
        assert "Traceback" not in said
        assert [failure["kind"] for failure in run.failures()] == ["context"]
        command += ["--base-url", url, "--cluster", cluster, "--workers", "4"]
        assert lib(monkeypatch, *command, "--again", "failed") == 0
        assert len(run.verdicts()) == 8


def test_a_cluster_that_dies_is_named_and_what_it_answered_is_kept(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run.create(tmp_path / "run", {}, JudgedSet(8, 7))
    server.script = [good()] * 3 + [slow(600)] * 2

    def die() -> None:
        while len(server.asked) < 5:
            time.sleep(0.05)
        dying.close()

    command = ["collect", "--run", str(run.folder), "--judge", "outcome", "--model", "m", "--backend", "openai"]
    command += ["--base-url", f"http://{server.address}/v1", "--workers", "2"]
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as dying,
    ):
        threading.Thread(target=die, daemon=True).start()
        assert lib(monkeypatch, *command, "--cluster", dying.scheduler_address) == 1
    said = capsys.readouterr().err
    assert "Everything collected is kept" in said
    assert "Traceback" not in said
    assert len(run.verdicts()) == 3
    assert lib(monkeypatch, *command) == 0
    assert len(run.verdicts()) == 8


def test_a_scheduler_that_does_not_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run.create(tmp_path / "run", {}, JudgedSet(8, 7))
    with dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}):
        command = ["collect", "--run", str(run.folder), "--judge", "rules", "--cluster", "tcp://127.0.0.1:9"]
        assert lib(monkeypatch, *command) == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
