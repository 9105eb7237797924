"""Results at a glance: the headline says no more than the scores, and all runs stand in one frame."""

from __future__ import annotations

import pandas as pd
import pytest

from lib import REFERENCE
from lib.analysis.ceiling import ceiling
from lib.analysis.reproduction import is_papers_run
from lib.analysis.scores import score
from lib.book.chapters.all_runs import across, ceiling_reading
from lib.book.chapters.results import headline, reproduction, strata_table
from lib.book.scoreboard import metric_table
from lib.book.unread import readings_table, unread
from lib.run.folder import Frames
from tests.chapter_runs import everything, loud, model_free_frames, scored, verdicts_of

FIGURES = pd.read_csv(REFERENCE / "trajectory_judge_figures.csv", dtype=str)


@pytest.fixture(scope="module")
def frames() -> Frames:
    return model_free_frames()


def test_headline_names_the_judge_that_tells_and_passes_over_the_one_that_flags_everything(frames):
    scores = scored(frames, {"step:eager": everything(frames), "step:keen": loud(frames)})
    text = headline(scores, frames.trajectories).markdown
    assert "100 are clean, 175 have a silent fault" in text
    assert "1 of the 2 judges with a model tells faulty from clean" in text
    assert "`step:keen` flags 0.000" in text
    assert "1 of the 2 catches loud faults more often than silent ones, most clearly `step:keen`" in text


def test_headline_of_judges_that_do_not_look_claims_no_detection(frames):
    text = headline(scored(frames, {"step:a": everything(frames)}), frames.trajectories).markdown
    assert "The one judge with a model, `step:a`, does not tell faulty from clean" in text
    assert "No judge with a model catches loud faults more often" in text


def test_headline_says_so_where_clean_runs_are_flagged_more_readily_than_faulty_ones(frames):
    judges = {"step:a": everything(frames), "step:b": ~loud(frames)}
    text = headline(scored(frames, judges), frames.trajectories).markdown
    assert "Overall, none of the 2 judges with a model" in text
    assert "it lies below" not in text  # that of step:b does, but the highest is that of step:a
    alone = headline(scored(frames, {"step:b": ~loud(frames)}), frames.trajectories).markdown
    assert "it lies below: the judge flags clean trajectories more readily than faulty ones" in alone


def test_headline_says_how_much_of_the_run_was_judged(frames):
    text = headline(scored(frames, {"step:a": loud(frames)}, n=200), frames.trajectories).markdown
    assert "`step:a` judged only 200 of them" in text


def test_headline_without_a_model_or_without_verdicts_says_so(frames):
    without = headline(score(*frames, reps=20), frames.trajectories).markdown
    assert "No model has judged this run so far" in without
    assert "`rules` flags 0.429 of the silent faults" in without
    none = headline(score(frames.trajectories, frames.verdicts.head(0), reps=20), frames.trajectories).markdown
    assert "This run has no verdicts yet" in none


def test_strata_table_counts_every_trajectory_once(frames):
    table = strata_table(frames.trajectories)
    assert table.data["all"].sum() == 400
    assert table.data["clean"].sum() == 100
    assert table.data.loc["restocking", "ignored_observation"] == 50


def test_a_judge_that_names_no_step_has_no_share_of_right_steps(frames):
    scores = score(*frames, reps=20)
    lines = metric_table(scores, ["step_exact_strict", "f1"], "t").to_text().splitlines()
    assert lines[0] == "t; n = 400"
    cells = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert cells["always-faulty"] == ["–", "0.857"]
    assert cells["rules"] == ["1.000", "0.800"]


def test_unread_verdicts_are_counted_with_both_readings(frames):
    verdicts = frames.verdicts[frames.verdicts["judge_id"] == "always-clean"].copy()
    verdicts["status"] = ["truncated", *["ok"] * 399]
    scores = score(frames.trajectories, verdicts, reps=20)
    assert unread(scores).data.loc["always-clean", "truncated"] == 1
    assert "to" in readings_table(scores).to_text()
    sound = score(*frames, reps=20)
    assert "Every one of the 1600 verdicts" in unread(sound).markdown
    assert "only one reading" in readings_table(sound).markdown
    clean = frames.trajectories[~frames.trajectories["faulty"].astype(bool)].head(5)
    torn = verdicts_of(frames, {"step:a": everything(frames)}).assign(status="truncated")
    torn = torn[torn["trajectory_id"].isin(clean["trajectory_id"])]
    assert "nan" not in readings_table(score(clean, torn, reps=5)).to_text()


def test_only_a_run_with_every_published_judge_can_reproduce_the_paper(frames):
    scores = score(*frames, reps=20)
    assert not is_papers_run(scores, FIGURES)
    assert "of the judges here, the paper reports `rules`" in reproduction(scores, FIGURES, None).markdown


def test_a_figure_that_does_not_come_out_is_named(frames):
    judges = ["rules", "outcome:qwen2.5:14b", "step:qwen2.5:14b", "step:llama3.1:8b", "selfcons3:qwen2.5:14b"]
    scores = scored(frames, dict.fromkeys(judges, everything(frames)))
    text = reproduction(scores, FIGURES, None).markdown
    assert "published figures are not reproduced" in text
    assert "`rules silent_recall`" in text
    assert "`step:llama3.1:8b false_alarm_rate`" not in text  # which flags everything in the paper too


def test_runs_stand_side_by_side_and_a_baseline_only_once(frames):
    one = scored(frames, {"rules": loud(frames), "step:a": loud(frames)})
    other = scored(frames, {"rules": loud(frames), "step:a": everything(frames), "step:b": loud(frames)})
    frame = across([("paper", one), ("local", other)])
    assert frame["judge_id"].tolist() == ["rules", "step:a", "step:a (local)", "step:b (local)"]
    assert frame["false_alarm_rate"].tolist() == [0, 0, 1, 0]
    assert across([]).empty


def test_ceiling_names_the_outcome_judges_above_it():
    views = pd.DataFrame(
        [("same", False, "clean"), ("same", True, "wrong_tool/silent"), ("claim", True, "unsupported_claim/silent")],
        columns=["text", "faulty", "cell"],
    )
    rows = [("outcome:a", 0.9, 0.4), ("outcome:b", 0.5, 0), ("step:a", 1, 0)]
    frame = pd.DataFrame(rows, columns=["judge_id", "silent_recall", "false_alarm_rate"])
    text = ceiling_reading(frame, ceiling(views)).markdown
    assert "only 1 of 2 silent faults" in text
    assert "`outcome:a` with 0.400" in text
    assert "outcome:b" not in text
    for none in (frame[2:], frame[:0]):
        assert "No judge of the outcome view can be put beside that here" in ceiling_reading(none, ceiling(views)).markdown
    assert "No ceiling is drawn" in ceiling_reading(frame, None).markdown
