"""The paper's figures from its raw verdicts, and what counts as reproduced."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from lib.analysis.episodes import episode_frame, summary
from lib.analysis.reproduction import published_comparison
from lib.analysis.scores import score
from lib.errors import UserError


def figure(judge, metric, value, low="", high=""):
    return {"judge": judge, "metric": metric, "value": value, "low": low, "high": high, "where": "Table 0"}


def test_every_published_figure_is_reproduced(published_run, published_scores, figures):
    episodes = summary(episode_frame(published_run.episodes().values()))
    table = published_comparison(published_scores, figures, episodes)
    assert len(table) == figures[["value", "low", "high"]].notna().to_numpy().sum() == 87
    assert table[~table["reproduced"]].to_dict("records") == []


def test_strict_step_exact_counts_missing_steps_as_wrong(published_scores):
    found = {
        judge: (round(estimate.value, 3), estimate.n)
        for judge in published_scores.judges
        for estimate in [published_scores.estimate(judge, "step_exact_strict")]
    }
    assert found["step:qwen2.5:14b"] == (0.844, 257)
    assert found["step:llama3.1:8b"] == (0.747, 297)
    assert found["selfcons3:qwen2.5:14b"] == (0.885, 253)
    assert published_scores.estimate("step:qwen2.5:14b", "step_exact").n == 223


def test_scores_of_the_published_run_are_the_same_bytes_again(published, published_scores):
    shuffled = published.verdicts.sample(frac=1, random_state=1), published.trajectories.sample(frac=1, random_state=2)
    again = score(shuffled[1], shuffled[0], order=published_scores.judges)
    assert json.dumps(again.to_json()) == json.dumps(published_scores.to_json())


def test_subset_of_judges_changes_no_interval(published, published_scores):
    judge = "step:qwen2.5:14b"
    alone = score(*published, judges=[judge]).metrics
    whole = published_scores.metrics
    pd.testing.assert_frame_equal(alone, whole[whole["judge_id"] == judge].reset_index(drop=True))


@pytest.mark.parametrize(
    ("printed", "reproduced"), [("0.667", True), ("0.67", True), ("0.7", True), ("0.666", False), ("0.66", False)]
)
def test_value_is_reproduced_when_it_rounds_to_what_was_printed(labels, verdicts, printed, reproduced):
    scores = score(labels, verdicts, reps=20)
    (row,) = published_comparison(scores, pd.DataFrame([figure("j", "recall", printed)])).to_dict("records")
    assert row["reproduced"] is reproduced
    assert row["digits"] == len(printed) - 2


def test_bound_may_differ_by_one_step_of_its_grid(labels, verdicts):
    scores = score(labels, verdicts, reps=20)
    high = scores.estimate("j", "false_alarm_rate").high
    figures = pd.DataFrame(
        [
            figure("j", "false_alarm_rate", "0.5", high=f"{high - 1 / 2:.6f}"),
            figure("j", "false_alarm_rate", "0.5", high=f"{high - 1 / 2 - 0.001:.6f}"),
        ]
    )
    table = published_comparison(scores, figures)
    assert table[table["part"] == "high"]["reproduced"].tolist() == [True, False]


def test_pair_is_compared_in_the_printed_direction(labels, verdicts):
    passed = verdicts.assign(judge_id="lazy", faulty=False, failure_type=None, failure_step=pd.NA)
    scores = score(labels, pd.concat([verdicts, passed]), reps=20)
    table = published_comparison(scores, pd.DataFrame([figure("lazy minus j", "recall", "-0.667")]))
    assert table["reproduced"].tolist() == [True]


def test_judges_that_a_run_lacks_are_left_out(labels, verdicts):
    scores = score(labels, verdicts, reps=20)
    others = pd.DataFrame([figure("other", "recall", "0.5"), figure("episodes:m", "episodes", "60")])
    assert published_comparison(scores, others).empty


def test_figures_read_as_numbers_have_lost_their_digits(labels, verdicts):
    numbers = pd.DataFrame([figure("j", "recall", 0.5)])
    with pytest.raises(UserError, match="dtype=str"):
        published_comparison(score(labels, verdicts, reps=20), numbers)
