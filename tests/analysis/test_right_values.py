"""The right value behind each sentence of the book that once claimed too much, on both shipped runs.

They were recomputed apart from this code, with plain pandas, scipy and statsmodels.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, fisher_exact

from lib import RUNS, bench
from lib.analysis import base_rate, ensembles, naming, power, ranking, reliability, significance
from lib.analysis.bench import Bench
from lib.analysis.floor import floor
from lib.analysis.shares import codes, shares
from lib.errors import UserError

OUTCOME, STEP, ENSEMBLE = "outcome:qwen2.5:14b", "step:qwen2.5:14b", "selfcons3:qwen2.5:14b"
SMALL = "outcome:qwen2.5-coder:1.5b"


@pytest.fixture(scope="module")
def paper() -> Bench:
    return bench.open(RUNS / "paper", reps=500)


@pytest.fixture(scope="module")
def local() -> Bench:
    return bench.open(RUNS / "local", reps=200)


def of(board: Bench, judge: str) -> pd.DataFrame:
    return board.verdicts[board.verdicts["judge"] == judge]


def by_fault(board: Bench, judge: str) -> pd.DataFrame:
    table = significance.mcnemar(significance.pairs_with_parents(of(board, judge)), ["fault"]).set_index("fault")
    return table.assign(p_holm=significance.holm(table["p"], table["least_p"]))


def test_votes_that_fall_anyhow_within_cells_leave_nearly_as_many_faults_unflagged_as_there_are(paper: Bench) -> None:
    found = ensembles.missed_by_all(ensembles.votes(paper.verdicts, paper.about, {})).iloc[0]
    assert (found["judge"], found["faults"], found["k"], found["missed"]) == (ENSEMBLE, 300, 3, 32)
    assert found["expected"] == pytest.approx(24.7, abs=0.1)
    assert found["most"] in (31, 32)
    assert found["p"] < 0.001


def test_seven_discordant_trajectories_do_not_tell_the_ensemble_from_one_pass(paper: Bench) -> None:
    both = of(paper, ENSEMBLE).merge(of(paper, STEP), on=["trajectory", "instance"])
    gap = both["right_x"].astype(int) - both["right_y"].astype(int)
    assert (gap != 0).sum() >= 7
    assert paper.paired(ENSEMBLE, STEP, ["youden_j"])["reading"].item() == "not told apart"


def test_calibration_turns_round_when_faults_are_rare(paper: Bench) -> None:
    def ece(judge: str, rate: float) -> float:
        return base_rate.at_base_rate(of(paper, judge), rate, reps=50).ece.value

    assert (ece(ENSEMBLE, 0.75), ece(STEP, 0.75)) == (pytest.approx(0.084, abs=5e-4), pytest.approx(0.033, abs=5e-4))
    assert (ece(ENSEMBLE, 0.05), ece(STEP, 0.05)) == (pytest.approx(0.009, abs=5e-4), pytest.approx(0.071, abs=5e-4))


def test_an_outcome_judge_pays_only_between_two_costs_of_a_miss(paper: Bench) -> None:
    def region(judge: str) -> tuple[float, float]:
        own = of(paper, judge)
        found = base_rate.at_base_rate(own[own["survival"] != "loud"], 0.05, reps=10)
        return found.pays_from, found.pays_to

    assert region(OUTCOME) == (pytest.approx(13.9, abs=0.05), pytest.approx(23.2, abs=0.05))
    assert region(STEP) == (0, pytest.approx(81.1, abs=0.05))
    assert region("rules") == (0, pytest.approx(33.25, abs=0.05))


def test_what_decides_is_whether_the_text_changes_not_whether_the_fault_is_silent(paper: Bench) -> None:
    own = of(paper, OUTCOME)
    recall = paper.rates(own[own["faulty"]], "flagged", by=["changed", "survival"])
    assert recall.set_index(["changed", "survival"])["n"].to_dict() == {
        (True, "loud"): 50,
        (True, "silent"): 50,
        (False, "loud"): 75,
        (False, "silent"): 125,
    }
    unchanged = own[own["faulty"] & ~own["changed"].fillna(True).astype(bool)]
    assert significance.within_strata(unchanged, "survival", ("loud", "silent")).value == pytest.approx(0.07, abs=0.005)


def test_none_of_the_ignored_observations_is_caught_whose_parent_passed(paper: Bench) -> None:
    ignored = by_fault(paper, OUTCOME).loc["ignored_observation"]
    assert (ignored["only_mutant"], ignored["parent_passed"]) == (0, 7)


def test_claims_are_caught_more_often_than_their_parents_are_flagged(paper: Bench) -> None:
    pairs = significance.pairs_with_parents(of(paper, OUTCOME))
    gap = significance.paired_gap(pairs[pairs["fault"] == "unsupported_claim"])
    assert gap.value == pytest.approx(0.16)
    assert (gap.low, gap.high) == (pytest.approx(0.02, abs=0.01), pytest.approx(0.28, abs=0.01))


def test_holm_counts_only_types_that_can_be_tested_at_all(paper: Bench, local: Bench) -> None:
    assert by_fault(paper, OUTCOME).loc["unsupported_claim", "p_holm"] == pytest.approx(0.039, abs=5e-4)
    assert by_fault(local, SMALL).loc["premature_stop", "p_holm"] == pytest.approx(0.031, abs=5e-4)


def test_pairs_of_one_instance_are_one_piece_of_evidence(local: Bench) -> None:
    pairs = significance.pairs_with_parents(of(local, "step:qwen2.5-coder:0.5b"))
    found = significance.mcnemar(pairs).iloc[0]
    assert (found["only_mutant"], found["only_parent"]) == (2, 13)
    assert found["p"] == pytest.approx(0.058, abs=1e-3)


def test_a_judge_that_shows_nothing_overall_sees_premature_stops_in_refund_strata(local: Bench) -> None:
    own = of(local, SMALL)
    refunds = own[own["stratum"].isin(["happy", "restocking"]) & (own["fault"].eq("premature_stop") | ~own["faulty"])]
    stops, clean = refunds[refunds["faulty"]]["flagged"], refunds[~refunds["faulty"]]["flagged"]
    assert (stops.sum(), len(stops), clean.sum(), len(clean)) == (12, 12, 0, 16)
    assert significance.conditional(12, 12, 0, 16) == pytest.approx(3e-8, rel=0.15)
    assert significance.within_strata(refunds).p < 1e-6


def test_few_flags_within_strata_are_tested_exactly(local: Bench) -> None:
    assert significance.within_strata(of(local, "step:qwen2.5-coder:1.5b")).p > 0.05


def test_areas_within_strata(paper: Bench) -> None:
    areas = ranking.areas(paper.verdicts).set_index("judge")
    assert areas.loc[OUTCOME, ["value", "unadjusted"]].tolist() == pytest.approx([0.61, 0.68], abs=0.005)
    assert areas.loc[[STEP, ENSEMBLE], "value"].tolist() == pytest.approx([0.93, 0.94], abs=0.005)
    assert (areas["low"] <= areas["value"]).all()


def test_stated_confidence_is_no_better_than_a_constant(paper: Bench) -> None:
    own = of(paper, STEP)
    assert ranking.brier_skill(own["confidence"], own["right"]) == pytest.approx(-0.015, abs=5e-4)


def test_a_hundred_clean_trajectories_promise_nothing_under_one_percent(paper: Bench) -> None:
    own = of(paper, STEP)
    assert np.isinf(ranking.alarm_set(own, 0.009).threshold)
    kept = ranking.alarm_set(own, 0.05)
    assert (kept.recall, kept.false_alarm_rate) == (pytest.approx(257 / 300), 0)
    assert kept.least == pytest.approx(1 / 101)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_maps_are_fitted_on_other_instances_and_help_the_outcome_judge(paper: Bench, method: str) -> None:
    own = of(paper, OUTCOME)
    mapped = ranking.calibrated(own, method)
    assert ((mapped >= 0) & (mapped <= 1)).all()
    assert ranking.brier_skill(mapped, own["faulty"]) > ranking.brier_skill(own["score"], own["faulty"])


@pytest.mark.parametrize(
    ("faults", "clean", "alarms", "least"),
    [
        *[(152, 48, 0, 0.105), (152, 48, 0.1, 0.185), (152, 48, 0.33, 0.23)],
        *[(300, 100, 0, 0.055), (300, 100, 0.1, 0.125), (300, 100, 0.33, 0.16)],
    ],
)
def test_the_smallest_j_that_could_have_been_seen(faults: int, clean: int, alarms: float, least: float) -> None:
    assert power.smallest_j(faults, clean, alarms) == pytest.approx(least, abs=0.006)


def test_under_holm_over_six_types_eight_one_sided_pairs_are_needed() -> None:
    assert power.pairs_needed(6) == 8


def test_the_ece_of_a_calibrated_judge_is_not_zero() -> None:
    confidence = np.random.default_rng(1).uniform(0.5, 1, 200)
    assert 0.03 < base_rate.ece_of_calibrated(confidence).mean() < 0.06


def test_the_design_effect_of_the_outcome_view_is_two_and_more(paper: Bench) -> None:
    own = of(paper, OUTCOME)
    side = own[["faulty"]].to_numpy(float)
    found = shares(side * own[["flagged"]].to_numpy(float), side, codes(own["cell"]), codes(own["instance"]))
    assert 300 / found.effective[0] == pytest.approx(2.0, abs=0.15)


def test_the_exact_tests_of_one_stratum_and_of_one_pair_an_instance_are_the_textbook_ones() -> None:
    assert significance.conditional(7, 12, 2, 16) == pytest.approx(fisher_exact([[7, 5], [2, 14]]).pvalue)
    gaps = [1] * 9 + [-1] * 2
    assert significance.sign_flips(gaps, range(11)) == pytest.approx(binomtest(9, 11).pvalue)


def test_groups_that_share_one_rate_are_not_told_apart() -> None:
    assert significance.heterogeneity([2, 1, 1, 0], [9, 8, 8, 8]) > 0.5
    assert significance.heterogeneity([12, 0, 0], [12, 12, 12]) < 1e-3
    assert np.isnan(significance.heterogeneity([0, 0], [5, 5]))


def test_naming_one_step_each_time_comes_close_to_the_small_ensemble(local: Bench) -> None:
    found = naming.commonest_step(local.verdicts).set_index("judge").loc["selfcons3:qwen2.5-coder:1.5b"]
    assert (found["step"], found["n"]) == (3, 32)
    assert (found["exact"], found["always"]) == (14 / 32, 13 / 32)


def test_with_the_two_blurry_types_merged_the_ensemble_leads_and_neither_difference_is_clear(paper: Bench) -> None:
    merged = paper.score(["type_macro_f1_merged"]).set_index("judge")["value"]
    assert (merged[ENSEMBLE], merged[STEP]) == (pytest.approx(0.711, abs=5e-4), pytest.approx(0.688, abs=5e-4))
    paired = paper.paired(ENSEMBLE, STEP, ["type_macro_f1", "type_macro_f1_merged"])
    assert set(paired["reading"]) == {"not told apart"}


def test_a_judge_that_only_flags_refunds_is_not_above_the_floor(paper: Bench) -> None:
    v = paper.verdicts[paper.verdicts["judge"] == OUTCOME]
    refunds = Bench(v.assign(flagged=v["stratum"].isin(["happy", "restocking"])), {OUTCOME: paper.about[OUTCOME]})
    assert floor(refunds)["grade"].item() == "not shown"


def test_the_floor_is_graded_within_strata_and_withheld_for_replies_unread(paper: Bench, local: Bench) -> None:
    grades = floor(paper).set_index("judge")["grade"].to_dict()
    assert grades.pop("step:llama3.1:8b") == "not shown"
    assert set(grades.values()) == {"above"}
    table = floor(local).set_index("judge")
    assert table.loc[SMALL, "p"] == pytest.approx(0.21, abs=0.006)
    assert table.loc[SMALL, "grade"] == "not shown"
    assert table.loc["coin", "grade"] == "a baseline"
    assert table.loc["outcome:qwen2.5-coder:0.5b", "grade"] == "withheld: most replies unread"


def test_calibration_stands_beside_what_a_calibrated_judge_would_have(paper: Bench) -> None:
    table = reliability.calibration(paper.verdicts).set_index("judge")
    assert (table["calibrated_ece"] > 0).all()
    assert table.loc[ENSEMBLE, "ece"] > table.loc[ENSEMBLE, "calibrated_high"]
    assert table.loc[STEP, "skill"] == pytest.approx(-0.015, abs=5e-4)
    curve = reliability.reliability(paper.verdicts)
    assert curve.groupby("judge")["n"].sum().eq(400).all()


def test_votes_of_kept_members_count_and_an_even_majority_is_refused(local: Bench) -> None:
    judge = "selfcons3:qwen2.5-coder:1.5b"
    own = of(local, judge)
    kept = {(judge, name): [(True, 0.9), (False, 0.6), (False, 0.6)] for name in own["trajectory"]}
    table = ensembles.votes(local.verdicts, local.about, kept)
    assert (table["yes"] == 1).all()
    assert table["flip_rate"].iloc[0] == pytest.approx(2 / 3)
    assert ensembles.majority_at(table).set_index("k")["recall"].to_dict() == {1: pytest.approx(1 / 3), 3: 0}
    with pytest.raises(UserError, match="odd number of members, not 2"):
        ensembles.majority_at(table, [2])
