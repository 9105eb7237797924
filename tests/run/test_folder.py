"""A run on disk: what is written is what loads, and the tables hold what the files say."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from run_builders import CLEAN, FAULTY, line, make_run, trajectory, two_trajectories

import lib.run.folder
from lib import ROOT
from lib.errors import UserError
from lib.records import About, Label, Trajectory
from lib.run.folder import Run
from lib.trajectories import EPISODES, RELEASED

PUBLISHED = ROOT.parent / "shared" / "published"
needs_published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the released run is not on this machine")


def test_a_new_run_records_its_dataset_and_loads_what_was_written(tmp_path: Path) -> None:
    run = make_run(tmp_path / "mine")
    written = (tmp_path / "mine" / "trajectories.jsonl").read_bytes()
    assert run.trajectories() == {item.trajectory_id: item for item in two_trajectories()}
    assert run.manifest == {
        "name": "mine",
        "dataset": {"seed": 7, "n": 2, "sha256": hashlib.sha256(written).hexdigest()},
        "judges": {},
    }
    assert run.verdicts() == []
    assert run.judges() == {}
    assert run.episodes() == {}
    assert run.failures() == []
    assert sorted(path.name for path in run.folder.iterdir()) == ["run.json", "trajectories.jsonl"]


def test_making_the_same_run_again_changes_nothing_and_another_one_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path, line() + b"\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    make_run(tmp_path)
    with pytest.raises(UserError, match=r"another dataset already:\n  seed: recorded 7, now 8") as refused:
        Run.create(tmp_path, {"dataset": {"seed": 8, "n": 2}}, two_trajectories())
    assert "sha256" not in str(refused.value)
    with pytest.raises(UserError, match="sha256: recorded"):
        Run.create(tmp_path, {"dataset": {"seed": 7, "n": 2}}, two_trajectories()[:1])
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert len(run.verdicts()) == 1


def test_lost_trajectories_are_made_again_and_broken_ones_stay_until_moved_away(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    path = tmp_path / "trajectories.jsonl"
    whole = path.read_bytes()
    path.unlink()
    make_run(tmp_path)
    assert path.read_bytes() == whole
    path.write_bytes(b"garbage\n")
    with pytest.raises(UserError, match=r"is not this data set\. Move it away"):
        make_run(tmp_path)
    assert path.read_bytes() == b"garbage\n"
    path.rename(tmp_path / "kept")
    make_run(tmp_path)
    assert len(run.trajectories()) == 2


def test_a_users_file_is_not_overwritten_by_a_new_run(tmp_path: Path) -> None:
    (tmp_path / "trajectories.jsonl").write_bytes(b"mine\n")
    with pytest.raises(UserError, match="Move it away, or choose another folder"):
        make_run(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"trajectories.jsonl": b"mine\n"}


def test_a_failed_making_leaves_no_run_and_can_be_repeated(tmp_path: Path) -> None:
    def cut_short() -> Iterator[Trajectory]:
        yield two_trajectories()[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Run.create(tmp_path, {}, cut_short())
    assert list(tmp_path.iterdir()) == []
    assert len(make_run(tmp_path).trajectories()) == 2


def test_a_run_is_not_made_beside_verdicts_of_another(tmp_path: Path) -> None:
    (tmp_path / "verdicts.jsonl").write_bytes(line() + b"\n")
    with pytest.raises(UserError, match=r"holds verdicts\.jsonl but no run\.json"):
        make_run(tmp_path)


def test_a_run_cannot_be_made_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(UserError, match="no folder can be made there"):
            make_run(folder)


def test_trajectories_are_written_as_they_come(tmp_path: Path) -> None:
    """A later one is asked for only once the earlier ones are on their way to the disk: none are gathered first."""
    on_disk: list[int] = []

    def stream() -> Iterator[Trajectory]:
        for index in range(3000):
            if index % 1000 == 0:
                on_disk.append((tmp_path / "trajectories.jsonl.partial").stat().st_size)
            yield trajectory(f"T-{index}", Label(False, None, None, True))

    Run.create(tmp_path, {}, stream())
    assert on_disk[0] == 0 < on_disk[1] < on_disk[2]


def test_frames_hold_the_columns_that_the_analysis_reads(tmp_path: Path) -> None:
    untyped = line(trajectory_id=CLEAN, faulty=False, failure_step=None, failure_type=None, prompt_tokens=None)
    trajectories, verdicts = make_run(tmp_path, line() + b"\n" + untyped + b"\n").frames()
    assert trajectories.to_dict("records") == [
        {
            "trajectory_id": FAULTY,
            "instance_id": "INS-00001",
            "stratum": "restocking",
            "faulty": True,
            "failure_step": 2,
            "failure_type": "wrong_tool",
            "outcome_correct": True,
            "n_steps": 3,
            "cell": "wrong_tool/silent",
        },
        {
            "trajectory_id": CLEAN,
            "instance_id": "INS-00001",
            "stratum": "restocking",
            "faulty": False,
            "failure_step": None,
            "failure_type": None,
            "outcome_correct": True,
            "n_steps": 3,
            "cell": "clean",
        },
    ]
    assert str(trajectories["failure_step"].dtype) == "Int64"
    assert trajectories["faulty"].dtype == bool
    assert verdicts["trajectory_id"].tolist() == [FAULTY, CLEAN]
    assert verdicts["faulty"].tolist() == [True, False]
    assert verdicts["failure_step"].tolist() == [2, pd.NA]
    assert str(verdicts["failure_step"].dtype) == "Int64"
    assert verdicts["failure_type"].tolist() == ["wrong_tool", None]
    assert verdicts["prompt_tokens"].tolist() == [700, pd.NA]
    assert verdicts["load_s"].isna().all()
    assert verdicts["latency_s"].tolist() == [1.5, 1.5]
    assert verdicts["status"].tolist() == ["ok", "ok"]
    assert verdicts["rationale"].tolist() == ["looked the order up twice"] * 2


def test_a_frame_without_text_differs_only_in_the_columns_of_text(tmp_path: Path) -> None:
    run = make_run(tmp_path, line() + b"\n")
    with_text, without = run.frames().verdicts, run.frames(text=False).verdicts
    assert set(with_text) - set(without) == {"rationale", "raw_reply"}
    pd.testing.assert_frame_equal(with_text[list(without)], without)


def test_frames_of_a_run_without_verdicts_have_their_columns_and_kinds(tmp_path: Path) -> None:
    verdicts = make_run(tmp_path).frames().verdicts
    assert len(verdicts) == 0
    assert verdicts["faulty"].dtype == bool
    assert str(verdicts["failure_step"].dtype) == "Int64"


def test_an_instance_id_of_another_making_has_no_stratum(tmp_path: Path) -> None:
    other = trajectory("x", Label(False, None, None, True))
    run = Run.create(tmp_path, {}, [Trajectory("x", "TICKET-9", "g", other.steps, "a", other.label)])
    assert run.frames().trajectories["stratum"].tolist() == [None]


def test_judges_come_in_the_order_of_the_manifest_then_of_first_appearance(tmp_path: Path) -> None:
    lines = [line(judge_id="late"), line(judge_id="b"), line(judge_id="programmatic"), line(judge_id="a")]
    run = make_run(tmp_path, b"\n".join(lines) + b"\n")
    about = run.manifest | {"judges": {"a": {"about": {"kind": "step", "sees": "step", "model": "m"}}, "b": {}}}
    (tmp_path / "run.json").write_text(json.dumps(about))
    assert list(run.judges().items()) == [
        ("a", About(kind="step", sees="step", model="m")),
        ("b", About(kind="own")),
        ("late", About(kind="own")),
        ("rules", RELEASED["rules"]),
    ]


def test_the_checksum_is_of_the_bytes_on_disk(tmp_path: Path) -> None:
    run = make_run(tmp_path, b"\xef\xbb\xbf" + line() + b"\r\n")
    assert run.verdict_checksum() == hashlib.sha256(b"\xef\xbb\xbf" + line() + b"\r\n").hexdigest()


def test_a_run_opens_by_name_or_by_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "runs" / "mine")
    monkeypatch.setattr(lib.run.folder, "RUNS", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    assert Run.open("mine").folder == tmp_path / "runs" / "mine"
    assert Run.open("runs/mine").name == "mine"
    with pytest.raises(UserError, match="is not a run"):
        Run.open("..")
    assert Run.open(tmp_path / "runs" / "mine").name == "mine"


def test_an_unknown_run_names_the_known_ones_and_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "mine")
    monkeypatch.setattr(lib.run.folder, "RUNS", tmp_path)
    with pytest.raises(UserError, match=r"no run other \(runs here: mine\)\. Make one with `\.venv/bin/python -m lib "):
        Run.open("other")
    monkeypatch.setattr(lib.run.folder, "RUNS", tmp_path / "none")
    with pytest.raises(UserError, match="there are no runs yet"):
        Run.open("other")


def test_a_folder_that_is_not_a_run_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a run: run\.json is missing\. Make one with"):
        Run.open(tmp_path)
    make_run(tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(UserError, match=r"is not a run: run\.json is missing"):
        Run.open(tmp_path)
    with pytest.raises(UserError, match="There is no run"):
        Run.open(tmp_path / "trajectories.jsonl")


@needs_published
def test_the_released_run_loads_as_it_is() -> None:
    run = Run.open(PUBLISHED)
    frames = run.frames()
    assert "runs" in run.manifest
    assert len(run.manifest["runs"]) == 4
    assert len(frames.trajectories) == 400
    assert len(frames.verdicts) == 2000
    assert run.judges() == RELEASED
    assert frames.trajectories["cell"].nunique() == 8
    assert len(run.episodes()) == 60
    assert "INS-00000-agent" in run.episodes()
    assert run.verdict_checksum().startswith("de05ad76")


@needs_published
def test_the_released_verdicts_survive_being_written_here(tmp_path: Path) -> None:
    released = Run.open(PUBLISHED)
    copy = Run.create(tmp_path, {}, released.trajectories().values())
    with copy.collecting() as store:
        for item in released.verdicts():
            store.add_verdict(item)
        for episode in released.episodes().values():
            store.add(EPISODES, episode)
    assert copy.verdicts() == released.verdicts()
    assert copy.episodes() == released.episodes()
    assert copy.trajectories() == released.trajectories()
