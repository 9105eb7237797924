"""The floor: baselines in expectation, and who passes."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.analysis.capability import base_rates, floor_check
from lib.analysis.scores import score


def test_baselines_by_hand(labels):
    table = base_rates(labels).set_index("judge_id")  # 6 of 8 are faulty
    assert table.loc["always-faulty", "f1"] == pytest.approx(6 / 7)
    assert table.loc["always-clean", "f1"] == 0
    assert table.loc["coin", "f1"] == pytest.approx(0.6)
    assert (table["youden_j"] == 0).all()


def test_baselines_in_expectation_are_what_they_score(labels, verdicts):
    flat = verdicts.assign(judge_id="always-faulty", faulty=True)
    scores = score(labels, flat, reps=10)
    for metric, value in base_rates(labels).set_index("judge_id").loc["always-faulty"].items():
        if metric != "share_flagged":
            assert scores.estimate("always-faulty", metric).value == pytest.approx(value)


@pytest.mark.parametrize(("flag", "words"), [(True, "the same as always-faulty"), (False, "the same as always-clean")])
def test_constant_judge_fails_and_is_told_which_baseline_it_is(labels, verdicts, flag, words):
    (row,) = floor_check(score(labels, verdicts.assign(faulty=flag), reps=20), least=1).to_dict("records")
    assert row["passed"] is False
    assert words in row["reason"]


def test_baselines_themselves_are_not_graded(labels, verdicts):
    (row,) = floor_check(score(labels, verdicts.assign(judge_id="coin"), reps=20), least=1).to_dict("records")
    assert row["passed"] is None


def test_judge_whose_interval_reaches_zero_fails(labels, verdicts):
    (row,) = floor_check(score(labels, verdicts, reps=500), least=1).to_dict("records")
    assert row["low"] < 0 < row["youden_j"]
    assert row["passed"] is False


def test_floor_of_the_published_judges(published_scores):
    table = floor_check(published_scores).set_index("judge_id")
    assert table["passed"].to_dict() == {
        "rules": True,
        "outcome:qwen2.5:14b": True,
        "step:qwen2.5:14b": True,
        "step:llama3.1:8b": False,
        "selfcons3:qwen2.5:14b": True,
    }
    assert "always-faulty (99% flagged)" in table.loc["step:llama3.1:8b", "reason"]
    assert "below the 0.857 of always-faulty" in table.loc["outcome:qwen2.5:14b", "reason"]


def test_judge_without_clean_trajectories_is_not_graded(labels, verdicts):
    faulty = labels[labels["faulty"]]
    own = verdicts[verdicts["trajectory_id"].isin(faulty["trajectory_id"])]
    table = floor_check(score(faulty, own, reps=20))
    assert pd.isna(table.loc[0, "youden_j"])
    assert table.loc[0, "passed"] is None


def test_few_trajectories_are_not_graded(labels, verdicts):
    (row,) = floor_check(score(labels, verdicts, reps=20)).to_dict("records")
    assert row["passed"] is None
    assert row["reason"] == "needs at least 10 faulty and 10 clean trajectories"


def test_f1_is_read_against_the_trajectories_that_the_judge_judged(labels, verdicts):
    own = verdicts[verdicts["trajectory_id"].isin(["c0", "c1", "w0", "w1"])]
    (row,) = floor_check(score(labels, own, reps=20), least=1).to_dict("records")
    assert row["f1_always_faulty"] == 2 / 3  # two of the four are faulty, not six of eight
