"""The headline says no more than the intervals of its two differences allow."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.analysis.scores import score
from lib.book.headline import headline
from lib.desk.injector import JudgedSet
from lib.run.folder import Run
from lib.trajectories import ITEMS

LABELS = ITEMS.frame(JudgedSet(120, 7))


def verdicts(judge: str, flagged: pd.Series) -> pd.DataFrame:
    fields = {"failure_step": pd.NA, "failure_type": None, "confidence": 0.8, "latency_s": 1.0, "load_s": float("nan")}
    frame = pd.DataFrame({"trajectory_id": LABELS["trajectory_id"], "judge_id": judge, "faulty": flagged})
    frame = frame.assign(**fields, prompt_tokens=pd.NA, completion_tokens=pd.NA, status="ok", rationale="")
    return frame.astype({"failure_step": "Int64", "prompt_tokens": "Int64", "completion_tokens": "Int64"})


def answer(outcome: pd.Series, step: pd.Series) -> str:
    frame = pd.concat([verdicts("outcome:m", outcome), verdicts("step:m", step)], ignore_index=True)
    scores = score(LABELS, frame, reps=200)
    return headline(scores, scores.judges).answer.markdown


ALL, NONE = LABELS["faulty"] | True, LABELS["faulty"] & False
FAULTS, CLEAN = LABELS["faulty"], ~LABELS["faulty"].astype(bool)


@pytest.mark.parametrize(
    ("outcome", "step", "said"),
    [
        (CLEAN, FAULTS, "catches more and disturbs less"),
        (NONE, FAULTS, "catches more, and no change of its false alarms can be seen"),
        (NONE, ALL, "catches more because it flags more"),
        (ALL, NONE, "mostly flags less"),
        (FAULTS, FAULTS, "Neither difference is clear of zero"),
    ],
)
def test_the_conclusion_follows_from_both_differences(outcome, step, said):
    assert said in answer(outcome, step)


def test_replies_that_could_not_be_read_are_warned_of():
    torn = verdicts("outcome:m", NONE).assign(status="truncated")
    scores = score(LABELS, pd.concat([torn, verdicts("step:m", FAULTS)]), reps=20)
    assert "Most replies of `outcome:m` could not be read" in headline(scores, scores.judges).answer.markdown


def test_a_run_without_a_model_in_both_views_leaves_the_question_open():
    opened = Run.open("local")
    trajectories, given = opened.frames(text=False)
    scores = score(trajectories, given[given["judge_id"].isin(["rules", "coin"])], reps=10)
    assert "the question is open here" in headline(scores, scores.judges).answer.markdown


def test_a_model_that_has_judged_no_clean_trajectory_in_one_view_is_not_compared():
    faulty = LABELS.loc[LABELS["faulty"], "trajectory_id"]
    step = verdicts("step:m", ALL)
    frame = pd.concat([verdicts("outcome:m", ALL), step[step["trajectory_id"].isin(faulty)]], ignore_index=True)
    scores = score(LABELS, frame, reps=10)
    assert "the question is open here" in headline(scores, scores.judges).answer.markdown
