"""Chapter 7: calibration on average, telling single cases apart, and cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lib.analysis.calibration import separation
from lib.analysis.cost import cost_frame, quality_against_cost
from lib.analysis.joined import joined
from lib.analysis.scores import score
from lib.book.chapters.calibration import (
    answer,
    cost_answer,
    cost_table,
    support_frame,
    support_rows,
    support_table,
    waiting,
)

JUDGED = [(True, 0.9), (True, 0.8), (True, 0.8), (False, 0.8), (False, 0.6)]


@pytest.fixture
def stated() -> pd.DataFrame:
    return pd.DataFrame(JUDGED, columns=["right", "confidence"]).assign(judge_id="step:a")


def test_area_by_hand_counts_ties_half(stated):
    """Six pairs: 0.9 and both 0.8 above 0.6, 0.9 above 0.8, two ties."""
    row = separation(stated).iloc[0]
    assert row["auc"] == pytest.approx(5 / 6)
    assert (row["right_confidence"], row["wrong_confidence"]) == (pytest.approx(2.5 / 3), pytest.approx(0.7))
    assert 0 <= row["low"] < row["auc"] < row["high"] <= 1


def test_interval_of_the_area_is_that_of_delong_by_hand(stated):
    above, below = np.array([1, 0.75, 0.75]), np.array([2 / 3, 1])
    half = 1.959964 * np.sqrt(above.var(ddof=1) / 3 + below.var(ddof=1) / 2)
    assert separation(stated).iloc[0]["low"] == pytest.approx(5 / 6 - half)


def test_confidence_of_a_judge_that_is_always_right_has_nothing_to_tell(stated):
    assert separation(stated[stated["right"]])["auc"].isna().all()


def test_support_has_every_bar_and_a_confidence_at_an_edge_begins_its_bar(stated):
    frame = support_frame(stated)
    assert frame["confidence"].tolist() == support_rows()
    assert frame.set_index("confidence")["n"][["0.60", "0.80", "0.90"]].tolist() == [1, 3, 1]
    assert frame["n"].sum() == len(stated)
    assert support_table(stated).cells()[0][1:3] == ["3", "0.80 (60%)"]


def run(labels, make_verdicts, **seconds: float):
    rows = [(name, flag, None, None, 0.9) for name, flag in zip(labels["trajectory_id"], labels["faulty"], strict=True)]
    verdicts = [make_verdicts(f"step:{judge}", rows, latency_s=s) for judge, s in seconds.items()]
    return pd.concat(verdicts)


def test_a_slower_judge_that_is_no_better_is_beaten(labels, make_verdicts):
    scores = score(labels, run(labels, make_verdicts, quick=1.0, slow=9.0), reps=20)
    frame = cost_frame(scores, scores.judges)
    assert frame["unbeaten"].tolist() == [True, False]
    assert frame["hours"].tolist() == [8 / 3600, 72 / 3600]
    text = cost_answer(frame).markdown
    assert "1 s on average with `step:quick` and 9 s with `step:slow`" in text
    assert "`step:slow` is no better than a judge that is as fast or faster; that leaves `step:quick`" in text
    assert cost_table(scores, frame).cells()[0][3:5] == ["–", "–"]


def test_equals_do_not_beat_each_other(labels, make_verdicts):
    scores = score(labels, run(labels, make_verdicts, one=1.0, other=1.0), reps=20)
    assert cost_frame(scores, scores.judges)["unbeaten"].all()


def test_chart_puts_judges_without_a_cost_at_its_edge(labels, make_verdicts):
    scores = score(labels, run(labels, make_verdicts, free=0.0, dear=40.0), reps=20)
    chart = quality_against_cost(cost_frame(scores, scores.judges), scores.judges, title="t", description="d").to_dict()
    (values,) = chart["datasets"].values() if "datasets" in chart else [chart["data"]["values"]]
    assert [row["drawn"] for row in values] == [0.1, 40]


def test_answer_names_the_nearest_and_says_what_that_does_not_mean(labels, verdicts):
    sure = verdicts.assign(judge_id="step:sure", confidence=1.0)
    apt = verdicts.assign(judge_id="step:apt", confidence=[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    both = pd.concat([sure, apt])
    text = answer(score(labels, both, reps=50), joined(labels, both)).markdown
    assert "for `step:apt`, the lowest" in text
    assert "for `step:sure`, the highest" in text
    assert "which cannot be told from the 0.5 of a coin" in text
    assert "`step:sure` and `step:apt` each state one and the same number" in text


def test_answer_ranks_nothing_where_one_judge_is_all_there_is(labels, verdicts):
    one = verdicts.assign(judge_id="step:one")
    text = answer(score(labels, one, reps=50), joined(labels, one)).markdown
    assert "for `step:one`, the only judge with a model" in text
    assert "lowest" not in text


def test_answer_ranks_no_judge_whose_replies_could_not_be_read(labels, verdicts):
    blind = verdicts.assign(judge_id="step:blind", confidence=0.5, status=["ok", *["truncated"] * 7])
    both = pd.concat([verdicts.assign(judge_id="step:one"), blind])
    text = answer(score(labels, both, reps=50), joined(labels, both)).markdown
    assert "for `step:one`, the only judge with a model that could be read." in text
    assert "Left out are judges most of whose replies could not be read, and count as 0.5: `step:blind`" in text
    alone = answer(score(labels, blind, reps=50), joined(labels, blind)).markdown
    assert alone.startswith("Most verdicts of each judge with a model count as 0.5")


def test_waiting_is_told_where_requests_shared_a_server():
    def of(*workers: int) -> dict:
        return {"step:m": {"collections": [{"workers": n} for n in workers]}, "rules": {}}

    assert "4 to 32 requests were in flight at once" in waiting(of(4, 32), ["step:m", "rules"]).markdown
    assert "hold waiting: 8 requests" in waiting(of(8), ["step:m", "rules"]).markdown
    assert waiting(of(1), ["step:m", "rules"]) is None
    assert waiting({"step:m": None}, ["step:m"]) is None


def test_answer_does_not_call_one_of_several_equal_judges_the_only_one(labels, verdicts):
    both = pd.concat([verdicts.assign(judge_id=f"step:{name}") for name in ("one", "two")])
    text = answer(score(labels, both, reps=50), joined(labels, both)).markdown
    assert "for `step:one`, as for every judge with a model." in text


def test_answer_without_a_model_or_a_verdict_says_so(labels, verdicts):
    rules = verdicts.assign(judge_id="rules")
    assert "No model has judged this run" in answer(score(labels, rules, reps=5), joined(labels, rules)).markdown
    none = verdicts.head(0)
    assert "no verdicts yet" in answer(score(labels, none, reps=5), joined(labels, none)).markdown
    assert "no judge here" in cost_answer(cost_frame(score(labels, none, reps=5), [])).markdown
