"""Confusion, macro-F1 and offsets on the eight hand-made verdicts."""

from __future__ import annotations

import pytest

from lib.analysis.attribution import MERGED_NAME, border, confusion, step_offsets, steps_by_type, type_scores, who_names


def cell(table, true, predicted):
    return table.set_index(["true", "predicted"]).loc[(true, predicted), "count"]


def test_confusion_by_hand(rows):
    table = confusion(rows)
    assert len(table) == 6 * 7
    assert table["count"].sum() == 6
    assert cell(table, "wrong_tool", "wrong_tool") == 1
    assert cell(table, "wrong_tool", "hallucinated_argument") == 1
    assert cell(table, "skipped_precondition", "skipped_precondition") == 1
    assert cell(table, "skipped_precondition", "missed") == 1
    assert cell(table, "unsupported_claim", "missed") == 1


def test_flagged_but_untyped_is_missed(labels, verdicts, rows):
    untyped = rows.assign(named_type=None)
    table = confusion(untyped)
    assert (table[table["predicted"] != "missed"]["count"] == 0).all()
    assert table["count"].sum() == 6


def test_shares_are_of_the_true_type_and_undefined_without_one(rows):
    shares = confusion(rows).set_index(["true", "predicted"])["share"]
    assert shares[("wrong_tool", "wrong_tool")] == 0.5
    assert shares.loc["ignored_observation"].isna().all()


def test_macro_f1_is_the_mean_of_the_type_scores(rows):
    scores = type_scores(rows)
    assert scores["f1"].tolist() == pytest.approx([2 / 3, 0, 2 / 3, 0, 1, 0])
    assert scores["faults"].tolist() == [2, 0, 2, 0, 1, 1]


def test_merging_the_blurry_border_forgives_only_that_border(rows):
    scores = type_scores(rows, merged=True).set_index("type")["f1"]
    assert scores[MERGED_NAME] == 1
    assert scores.mean() == pytest.approx((1 + 2 / 3 + 1) / 5)


def test_offsets_are_named_minus_true_and_skip_steps_outside(rows):
    assert step_offsets(rows)[["offset", "n", "share"]].to_numpy().tolist() == [[0, 1, 0.5], [1, 1, 0.5]]
    by_type = step_offsets(rows, by="true_type")
    assert by_type["true_type"].tolist() == ["wrong_tool", "wrong_tool"]


def test_type_scores_agree_with_the_scored_metrics(published_rows, published_scores):
    for merged, metric in ((False, "type_macro_f1"), (True, "type_macro_f1_merged")):
        means = type_scores(published_rows, merged=merged).groupby("judge_id")["f1"].mean()
        for judge, mean in means.items():
            assert published_scores.estimate(judge, metric).value == pytest.approx(mean)


def test_who_names_types_and_steps_is_told_apart_from_who_only_flags(rows):
    untyped, nothing = rows.assign(named_type=None), rows.assign(named_type=None, named_step=float("nan"))
    assert who_names(rows) == (["j"], ["j"])
    assert who_names(untyped) == ([], ["j"])
    assert who_names(nothing) == ([], [])
    only_on_clean = rows.assign(named_type=rows["named_type"].where(~rows["faulty"].astype(bool)))
    assert who_names(only_on_clean).types == []


def test_the_border_counts_the_names_of_its_two_types(rows):
    table = border(rows).set_index("true type")
    assert table.loc["wrong_tool"].tolist() == ["j", 1, 1, 0, 0]
    assert table.loc["hallucinated_argument"].tolist() == ["j", 0, 0, 0, 0]


def test_steps_by_type_tells_flagged_faults_with_a_usable_step_from_those_without(rows):
    table = steps_by_type(rows).set_index("true_type")[["flagged", "with_step", "exact"]]
    assert table.loc["wrong_tool"].tolist() == [2, 2, 1]
    assert table.loc["premature_stop"].tolist() == [1, 0, 0]
    assert table.loc["unsupported_claim"].tolist() == [0, 0, 0]
