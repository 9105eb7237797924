"""The shipped run `paper` holds the released figures exactly, and none of the released sentences."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import lib.released
from lib import RUNS, bench
from lib.analysis.episodes import episode_frame, summary
from lib.desk.checker import check
from lib.desk.faults import STOPPED_ANSWER
from lib.records import Trajectory
from lib.released import PAPER, make, wording
from lib.run.folder import Run
from lib.trajectories import RELEASED

SHIPPED = Run(PAPER)


def test_the_shipped_folder_is_made_from_the_original_to_the_byte(published: Run, tmp_path: Path) -> None:
    made = make(published, tmp_path / "paper").folder
    assert {path.name: path.read_bytes() for path in made.iterdir()} == {
        path.name: path.read_bytes() for path in PAPER.iterdir() if path.suffix in (".json", ".jsonl")
    }


def test_every_score_equals_that_of_the_original(published: Run) -> None:
    one, other = (bench.open(run, reps=50).score() for run in (SHIPPED, published))
    assert one["judge"].nunique() == 5
    pd.testing.assert_frame_equal(one, other)


def test_episodes_count_as_the_originals_and_break_the_same_rules(published: Run) -> None:
    ours, theirs = SHIPPED.episodes(), published.episodes()
    assert len(ours) == 60
    assert episode_frame(ours.values()).equals(episode_frame(theirs.values()))
    assert summary(episode_frame(ours.values()))["episodes"] == 60
    for mine, released in zip(ours.values(), theirs.values(), strict=True):
        assert check(mine.goal, mine.steps) == check(released.goal, released.steps)


def sentences(trajectory: Trajectory) -> set[str]:
    """Thoughts and final answer, which are each maker's own."""
    return {step.thought for step in trajectory.steps} | {trajectory.final_answer}


def test_no_sentence_of_the_original_is_shipped(published: Run) -> None:
    theirs = [*published.trajectories().values(), *published.episodes().values()]
    written = {text for one in theirs for text in sentences(one)} - {""}
    ours = [*SHIPPED.trajectories().values(), *SHIPPED.episodes().values()]
    assert len(written) > 500
    # What defines a fault in the paper's own text is the same on both sides.
    assert written & {text for one in ours for text in sentences(one)} == {STOPPED_ANSWER}
    assert all(not verdict.rationale and verdict.raw_reply is None for verdict in SHIPPED.verdicts())
    replies = [str(step.call.args) for one in SHIPPED.episodes().values() for step in one.steps]
    assert not [text for text in written if any(text in reply for reply in replies)]


def test_source_and_licence_are_named() -> None:
    source = SHIPPED.manifest["source"]
    assert (source["licence"], source["author"], source["arxiv"]) == ("MIT", "Hadi Mohammadi", "2609.00038")
    assert source["repository"].endswith("github.com/mohammadi-hadi/trajectory-judge")
    assert [len(source["commit"]), *(len(file["sha256"]) for file in source["files"])] == [40, *[64] * 4]


def test_every_judge_of_the_shipped_run_describes_itself() -> None:
    assert all("about" in entry for entry in SHIPPED.manifest["judges"].values())
    assert SHIPPED.judges() == RELEASED


def test_wording_is_the_original_once_fetched(published: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lib.released, "ORIGINAL", tmp_path / "nowhere")
    assert wording(SHIPPED) is None
    monkeypatch.setattr(lib.released, "ORIGINAL", published.folder)
    original = wording(SHIPPED)
    assert original is not None
    assert set(original.trajectories()) == set(SHIPPED.trajectories())
    assert sum(bool(verdict.rationale) for verdict in original.verdicts()) > 1900


def test_a_run_that_holds_its_sentences_is_its_own_wording() -> None:
    local = Run(RUNS / "local")
    assert wording(local) is local


def test_all_cases_of_the_types_that_the_step_judge_never_misses_have_a_thought_of_no_clean_case(
    published: Run,
) -> None:
    cases = published.trajectories().values()
    usual = {step.thought for case in cases if not case.label.faulty for step in case.steps}
    faults = bench.open(SHIPPED, reps=10).verdicts.query("judge == 'step:qwen2.5:14b' and faulty")
    never_missed = faults.groupby("fault")["flagged"].all()
    kinds = set(never_missed[never_missed].index)
    assert len(kinds) == 4
    told = [any(step.thought not in usual for step in case.steps) for case in cases if case.label.failure_type in kinds]
    assert (sum(told), len(told)) == (200, 200)
