"""Measures of judges of plans, on numbers worked by hand."""

import numpy as np
import pandas as pd
import pytest

from lib.analysis.ranking import areas
from lib.plans.faults import plans
from lib.plans.frames import truths, verdicts_beside_truth
from lib.plans.measures import (
    WEIGHTS,
    agreement,
    alignment,
    bias,
    binned,
    ceiling,
    collapsed,
    flip_rate,
    floor,
    jury,
    krippendorff_alpha,
    rank_correlation,
    sight_and_anchoring,
    skill,
    weighted,
)
from lib.plans.records import METRICS, TIERS, Levels, PlanVerdict, view_of
from lib.plans.score import BASELINES
from lib.records import About

NAN = float("nan")


def test_alignment_is_one_less_the_distance():
    assert alignment([1, 2 / 3, 0], [0.5, 1, 0]) == pytest.approx([0.5, 2 / 3, 1])


def test_a_missing_verdict_counts_as_the_policy_says():
    p, level = [1, 0.75, 0.25], [NAN, NAN, 0.5]
    assert alignment(p, level) == pytest.approx([NAN, NAN, 0.75], nan_ok=True)
    assert alignment(p, level, "worst") == pytest.approx([0, 0.25, 0.75])
    assert alignment(p, level, "best") == pytest.approx([1, 0.75, 0.75])


def test_the_floor_is_the_plans_own_accuracy_and_the_ceiling_is_of_the_scale():
    p = np.array([1, 0.75, 2 / 3, 0.5, 0.25, 0])
    assert floor(p) == pytest.approx(p)
    assert ceiling(p) == pytest.approx([1, 0.75, 5 / 6, 1, 0.75, 1])


def test_always_one_has_no_skill_and_the_best_judge_of_the_scale_has_all():
    p = np.array([1, 1, 1, 2 / 3, 0.25])
    low, high = floor(p).mean(), ceiling(p).mean()
    assert skill(alignment(p, 1).mean(), low, high) == 0
    assert skill(alignment(p, [1, 1, 1, 0.5, 0.5]).mean(), low, high) == pytest.approx(1)
    assert skill(alignment(p, 0).mean(), low, high) < 0
    assert np.isnan(skill(1, 1, 1))


def test_high_alignment_can_be_no_sight_at_all():
    p = np.array([1.0] * 18 + [0.5, 0.5])
    assert alignment(p, 1).mean() == 0.95


def test_bias_is_positive_where_too_much_is_credited():
    assert bias([0.5, 1], [1, 0.5]) == pytest.approx([0.5, -0.5])


def test_binning_follows_the_released_code():
    assert binned([0, 0.1, 0.11, 0.5, 0.89, 0.9, NAN]) == pytest.approx([0, 0, 0.5, 0.5, 0.5, 1, NAN], nan_ok=True)


def test_agreement_on_a_table_worked_by_hand():
    one, other = [1, 1, 1, 0.5, 0.5, 0, 0, NAN], [1, 1, 0.5, 0.5, 0, 0, 0, 1]
    found = agreement(one, other)
    exact, chance = 5 / 7, (3 * 2 + 2 * 2 + 2 * 3) / 49
    assert (found.exact, found.n) == (pytest.approx(exact), 7)
    assert found.kappa == pytest.approx((exact - chance) / (1 - chance))
    assert found.confusion.loc[1.0, 0.5] == 1
    assert np.isnan(agreement([1, 1], [1, 1]).kappa)
    assert agreement([NAN], [1]).n == 0


def test_krippendorff_alpha_of_the_example_in_its_source():
    """Krippendorff 2011, section C: four observers, twelve units, nominal 0.743 and interval 0.849."""
    n = NAN
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    units = np.array(observers).T
    assert krippendorff_alpha(units, interval=False) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units) == pytest.approx(0.849, abs=5e-4)
    assert np.isnan(krippendorff_alpha([[1, 1], [1, 1]]))


def test_a_jury_needs_all_of_its_judges():
    assert jury([[1, 0.5], [1, NAN]]) == pytest.approx([0.75, NAN], nan_ok=True)


def test_the_papers_collapse_leaks_the_truth_and_the_fixed_ones_do_not():
    level, p = [0, 0.5, 0.5, 1], [0, 0.4, 0.5, 1]
    assert collapsed(level, "leaking", p) == pytest.approx([0, 0, 1, 1])
    assert collapsed(level, "down") == pytest.approx([0, 0, 0, 1])
    assert collapsed(level, "up") == pytest.approx([0, 1, 1, 1])
    with pytest.raises(ValueError, match="needs the truth"):
        collapsed(level, "leaking")


def test_a_judge_that_always_says_half_is_perfect_under_the_leaking_collapse_only():
    p = np.array([0, 0.25, 0.75, 1])
    right = (p >= 0.5).astype(float)
    half = np.full(4, 0.5)
    assert (collapsed(half, "leaking", p) == right).all()
    assert (collapsed(half, "up") == right).mean() == (collapsed(half, "down") == right).mean() == 0.5


def test_weights_move_the_score_towards_the_metric_that_counts_more():
    aligned = pd.DataFrame([[1, 1, 0, 1], [0, 1, 1, 1]], index=["a", "b"], columns=METRICS)
    under = weighted(aligned)
    assert list(under.columns) == list(WEIGHTS)
    assert under.loc["a", "equal"] == 0.75
    assert under.loc["a", "sequence double"] == pytest.approx(3 / 5)
    assert under.loc["b", "without parameters"] == pytest.approx(2 / 3)


def test_rank_correlation_gives_ties_their_mean_rank():
    assert rank_correlation([1, 2, 3, 4], [1, 2, 2, 3]) == pytest.approx(
        np.corrcoef([1, 2, 3, 4], [1, 2.5, 2.5, 4])[0, 1]
    )
    assert np.isnan(rank_correlation([1, 1, 1], [1, 2, 3]))


def test_flip_rate_is_the_share_of_pairs_of_repeats_that_differ():
    assert flip_rate([[1, 1, 0.5], [1, 1, 1], [1, NAN, 0], [1, NAN, NAN]]) == pytest.approx(
        [2 / 3, 0, 1, NAN], nan_ok=True
    )


def synthetic(sight, anchoring, noise=0.0):
    rng = np.random.default_rng(1)
    truth, shown = rng.uniform(size=300), rng.uniform(size=300)
    level = 0.1 + sight * truth + anchoring * shown + noise * rng.normal(size=300)
    return level, truth, shown, [f"r{i // 5}" for i in range(300)]


@pytest.mark.parametrize(("sight", "anchoring"), [(1, 0), (0, 1), (0.3, 0.5)])
def test_slopes_tell_sight_from_anchoring(sight, anchoring):
    found = sight_and_anchoring(*synthetic(sight, anchoring))
    assert (found.sight, found.anchoring) == pytest.approx((sight, anchoring), abs=1e-9)
    noisy = sight_and_anchoring(*synthetic(sight, anchoring, noise=0.2))
    assert noisy.sight_low < sight < noisy.sight_high
    assert noisy.anchoring_low < anchoring < noisy.anchoring_high


def test_slopes_are_not_given_where_the_right_reference_was_shown():
    level, truth, _, records = synthetic(1, 0)
    assert np.isnan(sight_and_anchoring(level, truth, truth, records).sight)


# The frame.


def test_a_plans_truth_is_the_same_at_every_tier_and_in_every_condition(records):
    some = records[:6]
    made = [plan for record in some for plan in plans(record, 7)]
    about = {"always-1": About(kind="always-1", baseline=True), "copy": About(kind="same", model="m")}
    said = [
        PlanVerdict(plan_id=p.plan_id, tier=tier, judge_id=judge, levels=Levels(1, 1, 1, 1), log_odds={"sequence": 2.0})
        for p in made
        for tier in TIERS
        for judge in about
    ]
    said[0] = PlanVerdict(plan_id=made[0].plan_id, tier="easy", judge_id="copy", levels=None, status="unparseable")
    frame = verdicts_beside_truth(some, made, said, about, seed=7)
    assert len(frame) == 4 * len(said)
    assert (frame.groupby(["plan", "metric"]).truth.agg(np.ptp) == 0).all()
    assert frame[frame.kind == "same"].shown.eq(1).all()
    assert frame[frame.kind == "always-1"].shown.isna().all()
    assert frame.level.isna().sum() == 4
    assert frame.score.notna().sum() == len(frame) - 4
    assert (frame[frame.log_odds.notna()].score == -2).all()
    assert (frame.faulty == (frame.truth < 1)).all()
    assert (frame.log_odds.notna() == (frame.metric == "sequence")).sum() == len(frame) - 1
    assert set(frame.model.dropna()) == {"m"}


def test_every_fault_is_marked_by_the_metric_that_it_is_about(records):
    frame = truths(records, [plan for record in records for plan in plans(record, 7)])
    marked = frame.assign(low=frame.truth < 1).pivot_table("low", "fault", "metric")
    assert marked.loc["none"].eq(0).all()
    assert marked.loc["drop", "query_coverage"] > 0.8
    assert marked.loc["reversed", "sequence"] > 0.9
    assert marked.loc["wrong_tool", "tool_selection"] == 1
    assert marked.loc["missing_key", "parameter_structure"] > 0.9
    assert marked.loc["unknown_key", ["tool_selection", "sequence", "query_coverage"]].eq(0).all()


def test_the_schema_checker_beats_always_one_on_parameters_only(records):
    made = [plan for record in records for plan in plans(record, 7)]
    known = {r.record_id: r for r in records}
    frame = truths(records, made)
    said = {p.plan_id: BASELINES["schema"](view_of(known[p.record_id], p, "easy", None)) for p in made}
    level = [getattr(said[plan], metric) for plan, metric in zip(frame.plan, frame.metric, strict=True)]
    scored = frame.assign(score=-np.array(level), faulty=frame.truth < 1, stratum=frame.topology)
    found = areas(scored, by=["metric"]).set_index("metric").value
    assert found["parameter_structure"] > 0.6
    assert found["query_coverage"] == 0.5
