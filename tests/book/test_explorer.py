"""The explorer's data: all of a run, in small files whose text can't become markup or script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lib.book import explorer, layout
from lib.book.explorer import write_explorer
from lib.records import About, Judgement, Label, Observation, Step, ToolCall, Trajectory, Verdict
from lib.run.folder import Run
from lib.show import style
from lib.trajectories import VERDICTS

EVIL = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
ODD = "\u2028\u2029 \ud800 \u202eright to left\u202c \u05d0\u05d1 \x00 \U0001f600 ]]> <!--"


def read(path: Path) -> Any:
    """What a data file hands over."""
    text = path.read_text(encoding="ascii")
    key = f"{path.parent.name}/{path.stem}" if path.stem != "runs" else "runs"
    start, end = f"explorerData({json.dumps(key)},", ");\n"
    assert text.startswith(start)
    assert text.endswith(end)
    return json.loads(text[len(start) : -len(end)])


def details_of(folder: Path) -> list[dict[str, Any]]:
    """Every trajectory in full, in the order of the index; checks where the parts start."""
    parts = [read(path) for path in sorted(folder.glob("part-*.js"))]
    starts = [sum(len(part) for part in parts[:number]) for number in range(len(parts))]
    assert read(folder / "index.js")["starts"] == starts
    return [one for part in parts for one in part]


def trajectory(trajectory_id: str, label: Label, text: str = "think", instance: str = "INS-00001") -> Trajectory:
    step = Step(0, text, ToolCall("get_policy", {"sku": text}), Observation(True, {text: text}))
    failed = Step(1, text, ToolCall(text, {}), Observation(False, {}, text))
    return Trajectory(trajectory_id, instance, f"Refund. {text}", [step, failed], text, label)


def make_run(folder: Path, trajectories: list[Trajectory], verdicts: list[Verdict]) -> layout.Shown:
    baseline = {"about": {"kind": "baseline", "sees": None, "baseline": True}}
    coin = {"coin": baseline} if any(verdict.judge_id == "coin" for verdict in verdicts) else {}
    run = Run.create(folder, {"judges": coin} if coin else {}, trajectories)
    (run.folder / "verdicts.jsonl").write_bytes(b"".join(map(VERDICTS.spelling.encode, verdicts)))
    return layout.Shown(folder.name, str(folder), folder)


def hostile_run(folder: Path) -> layout.Shown:
    """Everything that a model or a data set may write is markup, a control character, or very long."""
    clean = Label(False, None, None, True)
    ids = ["b # & = % + ? ' \" \\", "__proto__", f"a {EVIL}{ODD}"]
    texts = ["<b>bold</b>" * 20_000, "plain", EVIL + ODD]
    trajectories = [trajectory(name, clean, text, instance=name) for name, text in zip(ids, texts, strict=True)]
    member = Judgement(
        faulty=True, failure_step=0, confidence=0.9, rationale=EVIL, raw_reply=EVIL, status="unparseable"
    )
    said = {"faulty": True, "failure_step": 1, "failure_type": "wrong_tool", "confidence": 0.9, "members": [member]}
    odd = {
        "coercions": [EVIL],
        "raw_step": {EVIL: [ODD]},
        "raw_reply": EVIL + ODD,
        "error": EVIL,
        "finish_reason": EVIL,
    }
    verdicts = [
        Verdict(trajectory_id=name, judge_id=judge, rationale=text, **said, **odd)
        for judge in (f"step:{EVIL}", "step:__proto__")
        for name, text in zip(ids, texts, strict=True)
    ]
    return make_run(folder, trajectories, verdicts)


def test_every_trajectory_step_and_verdict_of_the_shipped_run_is_in_the_data(tmp_path):
    write_explorer(tmp_path, [layout.shown("local")])
    run = Run.open("local")
    known, folder = run.trajectories(), tmp_path / explorer.FOLDER / "local"
    index, details = read(folder / "index.js"), details_of(folder)
    assert index["ids"] == sorted(known)
    for name, one in zip(index["ids"], details, strict=True):
        assert [step["thought"] for step in one["steps"]] == [step.thought for step in known[name].steps]
        assert (one["goal"], one["answer"]) == (known[name].goal, known[name].final_answer)
    places = {name: place for place, name in enumerate(index["ids"])}
    judges = [judge["id"] for judge in index["judges"]]
    for verdict in run.verdicts():
        place, judge = places[verdict.trajectory_id], judges.index(verdict.judge_id)
        column = index["verdicts"][judge]
        assert (column["said"][place], column["confidence"][place]) == ("01"[verdict.faulty], verdict.confidence)
        shown = next(one for one in details[place]["verdicts"] if one["judge"] == judge)
        assert shown.get("rationale", "") == verdict.rationale
        assert shown.get("step") == verdict.failure_step
    assert sum(len(one["verdicts"]) for one in details) == len(run.verdicts())


def test_columns_by_hand(tmp_path):
    trajectories = [
        trajectory("b", Label(True, 1, "premature_stop", False), instance="INS-00007"),
        trajectory("a", Label(False, None, None, True), instance="elsewhere"),
    ]
    verdicts = [
        Verdict(trajectory_id="b", judge_id="coin", faulty=True, failure_step=0, failure_type=None, confidence=0.5),
        Verdict(trajectory_id="b", judge_id="step:m", faulty=False, confidence=0.5, status="truncated"),
        Verdict(trajectory_id="a", judge_id="step:m", faulty=True, failure_type="wrong_tool", confidence=0.75),
    ]
    write_explorer(tmp_path, [make_run(tmp_path / "mine", trajectories, verdicts)])
    index = read(tmp_path / explorer.FOLDER / "mine" / "index.js")
    assert index["ids"] == ["a", "b"]
    assert (index["instances"], index["instance"]) == (["INS-00007", "elsewhere"], [1, 0])
    assert [index["strata"][place] if place >= 0 else None for place in index["instance_strata"]] == [
        "restocking",
        None,
    ]
    assert (index["faulty"], index["correct"], index["step"], index["type"]) == ("01", "10", [-1, 1], [-1, 4])
    assert index["verdicts"] == [
        {"said": "-1", "status": "-o", "type": [-1, -1], "step": [-1, 0], "confidence": [-1, 0.5]},
        {"said": "10", "status": "ot", "type": [0, -1], "step": [-1, -1], "confidence": [0.75, 0.5]},
    ]
    assert [judge["baseline"] for judge in index["judges"]] == [True, False]


def test_judges_look_as_in_the_charts():
    about = {
        "outcome:a": About(kind="outcome", sees="outcome"),
        "step:a": About(kind="step", sees="step"),
        "rules": About(kind="rules", sees="step", fixed=True),
    }
    looks = explorer.judge_looks(about)
    style.judges(about)
    assert [one["colour"] for one in looks] == style.judge_scales().colour.range
    assert looks[2]["colour"] == style.NEUTRAL
    assert [one["shape"] for one in looks] == ["circle", "square", "diamond"]


def test_what_a_reply_was_is_shown_only_where_it_was_not_taken_as_it_stood(tmp_path):
    plain = {"faulty": False, "confidence": 0.8, "raw_reply": "{}", "finish_reason": "stop", "judge_id": "step:m"}
    said = [
        Verdict(trajectory_id="a", **plain),
        Verdict(trajectory_id="b", **plain, coercions=["step dropped"], raw_step=7),
        Verdict(
            trajectory_id="c", **plain | {"confidence": 0.5}, status="unparseable", members=[Judgement(**_member())]
        ),
    ]
    trajectories = [trajectory(verdict.trajectory_id, Label(False, None, None, True)) for verdict in said]
    write_explorer(tmp_path, [make_run(tmp_path / "mine", trajectories, said)])
    shown = [one["verdicts"][0] for one in details_of(tmp_path / explorer.FOLDER / "mine")]
    assert [set(one) & {"raw_reply", "coercions", "raw_step", "status"} for one in shown] == [
        set(),
        {"raw_reply", "coercions", "raw_step"},
        {"raw_reply", "status"},
    ]
    assert shown[1]["raw_step"] == "7"
    assert [(vote["flagged"], vote["step"], vote["rationale"]) for vote in shown[2]["members"]] == [(True, 1, "why")]


def _member() -> dict[str, Any]:
    return {"faulty": True, "failure_step": 1, "confidence": 0.9, "rationale": "why"}


def test_hostile_text_comes_back_as_it_was_from_ascii_that_cannot_end_a_script(tmp_path):
    shown = hostile_run(tmp_path / "hostile")
    write_explorer(tmp_path, [shown])
    folder = tmp_path / explorer.FOLDER / "hostile"
    for path in folder.iterdir():
        assert b"<" not in path.read_bytes()
        assert path.read_bytes().count(b"\n") == 1
    run = Run.open(shown.run)
    known = run.trajectories()
    assert set(read(folder / "index.js")["ids"]) == set(known)
    rationales = {verdict["rationale"] for one in details_of(folder) for verdict in one["verdicts"]}
    assert rationales == {verdict.rationale for verdict in run.verdicts()}


def test_a_part_is_small_unless_one_trajectory_alone_is_not(monkeypatch):
    monkeypatch.setattr(explorer, "PART_BYTES", 20)
    five, twelve, huge = {"a": "b"[:0]}, {"a": "bbbbb"}, {"a": "b" * 99}  # 8, 13 and 107 bytes
    assert explorer.parts_of([five, five, twelve, huge, five]) == [[five, five], [twelve], [huge], [five]]


def test_the_shipped_runs_files_are_small(tmp_path):
    write_explorer(tmp_path, [layout.shown("local")])
    folder = tmp_path / explorer.FOLDER / "local"
    assert (folder / "index.js").stat().st_size < 150_000
    assert max(path.stat().st_size for path in folder.glob("part-*.js")) < 1.1 * explorer.PART_BYTES


def test_the_same_runs_give_the_same_bytes_and_other_runs_leave_nothing_behind(tmp_path):
    def contents() -> dict[str, bytes]:
        return {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*.js")}

    write_explorer(tmp_path, [layout.shown("local")])
    first = contents()
    (tmp_path / explorer.FOLDER / "local" / "part-999.js").write_text("stale")
    write_explorer(tmp_path, [layout.shown("local")])
    assert contents() == first
    write_explorer(tmp_path, [])
    assert list(contents()) == [f"{explorer.FOLDER}/runs.js"]


def test_a_changed_verdict_changes_the_version_that_the_files_are_asked_for_with(tmp_path):
    label = Label(False, None, None, True)
    versions = set()
    for number, confidence in enumerate((0.6, 0.7)):
        said = Verdict(trajectory_id="a", judge_id="step:m", faulty=False, confidence=confidence)
        shown = make_run(tmp_path / f"{number}" / "mine", [trajectory("a", label)], [said])
        write_explorer(tmp_path, [shown])
        versions.add(read(tmp_path / explorer.FOLDER / "runs.js")[0]["version"])
    assert len(versions) == 2


def test_episodes_are_offered_beside_their_run_with_the_rules_that_they_break(tmp_path):
    files = explorer.episode_files("local/episodes", Run.open("local"))
    index = json.loads(files["local/episodes/index"][len(b'explorerData("local/episodes/index",') : -3])
    episodes = Run.open("local").episodes()
    assert index["ids"] == sorted(episodes)
    assert index["faulty"].count("1") == sum(one.label.faulty for one in episodes.values())
    first = json.loads(files["local/episodes/part-000"][len(b'explorerData("local/episodes/part-000",') : -3])[0]
    assert first["broken"][0][1] == "the customer got no reply"
    bare = Run.create(tmp_path / "bare", {}, [trajectory("a", Label(False, None, None, True))])
    assert explorer.episode_files("bare/episodes", bare) == {}


def test_a_run_without_verdicts_shows_its_trajectories(tmp_path):
    Run.create(tmp_path / "bare", {}, [trajectory("a", Label(False, None, None, True))])
    write_explorer(tmp_path, [layout.Shown("bare", "", tmp_path / "bare")])
    folder = tmp_path / explorer.FOLDER / "bare"
    assert read(folder / "index.js")["judges"] == []
    assert details_of(folder)[0]["verdicts"] == []


@pytest.mark.parametrize("text", [EVIL, ODD, "__proto__"])
def test_a_script_holds_any_text_as_a_string(text):
    raw = explorer.script("k", [text])
    assert raw.startswith(b'explorerData("k",[')
    assert json.loads(raw[len(b'explorerData("k",') : -3]) == [text]
