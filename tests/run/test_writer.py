"""Writing into a run: one collector, whole lines, recorded settings."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from run_builders import CLEAN, FAULTY, line, make_run, two_trajectories, verdict

from lib import ROOT
from lib.errors import UserError
from lib.records import Judgement, Label, Trajectory
from lib.run.folder import Run
from lib.trajectories import EPISODES

RELEASED_FIELDS = [
    *("trajectory_id", "judge_id", "faulty", "failure_step", "failure_type", "confidence", "rationale", "latency_s"),
    *("prompt_tokens", "completion_tokens", "error"),
]


def test_a_verdict_is_one_ascii_line_with_the_released_fields_and_ours_where_they_say_something(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    member = Judgement(faulty=True, failure_step=1, confidence=1.0, raw_step="last")
    full = verdict(CLEAN, rationale="caf\u00e9 \u2028", raw_reply="{}", load_s=0.0, coercions=["a"], members=[member])
    with run.collecting() as store:
        store.add_verdict(verdict())
        store.add_verdict(full)
    raw = (tmp_path / "verdicts.jsonl").read_bytes()
    assert raw.isascii()
    assert raw.count(b"\n") == 2
    assert raw.endswith(b"\n")
    small, large = (json.loads(item) for item in raw.splitlines())
    assert list(small) == [*RELEASED_FIELDS, "status"]
    assert set(large) == {*RELEASED_FIELDS, "status", "raw_reply", "load_s", "coercions", "members"}
    assert large["members"][0]["raw_step"] == "last"
    assert run.verdicts()[1].coercions == ["a"]
    assert run.verdicts()[1].members[0].failure_step == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_are_never_written(tmp_path: Path, number: float) -> None:
    run = make_run(tmp_path)
    with run.collecting() as store:
        for broken in (verdict(confidence=number), verdict(latency_s=number), verdict(raw_step=[number])):
            with pytest.raises(ValueError, match=r"JSON|not valid|missing"):
                store.add_verdict(broken)
        with pytest.raises(ValueError, match="JSON"):
            store.add_failure({"waited": number})
    assert not (tmp_path / "verdicts.jsonl").exists()
    assert not (tmp_path / "failures.jsonl").exists()


def test_a_verdict_that_a_stored_run_must_not_hold_is_not_written(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    wrong = [
        (verdict(failure_step=1), "not faulty"),
        (verdict(failure_type="wrong_tool"), "not faulty"),
        (verdict(faulty=True, failure_step=3), "outside the 3 steps"),
        (verdict(confidence=0.4), r"0\.4 is not valid"),
        (verdict("INS-00009-clean"), "not in trajectories"),
    ]
    with run.collecting() as store:
        for item, expected in wrong:
            with pytest.raises(ValueError, match=expected):
                store.add_verdict(item)
        store.add_verdict(verdict())
        with pytest.raises(ValueError, match="step:m of INS-00001-wrong_tool is there already"):
            store.add_verdict(verdict(confidence=0.7))
    assert run.verdicts() == [verdict()]


def test_done_is_what_the_file_holds_and_grows_with_it(tmp_path: Path) -> None:
    run = make_run(tmp_path, line(judge_id="programmatic") + b"\n")
    with run.collecting() as store:
        assert store.done == {(FAULTY, "rules")}
        store.add_verdict(verdict())
        assert (FAULTY, "step:m") in store.done
    with run.collecting() as store:
        assert store.done == {(FAULTY, "rules"), (FAULTY, "step:m")}


def test_threads_may_write_at_once(tmp_path: Path) -> None:
    label = Label(False, None, None, True)
    steps = two_trajectories()[0].steps
    items = [Trajectory(f"T-{index}", "x", "g", steps, "a", label) for index in range(40)]
    run = Run.create(tmp_path, {}, items)
    verdicts = [verdict(item.trajectory_id, f"j{judge}", rationale="x" * 9999) for item in items for judge in range(20)]
    with run.collecting() as store, ThreadPoolExecutor(16) as threads:
        list(threads.map(store.add_verdict, verdicts))
    key = lambda item: (item.trajectory_id, item.judge_id)  # noqa: E731
    assert sorted(run.verdicts(), key=key) == sorted(verdicts, key=key)


def test_a_torn_line_is_moved_aside_and_its_trajectory_judged_again(tmp_path: Path) -> None:
    torn = line(trajectory_id=CLEAN)[:50]
    run = make_run(tmp_path, line() + b"\n" + torn)
    (tmp_path / "failures.jsonl").write_bytes(b'{"error": "refu')
    with run.collecting() as store:
        assert store.done == {(FAULTY, "step:m")}
        assert [notice.partition(":")[0] for notice in store.notices] == [
            f"{tmp_path / 'verdicts.jsonl'}, line 2",
            f"{tmp_path / 'failures.jsonl'}, line 1",
        ]
        store.add_verdict(verdict(CLEAN))
    assert [item.trajectory_id for item in run.verdicts()] == [FAULTY, CLEAN]
    assert (tmp_path / "verdicts.jsonl.torn").read_bytes() == torn + b"\n"
    assert (tmp_path / "failures.jsonl.torn").read_bytes() == b'{"error": "refu\n'


def test_torn_lines_of_several_kills_are_all_kept(tmp_path: Path) -> None:
    run = make_run(tmp_path, line() + b"\n" + b'{"first')
    with run.collecting():
        pass
    with (tmp_path / "verdicts.jsonl").open("ab") as file:
        file.write(b'{"second')
    with run.collecting():
        pass
    assert (tmp_path / "verdicts.jsonl.torn").read_bytes() == b'{"first\n{"second\n'
    assert (tmp_path / "verdicts.jsonl").read_bytes() == line() + b"\n"


def test_a_whole_last_line_without_its_end_gets_one_before_the_next(tmp_path: Path) -> None:
    run = make_run(tmp_path, line())
    with run.collecting() as store:
        assert store.notices == []
        store.add_verdict(verdict(CLEAN))
    assert [item.trajectory_id for item in run.verdicts()] == [FAULTY, CLEAN]


def test_a_broken_file_is_left_alone_and_not_collected_into(tmp_path: Path) -> None:
    raw = line() + b"\n{\n" + line(trajectory_id=CLEAN) + b"\n"
    run = make_run(tmp_path, raw)
    with pytest.raises(UserError, match="line 2"), run.collecting():
        pytest.fail("a broken run was opened for writing")
    assert (tmp_path / "verdicts.jsonl").read_bytes() == raw


def test_a_full_disk_is_an_error_that_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path, line() + b"\n")
    real = os.write

    def short(file: int, data: bytes) -> int:
        return real(file, data[: len(data) // 2])

    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with run.collecting() as store:
        for failing in (short, full):
            monkeypatch.setattr(os, "write", failing)
            with pytest.raises(UserError, match=r"verdicts\.jsonl: cannot be written \(No space left on device\)"):
                store.add_verdict(verdict(CLEAN))
            monkeypatch.undo()
        assert (tmp_path / "verdicts.jsonl").read_bytes() == line() + b"\n"
        store.add_verdict(verdict(CLEAN))
    assert len(run.verdicts()) == 2


def test_a_disk_that_refuses_the_last_of_it_is_an_error_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path, line() + b"\n")

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def collect() -> None:
        with run.collecting() as store:
            store.add_verdict(verdict(CLEAN))
            monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(UserError, match=r"verdicts\.jsonl: cannot be written"):
        collect()
    monkeypatch.undo()
    assert len(run.verdicts()) == 2


HOLD = """
import sys, time
from lib.run.folder import Run
with Run.open(sys.argv[1]).collecting():
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_collector_says_who_holds_the_run_and_a_dead_holder_does_not_block(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        who = rf"process {holder.pid} on {socket.gethostname()}, since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
        with pytest.raises(UserError, match=rf"another collector is writing to this run \({who}\)"), run.collecting():
            pytest.fail("two collectors at once")
        assert run.verdicts() == [], "a held run can be read"
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()
    with run.collecting() as store:
        store.add_verdict(verdict())


def test_a_second_collector_of_the_same_process_is_refused_too(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    refused: list[str] = []

    def second() -> None:
        with pytest.raises(UserError) as error, run.collecting():
            pytest.fail("two collectors at once")
        refused.append(str(error.value))

    with run.collecting():
        second()
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(refused) == 2
    assert all(f"process {os.getpid()}" in message for message in refused)


def test_the_lock_ends_with_an_error_inside(tmp_path: Path) -> None:
    run = make_run(tmp_path)

    def interrupted() -> None:
        with run.collecting() as store:
            store.add_verdict(verdict())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with run.collecting() as store:
        assert store.done == {(FAULTY, "step:m")}
    assert not (tmp_path / "holder.lock").exists()


def test_judges_are_recorded_in_the_order_of_their_first_start_with_each_start(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with run.collecting() as store:
        store.register_judge("step:m", {"model": "m", "seeds": (7, 8)}, {"started": "monday"})
        store.register_judge("outcome:m", {"model": "m"})
    with run.collecting() as store:
        store.register_judge("step:m", {"seeds": [7, 8], "model": "m"}, {"started": "tuesday"})
    collections = [{"started": "monday"}, {"started": "tuesday"}]
    assert list(run.manifest["judges"].items()) == [
        ("step:m", {"seeds": [7, 8], "model": "m", "collections": collections}),
        ("outcome:m", {"model": "m"}),
    ]
    assert run.manifest["dataset"]["seed"] == 7


def test_the_same_judge_with_other_settings_is_refused_with_every_difference(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    recorded = {"model": "m", "decoding": {"temperature": 0, "seed": 7}, "digest": "abc"}
    with run.collecting() as store:
        store.register_judge("step:m", recorded)
        before = (tmp_path / "run.json").read_bytes()
        with pytest.raises(UserError) as refused:
            store.register_judge("step:m", {"model": "m", "decoding": {"temperature": 0.7, "seed": 7}, "top": None})
        store.register_judge("step:m", recorded | {"decoding": {"temperature": 0.0, "seed": 7}})
    assert str(refused.value).splitlines()[:4] == [
        "Judge step:m is recorded in run.json with other settings:",
        "  decoding.temperature: recorded 0, now 0.7",
        '  digest: recorded "abc", now absent',
        "  top: recorded absent, now null",
    ]
    assert (tmp_path / "run.json").read_bytes() == before


def test_verdicts_of_unknown_settings_are_not_added_to(tmp_path: Path) -> None:
    run = make_run(tmp_path, line() + b"\n")
    with (
        run.collecting() as store,
        pytest.raises(UserError, match=r"verdicts of step:m are there already, but run\.js"),
    ):
        store.register_judge("step:m", {"model": "m"})


def test_a_manifest_of_another_shape_keeps_what_it_has(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (tmp_path / "run.json").write_text('{"runs": [{"seed": 7}]}')
    with run.collecting() as store:
        store.register_judge("coin", {})
        store.register_maker("episodes", {"model": "m"}, {"started": "monday"})
    assert run.manifest == {
        "runs": [{"seed": 7}],
        "judges": {"coin": {}},
        "episodes": {"model": "m", "collections": [{"started": "monday"}]},
    }


def test_episodes_are_kept_apart_and_once(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    episode, contradicting = two_trajectories()[1], two_trajectories()[0]
    with run.collecting() as store:
        store.register_maker("episodes", {"model": "m"}, {})
        store.add(EPISODES, episode)
        with pytest.raises(ValueError, match="is there already"):
            store.add(EPISODES, episode)
        with pytest.raises(ValueError, match="outside the 0 steps"):
            store.add(EPISODES, Trajectory("E", "E", "g", [], "", contradicting.label))
        with pytest.raises(UserError, match="The entry episodes is recorded"):
            store.register_maker("episodes", {"model": "other"}, {})
    with run.collecting() as store:
        assert store.keys(EPISODES) == {CLEAN}
    assert run.episodes() == {CLEAN: episode}
    assert run.verdicts() == []


def test_failures_are_kept_in_order_and_block_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with run.collecting() as store:
        store.add_failure({"trajectory_id": FAULTY, "judge_id": "step:m", "error": "refused"})
        store.add_failure({"trajectory_id": FAULTY, "judge_id": "step:m", "error": "timed out"})
        assert (FAULTY, "step:m") not in store.done
        store.add_verdict(verdict())
    assert [failure["error"] for failure in run.failures()] == ["refused", "timed out"]
    assert (tmp_path / "failures.jsonl").read_bytes().startswith(b'{"trajectory_id":"INS-00001-wrong_tool","judge_id":')


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path)

    def denied(*_: object, **__: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("filelock.FileLock.acquire", denied)
    with pytest.raises(UserError, match="cannot be written to"), run.collecting():
        pytest.fail("opened for writing")


@pytest.mark.parametrize("name", ["collector.lock", "holder.lock", "verdicts.jsonl.torn", "run.json.partial"])
def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path: Path, name: str) -> None:
    run = make_run(tmp_path, line() + b"\n" + line(trajectory_id=CLEAN)[:50])
    (tmp_path / name).mkdir()
    with pytest.raises(UserError, match=name.removesuffix(".partial")), run.collecting() as store:
        store.register_judge("coin", {})
    assert (tmp_path / name).is_dir()
    assert (tmp_path / "verdicts.jsonl").read_bytes() == line() + b"\n" + line(trajectory_id=CLEAN)[:50] or (
        name == "run.json.partial"
    )


def test_a_full_disk_is_an_error_and_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "run")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with run.collecting() as store:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match=r"run\.json: cannot be written \(No space left on device\)"):
            store.register_judge("coin", {})
    with pytest.raises(UserError, match=r"holder\.lock: cannot be written"), run.collecting():
        pass
    with pytest.raises(UserError, match=r"trajectories\.jsonl\.partial: cannot be written"):
        make_run(tmp_path / "new")
    assert [path for path in tmp_path.rglob("*") if path.suffix == ".partial" or path.name == "holder.lock"] == []
