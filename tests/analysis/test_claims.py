"""Unsupported claims: detection against false alarms, sentences, and the miss that is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lib.analysis.claims import OTHER, by_sentence, detection, most_telling_miss, sentences_of
from lib.analysis.newcombe import difference_interval
from lib.records import Label, Trajectory, Verdict


def rows_of(judge: str, claims: str, clean: str) -> pd.DataFrame:
    """One row per character: 1 flagged, 0 passed."""
    flags = [(True, flag) for flag in claims] + [(False, flag) for flag in clean]
    frame = pd.DataFrame([{"faulty": faulty, "flagged": flag == "1"} for faulty, flag in flags])
    kinds = ["unsupported_claim" if faulty else None for faulty, _ in flags]
    return frame.assign(judge_id=judge, true_type=kinds, trajectory_id=[f"t{i}" for i in range(len(flags))])


@pytest.mark.parametrize(
    ("claims", "clean", "reading"),
    [
        ("1" * 20, "0" * 20, "detects"),
        ("1" * 20, "1" * 20, "no detection"),  # flags everything
        ("0" * 20, "0" * 20, "no detection"),
        ("0" * 20, "1" * 20, "flags fewer than clean trajectories"),
        ("11" + "0" * 18, "0" * 20, "no detection"),  # two hits against no false alarm may be chance
        ("1" * 20, "", "cannot be told"),
    ],
)
def test_recall_is_read_against_the_false_alarm_rate(claims, clean, reading):
    (row,) = detection(rows_of("step:m", claims, clean)).to_dict("records")
    assert row["reading"] == reading


def test_counts_rates_and_intervals_by_hand():
    (row,) = detection(rows_of("step:m", "1100", "10000")).to_dict("records")
    assert (row["caught"], row["faults"], row["alarms"], row["clean"]) == (2, 4, 1, 5)
    assert row["excess"] == pytest.approx(1 / 2 - 1 / 5)
    assert row["excess_low"] < 0 < row["excess"] < row["excess_high"]


def test_fixed_rules_get_no_interval_and_are_read_by_their_sign():
    (row,) = detection(rows_of("rules", "10", "00")).to_dict("records")
    assert row["reading"] == "detects"
    assert pd.isna([row["low"], row["excess_low"], row["alarm_high"]]).all()


def test_newcombes_own_example():
    # Newcombe 1998, Table II: 56/70 - 48/80 has the interval 0.0524 to 0.3339 with method 10
    assert difference_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert np.isnan(difference_interval(0, 0, 1, 2)).all()


def trajectory(name: str, answer: str, kind: str | None = "unsupported_claim") -> Trajectory:
    label = Label(faulty=kind is not None, failure_step=None, failure_type=kind, outcome_correct=True)
    return Trajectory(name, "INS-00000", "Refund.", [], answer, label)


RUNS = {
    t.trajectory_id: t
    for t in (
        trajectory("a", "Done. A courier comes."),
        trajectory("b", "Done. A voucher is yours."),
        trajectory("d", "Done. The moon is full."),
        trajectory("clean", "Done. A courier comes.", None),
    )
}
NAMES = {"A courier comes.": "a courier", "A voucher is yours.": "a voucher"}


def test_claim_of_each_faulty_answer_is_found():
    assert sentences_of(RUNS.values(), NAMES) == {"a": "a courier", "b": "a voucher", "d": OTHER}


def test_recall_per_sentence():
    rows = pd.DataFrame({"judge_id": "step:m", "trajectory_id": ["a", "b", "d", "clean"], "flagged": [True, False] * 2})
    table = by_sentence(rows, {"a": "a courier", "b": "a voucher", "d": "a courier"}).set_index("sentence")
    assert table.loc["a courier", ["caught", "n", "value"]].tolist() == [2, 2, 1]
    assert table.loc["a voucher", ["caught", "n", "value"]].tolist() == [0, 1, 0]
    assert table["low"].tolist() == pytest.approx([0.025**0.5, 0])


def verdict(name: str, judge: str = "step:m", confidence: float = 0.9, **fields) -> Verdict:
    given = {"faulty": False, "rationale": "Fine."} | fields
    return Verdict(trajectory_id=name, judge_id=judge, confidence=confidence, **given)


def test_most_telling_miss_is_the_most_confident_one_by_a_judge_that_read_the_steps():
    no_miss = [
        verdict("clean", confidence=1.0),
        verdict("a", confidence=1.0, faulty=True),
        verdict("a", "outcome:m", 1.0),
        verdict("a", "selfcons3:m", 1.0),
        verdict("a", confidence=1.0, rationale=" "),
        verdict("a", confidence=1.0, status="truncated"),
    ]
    judges = ["outcome:m", "step:n", "step:m", "selfcons3:m"]
    assert most_telling_miss(no_miss, RUNS, judges) is None
    best = verdict("b", confidence=0.95)
    assert most_telling_miss([*no_miss, verdict("a"), best], RUNS, judges) is best


def test_ties_go_to_the_first_judge_of_the_run_then_to_the_first_trajectory():
    said = [verdict("a"), verdict("b", "step:n"), verdict("a", "step:n")]
    assert most_telling_miss(said, RUNS, ["step:n", "step:m"]) is said[2]
    assert most_telling_miss(said, RUNS, ["step:m", "step:n"]) is said[0]
