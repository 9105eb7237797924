"""Matched pairs, agreement of judges and strata, by hand and on the paper's run (design, items 2 and 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar

from lib.analysis.agreement import by_stratum, judge_agreement, matched_pairs, mcnemar
from lib.analysis.joined import joined

OUTCOME = "outcome:qwen2.5:14b"


def test_pairs_join_a_mutant_with_the_clean_run_of_its_instance(rows):
    pairs = matched_pairs(rows).set_index("mutant")
    assert pairs["parent"].to_dict() == {"w0": "c0", "w1": "c1", "s0": "c1", "p0": "c1"}
    assert pairs.loc["w0", ["mutant_flagged", "parent_flagged"]].tolist() == [True, True]


def test_mcnemar_by_hand(rows):
    table = mcnemar(matched_pairs(rows)).set_index("true_type")
    counts = ["pairs", "both", "only_mutant", "only_parent", "neither", "parent_passed"]
    assert table.loc["all", counts].tolist() == [4, 1, 3, 0, 0, 3]
    assert table.loc["all", "p"] == pytest.approx(2 * 0.5**3)
    assert table.loc["wrong_tool", counts].tolist() == [2, 1, 1, 0, 0, 1]
    assert (table.loc[["wrong_tool", "skipped_precondition", "premature_stop"], "p_holm"] == 1).all()
    assert np.isnan(table.loc["all", "p_holm"])


def test_judge_that_flags_everything_has_no_passed_parent(labels, verdicts):
    table = mcnemar(matched_pairs(joined(labels, verdicts.assign(faulty=True))))
    assert table["caught_of_passed"].isna().all()
    assert (table["p"] == 1).all()


def test_p_is_the_exact_one_of_statsmodels_and_holm_never_lowers_it(published_rows):
    table = mcnemar(matched_pairs(published_rows))
    for row in table.itertuples():
        square = [[row.both, row.only_mutant], [row.only_parent, row.neither]]
        assert row.p == pytest.approx(reference_mcnemar(square, exact=True).pvalue)
    types = table[table["true_type"] != "all"]
    assert (types["p_holm"] >= types["p"]).all()


def test_outcome_judge_flags_no_ignored_observation_whose_parent_it_passed(published_rows):
    pairs = matched_pairs(published_rows)
    assert pairs[pairs["judge_id"] == OUTCOME]["mutant"].nunique() == 251
    row = mcnemar(pairs).set_index(["judge_id", "true_type"]).loc[(OUTCOME, "ignored_observation")]
    assert (row["pairs"], row["only_mutant"], row["parent_passed"]) == (17, 0, 7)


def test_false_alarms_of_the_outcome_judge_fall_in_three_strata(published_rows):
    table = by_stratum(published_rows).set_index(["judge_id", "stratum"]).loc[OUTCOME]
    alarms = table[["false_alarms", "clean"]].apply(tuple, axis=1).to_dict()
    assert alarms.pop("happy") == (13, 17)
    assert alarms.pop("restocking") == (10, 17)
    assert alarms.pop("already_refunded") == (10, 16)
    assert [flagged for flagged, _ in alarms.values()] == [0, 0, 0]


def test_strata_by_hand(rows):
    table = by_stratum(rows).set_index("stratum")
    assert table.index.tolist() == ["happy", "restocking"]
    assert table.loc["happy", ["faults", "caught", "clean", "false_alarms"]].tolist() == [2, 1, 1, 1]
    assert table.loc["restocking", ["faults", "caught", "clean", "false_alarms"]].tolist() == [4, 3, 1, 0]
    assert table.loc["restocking", ["recall", "silent_recall", "false_alarm_rate"]].tolist() == [0.75, 0.5, 0]


def test_instances_of_another_making_are_a_stratum_of_their_own(labels, verdicts):
    assert by_stratum(joined(labels.assign(stratum=None), verdicts))["stratum"].tolist() == ["unknown"]


def test_agreement_by_hand(labels, verdicts):
    lazy = verdicts.assign(judge_id="lazy", faulty=[False, False, True, True, False, False, False, True])
    (row,) = judge_agreement(joined(labels, pd.concat([verdicts, lazy]))).to_dict("records")
    assert [row[name] for name in ("n", "both_flag", "only_a", "only_b", "neither")] == [8, 2, 3, 1, 2]
    by_chance = 5 / 8 * 3 / 8 + 3 / 8 * 5 / 8
    assert row["kappa"] == pytest.approx((4 / 8 - by_chance) / (1 - by_chance))


def test_kappa_of_two_judges_that_always_say_one_thing_is_undefined(labels, verdicts):
    both = pd.concat([verdicts.assign(faulty=True, judge_id=judge) for judge in "ab"])
    (row,) = judge_agreement(joined(labels, both)).to_dict("records")
    assert row["agreement"] == 1
    assert np.isnan(row["kappa"])


def test_judges_agree_over_what_both_judged(labels, verdicts):
    both = pd.concat([verdicts, verdicts.head(3).assign(judge_id="part")])
    assert judge_agreement(joined(labels, both))["n"].tolist() == [3]
