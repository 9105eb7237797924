"""What `check` says of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_builders import CLEAN, FAULTY, line, make_run, two_trajectories, verdict

from lib.errors import UserError
from lib.run.check import check
from lib.trajectories import EPISODES


def test_a_run_is_counted_by_judge_status_cell_and_stratum(tmp_path: Path) -> None:
    run = make_run(tmp_path, line(judge_id="theirs") + b"\n")
    with run.collecting() as store:
        store.register_judge("step:m", {"model": "m"})
        store.register_judge("idle", {})
        store.add_verdict(verdict())
        store.add_verdict(verdict(CLEAN, status="unparseable"))
        store.add_failure({"trajectory_id": FAULTY, "judge_id": "idle", "error": "refused"})
        store.add(EPISODES, two_trajectories()[1])
    found = check(run)
    assert found.n_items == 2
    assert found.records == {"episodes": 1, "failures": 1}
    assert found.counts == {"cell": {"clean": 1, "wrong_tool/silent": 1}, "stratum": {"restocking": 2}}
    assert found.judges == {
        "step:m": {"ok": 1, "unparseable": 1},
        "idle": {"missing": 2},
        "theirs": {"ok": 1, "missing": 1},
    }
    assert found.checksums["verdicts.jsonl"] == run.verdict_checksum()
    assert found.notes == ["theirs has no settings in run.json"]


def test_what_is_printed_names_the_missing_and_the_unreadable(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with run.collecting() as store:
        store.register_judge("step:m", {})
        store.add_verdict(verdict(status="truncated"))
    shown = str(check(run)).splitlines()
    assert shown[0] == f"run {tmp_path}: 2 trajectories"
    assert "  step:m: 1 verdicts, 1 truncated, 1 missing" in shown
    assert "  wrong_tool/silent: 1" in shown
    assert "episodes: 0" in shown
    assert f"  verdicts.jsonl: {run.verdict_checksum()}" in shown


def test_trajectories_that_changed_after_the_run_was_made_are_noted(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert check(run).notes == []
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Done.", b"Gone."))
    assert check(run).notes == ["trajectories.jsonl is not, byte for byte, the file that run.json records"]


@pytest.mark.parametrize("name", ["trajectories.jsonl", "verdicts.jsonl", "episodes.jsonl", "failures.jsonl"])
def test_every_file_is_validated(tmp_path: Path, name: str) -> None:
    run = make_run(tmp_path)
    (tmp_path / name).write_bytes(b"{}}\n{}\n")
    with pytest.raises(UserError, match=rf"{name}, line 1: not JSON"):
        check(run)
