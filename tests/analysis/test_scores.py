"""Every metric on eight trajectories worked out by hand, and what intervals and differences must obey."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from lib.analysis.quantities import METRICS, PROPORTIONS
from lib.analysis.scores import Scores, is_fixed, score
from lib.errors import UserError
from lib.records import FAULT_TYPES

BY_HAND = {
    "precision": (4 / 5, 5),
    "recall": (4 / 6, 6),
    "f1": (8 / 11, 8),
    "silent_recall": (2 / 4, 4),
    "loud_recall": (2 / 2, 2),
    "false_alarm_rate": (1 / 2, 2),
    "loud_minus_silent": (1 / 2, 6),
    "youden_j": (4 / 6 - 1 / 2, 8),
    "flagged": (5, 8),
    "step_exact": (1 / 2, 2),
    "step_within_one": (2 / 2, 2),
    "step_exact_strict": (1 / 4, 4),
    "type_macro_f1": ((2 / 3 + 0 + 2 / 3 + 0 + 1 + 0) / 6, 6),
    "type_macro_f1_merged": ((1 + 2 / 3 + 0 + 1 + 0) / 5, 6),
    "ece": ((1.2 + 0.3 + 0.2 + 0.7 + 0) / 8, 8),
    "brier": ((2 * 0.36 + 0.09 + 0.04 + 0.81 + 2 * 0.01 + 0) / 8, 8),
    "seconds_per_trajectory": (4.5, 8),
    "prompt_tokens_per_trajectory": (707 / 7, 7),
    "recall.wrong_tool": (1, 2),
    "recall.skipped_precondition": (1 / 2, 2),
    "recall.premature_stop": (1, 1),
    "recall.unsupported_claim": (0, 1),
}
UNDEFINED = {"completion_tokens_per_trajectory", "recall.hallucinated_argument", "recall.ignored_observation"}


@pytest.fixture
def scores(labels, verdicts) -> Scores:
    return score(labels, verdicts, reps=200)


@pytest.mark.parametrize(("metric", "expected"), BY_HAND.items())
def test_metric_by_hand(scores, metric, expected):
    found = scores.estimate("j", metric)
    assert found.value == pytest.approx(expected[0], abs=1e-12)
    assert found.n == expected[1]


def test_every_metric_is_worked_out_by_hand_or_undefined():
    assert set(METRICS) == set(BY_HAND) | UNDEFINED


@pytest.mark.parametrize("metric", sorted(UNDEFINED))
def test_zero_denominator_gives_null_and_n_zero(scores, metric):
    entry = scores.to_json()["judges"]["j"]["metrics"][metric]
    assert entry == {"value": None, "low": None, "high": None, "n": 0}


def test_always_clean_has_no_precision_but_an_f1_of_zero(labels, verdicts):
    passed = verdicts.assign(faulty=False, failure_step=pd.NA, failure_type=None, judge_id="always-clean")
    scores = score(labels, passed, reps=10)
    assert math.isnan(scores.estimate("always-clean", "precision").value)
    assert scores.estimate("always-clean", "f1").value == 0
    assert math.isnan(scores.estimate("always-clean", "step_exact_strict").value)


def test_observed_one_gets_the_exact_interval_of_a_plain_proportion_only(scores):
    loud = scores.estimate("j", "loud_recall")
    assert loud.high == 1.0
    assert loud.low == pytest.approx(0.025**0.5)  # 2 of 2
    claim = scores.estimate("j", "recall.unsupported_claim")
    assert (claim.low, claim.high) == (0.0, pytest.approx(0.975))  # 0 of 1


@pytest.mark.parametrize("judge", ["rules", "rules-extended", "always-faulty", "always-clean"])
def test_verdicts_fixed_by_rules_get_no_interval(labels, verdicts, judge):
    scores = score(labels, verdicts.assign(judge_id=judge), reps=50)
    assert scores.metrics[["low", "high"]].isna().all(axis=None)


def test_coin_gets_intervals_like_any_judge(labels, verdicts):
    assert not is_fixed("coin")
    scores = score(labels, verdicts.assign(judge_id="coin"), reps=50)
    rates = scores.metrics[scores.metrics["metric"].isin(PROPORTIONS)].dropna(subset="value")
    assert rates[["low", "high"]].notna().all(axis=None)


def test_delta_between_two_fixed_judges_has_no_interval(labels, verdicts):
    both = pd.concat([verdicts.assign(judge_id=judge) for judge in ("rules", "always-faulty", "j")])
    deltas = score(labels, both, reps=50).deltas.set_index(["a", "b", "metric"])
    assert math.isnan(deltas.loc[("rules", "always-faulty", "recall"), "low"])
    assert not math.isnan(deltas.loc[("rules", "j", "recall"), "low"])


def test_delta_is_first_minus_second_in_the_order_of_the_run(labels, verdicts):
    lazy = verdicts.assign(judge_id="lazy", faulty=False, failure_step=pd.NA, failure_type=None)
    both = pd.concat([verdicts, lazy])
    first = score(labels, both, reps=50)
    turned = score(labels, both, reps=50, order=["lazy", "j"])
    assert first.deltas[["a", "b"]].drop_duplicates().to_numpy().tolist() == [["j", "lazy"]]
    assert turned.deltas[["a", "b"]].drop_duplicates().to_numpy().tolist() == [["lazy", "j"]]
    assert first.delta("j", "lazy", "recall").value == pytest.approx(4 / 6)
    assert turned.delta("j", "lazy", "recall") == pytest.approx(first.delta("j", "lazy", "recall"))


def test_identical_judges_differ_by_zero_and_by_no_less_than_chance_allows(labels, verdicts):
    scores = score(labels, pd.concat([verdicts, verdicts.assign(judge_id="twin")]), reps=100)
    assert (scores.deltas["value"].dropna() == 0).all()
    own, delta = scores.estimate("j", "precision"), scores.delta("j", "twin", "precision")
    width = math.hypot(own.value - own.low, own.high - own.value)
    assert (delta.low, delta.high) == (pytest.approx(-width), pytest.approx(width))


def test_judge_of_a_prefix_counts_only_what_it_judged(labels, verdicts):
    part = verdicts[verdicts["trajectory_id"].isin(["c1", "w0", "s1"])].assign(judge_id="part")
    scores = score(labels, pd.concat([verdicts, part]), reps=100)
    assert scores.n == {"j": 8, "part": 3}
    assert scores.estimate("part", "recall").n == 2
    assert scores.estimate("part", "false_alarm_rate") == (0.0, 0.0, pytest.approx(0.975), 1)
    delta = scores.delta("j", "part", "recall")
    assert (delta.value, delta.n) == (0, 3)
    alone = score(labels, verdicts, reps=100).metrics
    pd.testing.assert_frame_equal(scores.metrics[scores.metrics["judge_id"] == "j"], alone)


def test_judges_without_common_trajectories_have_undefined_deltas(labels, verdicts):
    here = verdicts["trajectory_id"].isin(["c0", "w0"])
    scores = score(labels, pd.concat([verdicts[here], verdicts[~here].assign(judge_id="other")]), reps=20)
    deltas = scores.deltas[scores.deltas["metric"] != "flagged"]
    assert deltas[["value", "low", "high"]].isna().all(axis=None)
    assert (deltas["n"] == 0).all()


def test_json_is_the_same_bytes_for_the_same_seed_and_others_for_another(labels, verdicts):
    texts = [json.dumps(score(labels, verdicts, 5, seed).to_json(), allow_nan=False) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_json_has_the_documented_shape(labels, verdicts):
    both = pd.concat([verdicts, verdicts.assign(judge_id="twin")])
    found = score(labels, both, reps=20).to_json()
    assert list(found) == ["judges", "deltas"]
    assert list(found["judges"]) == ["j", "twin"]
    assert found["judges"]["j"]["n"] == 8
    assert list(found["judges"]["j"]["metrics"]) == list(METRICS)
    assert list(found["deltas"][0]) == ["a", "b", "metric", "value", "low", "high"]
    assert len(found["deltas"]) == len(METRICS)


def test_unusable_replies_are_counted_and_read_both_ways(labels, verdicts):
    broken = verdicts.assign(status=["unparseable", *["ok"] * 4, "truncated", "ok", "ok"])  # c0 flagged, s1 passed
    scores = score(labels, broken, reps=20)
    assert scores.status.to_dict("records") == [{"judge_id": "j", "n": 8, "ok": 6, "unparseable": 1, "truncated": 1}]
    read = scores.readings.set_index("metric")
    assert read.loc["false_alarm_rate", ["value", "worst", "best"]].tolist() == [1 / 2, 1 / 2, 0]
    assert read.loc["recall", ["value", "worst", "best"]].tolist() == pytest.approx([4 / 6, 4 / 6, 5 / 6])
    assert read.loc["step_exact_strict", ["worst", "best"]].tolist() == [1 / 4, 2 / 5]


def test_sound_verdicts_need_no_second_reading(labels, verdicts):
    assert score(labels, verdicts, reps=20).readings.empty


def test_judges_are_chosen_by_name_and_a_wrong_name_is_said(labels, verdicts):
    both = pd.concat([verdicts, verdicts.assign(judge_id="twin")])
    for chosen in (["twin"], "twin"):
        assert score(labels, both, reps=20, judges=chosen).judges == ["twin"]
    with pytest.raises(UserError, match="no verdicts of nobody; this run has j, twin"):
        score(labels, both, judges=["nobody"])


def test_contradicting_keys_and_unknown_trajectories_are_refused(labels, verdicts):
    with pytest.raises(UserError, match="two verdicts of j about c0"):
        score(labels, pd.concat([verdicts, verdicts.head(1)]))
    with pytest.raises(UserError, match="unknown trajectory c1"):
        score(labels[labels["trajectory_id"] != "c1"], verdicts)


def test_run_without_verdicts_scores_to_empty_frames(labels, verdicts):
    scores = score(labels, verdicts.head(0))
    assert scores.to_json() == {"judges": {}, "deltas": []}


def test_only_faulty_trajectories_leave_the_clean_metrics_undefined(labels, verdicts):
    faulty = labels[labels["faulty"]]
    scores = score(faulty, verdicts[verdicts["trajectory_id"].isin(faulty["trajectory_id"])], reps=50)
    assert scores.estimate("j", "false_alarm_rate").n == 0
    assert math.isnan(scores.estimate("j", "youden_j").low)


def test_a_few_hits_without_a_false_alarm_do_not_make_youdens_j_certain():
    """A bootstrap of 3 hits in 100 and 0 alarms in 40 never draws a J below 0; Newcombe's limits by hand."""
    labels = pd.DataFrame(
        [
            {"trajectory_id": f"t{i}", "faulty": i < 100, "failure_type": "wrong_tool" if i < 100 else None,
             "failure_step": 1.0 if i < 100 else None, "outcome_correct": True, "n_steps": 6, "stratum": "happy",
             "cell": "wrong_tool/silent" if i < 100 else "clean"}
            for i in range(140)
        ]
    )  # fmt: skip
    verdicts = labels[["trajectory_id", "failure_step", "failure_type"]].assign(
        judge_id="j", faulty=[i < 3 for i in range(140)], confidence=0.9, status="ok",
        latency_s=1.0, prompt_tokens=1.0, completion_tokens=1.0,
    )  # fmt: skip
    verdicts.loc[3:, ["failure_step", "failure_type"]] = None
    j = score(labels, verdicts, reps=200).estimate("j", "youden_j")
    z = 1.959964

    def wilson(hits: int, n: int) -> tuple[float, float]:
        middle, half = hits + z * z / 2, z * math.sqrt(hits * (n - hits) / n + z * z / 4)
        return (middle - half) / (n + z * z), (middle + half) / (n + z * z)

    (low, high), (alarm_low, alarm_high) = wilson(3, 100), wilson(0, 40)
    assert j.value == pytest.approx(0.03)
    assert j.low == pytest.approx(0.03 - math.hypot(0.03 - low, alarm_high))
    assert j.high == pytest.approx(0.03 + math.hypot(high - 0.03, alarm_low), abs=1e-9)
    assert j.low < 0


@pytest.fixture
def all_of_a_cell() -> Scores:
    """Judges that treat each cell alike: ``stops`` flags one of two loud cells (3 of 8), ``silent`` the silent one."""
    kinds = ["premature_stop"] * 3 + ["skipped_precondition"] * 5 + ["wrong_tool"] * 4 + [None] * 4
    labels = pd.DataFrame(
        [
            {"trajectory_id": f"t{i}", "faulty": kind is not None, "failure_type": kind, "failure_step": kind and 2,
             "outcome_correct": kind in (None, "wrong_tool"), "n_steps": 6, "stratum": "happy", "cell": str(kind)}
            for i, kind in enumerate(kinds)
        ]
    )  # fmt: skip
    template = labels[["trajectory_id"]].assign(
        failure_step=pd.NA, failure_type=None, confidence=0.9, status="ok",
        latency_s=1.0, prompt_tokens=1.0, completion_tokens=1.0,
    )  # fmt: skip
    flagged = {"stops": "premature_stop", "silent": "wrong_tool", "always-clean": "nothing"}
    answers = [template.assign(judge_id=judge, faulty=labels["cell"] == cell) for judge, cell in flagged.items()]
    return score(labels, pd.concat(answers), reps=50)


def test_a_rate_that_no_resample_moves_has_the_exact_interval_of_its_counts(all_of_a_cell):
    loud = all_of_a_cell.estimate("stops", "loud_recall")
    exact = binomtest(3, 8).proportion_ci(method="exact")
    assert loud == (3 / 8, pytest.approx(exact.low), pytest.approx(exact.high), 8)


def test_a_difference_of_rates_that_no_resample_moves_is_as_wide_as_both_together(all_of_a_cell):
    three, none, four = (binomtest(*of).proportion_ci(method="exact") for of in ((3, 8), (0, 8), (4, 4)))
    delta = all_of_a_cell.delta("stops", "silent", "loud_recall")
    assert delta.value == 3 / 8
    assert delta.low == pytest.approx(3 / 8 - math.hypot(3 / 8 - three.low, none.high))
    assert delta.high == pytest.approx(three.high)
    gap = all_of_a_cell.estimate("silent", "loud_minus_silent")
    assert (gap.value, gap.low) == (-1, pytest.approx(-1))
    assert gap.high == pytest.approx(-1 + math.hypot(none.high, 1 - four.low))
    against_rules = all_of_a_cell.delta("stops", "always-clean", "loud_recall")
    assert (against_rules.low, against_rules.high) == (pytest.approx(three.low), pytest.approx(three.high))


def test_a_difference_that_no_resample_moves_is_as_wide_as_both_though_each_judge_moves(labels, verdicts):
    """The second judge flags all that the first one flags, and another cell: each resample adds the same share."""
    more = verdicts.assign(judge_id="more", faulty=verdicts["faulty"] | verdicts["trajectory_id"].isin(["u0"]))
    scores = score(labels, pd.concat([verdicts, more]), reps=200)
    delta, one, other = (
        scores.delta("more", "j", "silent_recall"),
        *(scores.estimate(judge, "silent_recall") for judge in ("more", "j")),
    )
    assert delta.value == 1 / 4
    assert delta.low == pytest.approx(1 / 4 - math.hypot(one.value - one.low, other.high - other.value))
    assert delta.low < 0


def test_a_gap_of_which_one_recall_does_not_move_is_as_wide_as_both(labels, verdicts):
    scores = score(labels, verdicts, reps=200)
    loud, silent, gap = (scores.estimate("j", name) for name in ("loud_recall", "silent_recall", "loud_minus_silent"))
    assert loud.value == 1  # in every replicate
    assert 0 < silent.low < silent.high < 1
    assert gap.low == pytest.approx(gap.value - math.hypot(loud.value - loud.low, silent.high - silent.value))
    assert gap.high == pytest.approx(gap.value + silent.value - silent.low)


@pytest.mark.parametrize("metric", ["f1", "brier", "ece"])
def test_what_is_no_rate_and_does_not_move_has_no_interval(all_of_a_cell, metric):
    found, delta = all_of_a_cell.estimate("stops", metric), all_of_a_cell.delta("stops", "silent", metric)
    assert not math.isnan(found.value)
    assert np.isnan([found.low, found.high, delta.low, delta.high]).all()


@st.composite
def random_run(draw) -> tuple[pd.DataFrame, pd.DataFrame]:
    size = draw(st.integers(2, 25))
    kinds = draw(st.lists(st.sampled_from([None, *FAULT_TYPES]), min_size=size, max_size=size))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    faulty = np.array([kind is not None for kind in kinds])
    correct = np.where(faulty, rng.random(size) < 0.5, True)
    labels = pd.DataFrame(
        {
            "trajectory_id": [f"t{i}" for i in range(size)],
            "faulty": faulty,
            "failure_type": kinds,
            "failure_step": pd.array(np.where(faulty, 2, 0), dtype="Int64"),
            "outcome_correct": correct,
            "n_steps": 6,
        }
    )
    labels["cell"] = [f"{kind}/{ok}" if kind else "clean" for kind, ok in zip(kinds, correct, strict=True)]
    verdicts = pd.DataFrame(
        {
            "trajectory_id": labels["trajectory_id"],
            "judge_id": "j",
            "faulty": rng.random(size) < 0.6,
            "failure_step": pd.array(rng.integers(0, 8, size), dtype="Int64"),
            "failure_type": rng.choice(np.array(FAULT_TYPES), size),
            "confidence": rng.integers(50, 101, size) / 100,
            "latency_s": rng.random(size),
            "prompt_tokens": pd.array(rng.integers(1, 900, size), dtype="Int64"),
            "completion_tokens": pd.array(rng.integers(1, 900, size), dtype="Int64"),
            "status": "ok",
        }
    )
    return labels, verdicts


@settings(max_examples=25, deadline=None)
@given(random_run(), st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(run, random):
    labels, verdicts = run
    rows = list(range(len(labels)))
    random.shuffle(rows)
    shuffled = score(labels.iloc[rows], verdicts.iloc[rows[::-1]], reps=30)
    assert json.dumps(shuffled.to_json()) == json.dumps(score(labels, verdicts, reps=30).to_json())


@settings(max_examples=25, deadline=None)
@given(random_run())
def test_proportions_and_their_intervals_stay_in_range(run):
    metrics = score(*run, reps=30).metrics.set_index("metric").drop(columns="judge_id")
    shares = metrics.loc[[m for m in METRICS if "per_trajectory" not in m and m not in ("flagged", *SIGNED)]]
    shares = shares.dropna()
    assert shares[["value", "low", "high"]].to_numpy().min(initial=0) >= 0
    assert shares[["value", "low", "high"]].to_numpy().max(initial=1) <= 1 + 1e-12
    assert (shares["low"] <= shares["high"]).all()


SIGNED = ("loud_minus_silent", "youden_j")
