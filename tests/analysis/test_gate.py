"""A judge as a gate: cases that pass, alarms, and what an alarm is worth, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.analysis.gate import gate, view_pairs
from lib.analysis.scores import score
from lib.errors import UserError


@pytest.fixture
def scores(labels, verdicts):
    passed = verdicts.assign(judge_id="lazy", faulty=False, failure_type=None, failure_step=pd.NA)
    return score(labels, pd.concat([verdicts, passed]), reps=200)


def quantity(table: pd.DataFrame, judge: str, name: str) -> dict:
    (row,) = table[(table["judge_id"] == judge) & (table["quantity"] == name)].to_dict("records")
    return row


def test_gate_by_hand(scores):
    """Judge j flags two of four silent faults and one of two clean trajectories."""
    table = gate(scores, 0.2)
    assert quantity(table, "j", "passed")["value"] == 500
    assert quantity(table, "j", "alarms")["value"] == 500
    assert quantity(table, "j", "precision")["value"] == pytest.approx(0.5 * 0.2 / (0.5 * 0.2 + 0.5 * 0.8))


def test_many_missed_is_the_low_end_of_recall(scores):
    silent, missed = scores.estimate("j", "silent_recall"), quantity(gate(scores, 0.2), "j", "passed")
    assert (missed["low"], missed["high"]) == (1000 * (1 - silent.high), 1000 * (1 - silent.low))
    assert missed["low"] <= missed["value"] <= missed["high"]


def test_precision_is_bounded_by_the_ends_of_both_rates(scores):
    silent, alarm = (scores.estimate("j", metric) for metric in ("silent_recall", "false_alarm_rate"))
    found = quantity(gate(scores, 0.2), "j", "precision")
    assert found["low"] == pytest.approx(silent.low * 0.2 / (silent.low * 0.2 + alarm.high * 0.8))
    assert found["low"] <= found["value"] <= found["high"]


def test_a_judge_without_an_alarm_has_no_precision(scores):
    table = gate(scores, 0.2)
    assert quantity(table, "lazy", "passed")["value"] == 1000
    assert pd.isna(quantity(table, "lazy", "precision")["value"])


@pytest.mark.parametrize("rate", [0, 1, 5])
def test_base_rate_is_a_share(scores, rate):
    with pytest.raises(UserError, match="base_rate"):
        gate(scores, rate)


def test_pairs_are_the_models_judged_in_both_views():
    judges = ["rules", "outcome:a", "step:b", "step:a", "outcome:c:1b", "step:c:1b", "selfcons3:b"]
    assert [(pair.model, pair.outcome, pair.step) for pair in view_pairs(judges)] == [
        ("a", "outcome:a", "step:a"),
        ("c:1b", "outcome:c:1b", "step:c:1b"),
    ]
