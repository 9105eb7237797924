"""Every metric by hand, on eight trajectories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lib.analysis.bench import Bench
from lib.analysis.ranking import area
from lib.analysis.tidy import reread, tidy
from lib.analysis.trajectory_metrics import TRAJECTORY_METRICS, confidence_bin
from lib.errors import UserError
from lib.records import About

BY_HAND = {
    "precision": (4 / 5, 5),
    "recall": (4 / 6, 6),
    "f1": (8 / 11, 8),
    "silent_recall": (2 / 4, 4),
    "loud_recall": (1, 2),
    "false_alarm_rate": (1 / 2, 2),
    "loud_minus_silent": (1 / 2, 6),
    "youden_j": (1 / 6, 8),
    "flagged": (5, 8),
    "step_exact": (1 / 2, 2),  # w0 and w1 name a step inside the trajectory
    "step_within_one": (1, 2),
    "step_exact_strict": (1 / 4, 4),
    "brier": ((0.81 + 0.04 + 0 + 0.01 + 0.09 + 0.36 + 0.01 + 0.36) / 8, 8),
    "seconds_per_trajectory": (4.5, 8),
    "prompt_tokens_per_trajectory": (101, 7),
    "recall.wrong_tool": (1, 2),
    "recall.skipped_precondition": (1 / 2, 2),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_value_and_denominator(board: Bench, name: str) -> None:
    value, n = BY_HAND[name]
    found = board.judge("j").metrics[name]
    assert (found.value, found.n) == (pytest.approx(value), n)


def test_types_by_hand(board: Bench) -> None:
    metrics = board.judge("j").metrics
    wrong_tool, premature, skipped = 2 / 3, 1, 2 / 3
    assert metrics["type_macro_f1"].value == pytest.approx((wrong_tool + premature + skipped) / 6)
    assert metrics["type_macro_f1_merged"].value == pytest.approx((1 + premature + skipped) / 5)


def test_ece_by_hand(board: Bench) -> None:
    gaps = {0.6: abs(2 * 0.6 - 0), 0.7: abs(0.7 - 1), 0.8: abs(0.8 - 1), 0.9: abs(3 * 0.9 - 2), 1.0: 0}
    assert board.judge("j").ece.value == pytest.approx(sum(gaps.values()) / 8)


def test_bins_are_closed_on_the_right() -> None:
    assert confidence_bin(np.array([0.5, 0.51, 0.6, 0.95, 1.0])).tolist() == [4, 5, 5, 9, 9]


def test_every_interval_holds_its_value(board: Bench) -> None:
    table = board.score().dropna()
    assert len(table) > 15
    assert (table["low"] <= table["value"] + 1e-9).all()
    assert (table["value"] <= table["high"] + 1e-9).all()


def test_undefined_metrics_have_no_denominator(rows: pd.DataFrame) -> None:
    clean = Bench(rows[~rows["faulty"]], {"j": About(kind="own")}, reps=20)
    recall = clean.judge("j").recall
    assert np.isnan(recall.value)
    assert recall.n == 0


def test_the_registry_names_each_metric_once_with_a_label_and_a_denominator() -> None:
    metrics = TRAJECTORY_METRICS.metrics
    assert len({metric.label for metric in metrics.values()}) == len(metrics) == 25
    assert all(metric.below for metric in metrics.values())


def test_an_order_of_lines_does_not_change_a_figure(labels: pd.DataFrame, verdicts: pd.DataFrame) -> None:
    about = {"j": About(kind="own")}
    one = tidy(labels, verdicts, about)
    other = tidy(labels.sample(frac=1, random_state=1), verdicts.sample(frac=1, random_state=2), about)
    pd.testing.assert_frame_equal(one, other)


def test_stray_and_double_verdicts_are_named(labels: pd.DataFrame, verdicts: pd.DataFrame) -> None:
    about = {"j": About(kind="own")}
    with pytest.raises(UserError, match="verdict of j about unknown trajectory c9"):
        tidy(labels, verdicts.replace({"trajectory_id": {"c0": "c9"}}), about)
    with pytest.raises(UserError, match="two verdicts of j about c0"):
        tidy(labels, pd.concat([verdicts, verdicts.head(1)]), about)


def test_unread_replies_read_as_right_or_wrong_bound_the_scores(rows: pd.DataFrame) -> None:
    broken = rows.assign(unread=rows["trajectory"].isin(["s1", "u0"]))
    right, wrong = (reread(broken, right=right) for right in (True, False))
    assert right.loc[right["faulty"], "flagged"].mean() == 1
    assert wrong.loc[wrong["faulty"], "flagged"].mean() == pytest.approx(4 / 6)
    assert right["right"].eq(right["faulty"] == right["flagged"]).all()


def test_the_score_is_the_log_odds_where_a_judge_gives_them(labels: pd.DataFrame, verdicts: pd.DataFrame) -> None:
    odds = verdicts.assign(log_odds=np.arange(8.0))
    assert sorted(tidy(labels, odds, {"j": About(kind="own", scored=True)})["score"]) == list(range(8))
    stated = tidy(labels, odds, {"j": About(kind="own")}).set_index("trajectory")["score"]
    assert (stated["c0"], stated["c1"]) == (pytest.approx(0.9), pytest.approx(0.2))


def test_the_area_is_the_share_of_pairs_in_order(rows: pd.DataFrame) -> None:
    faulty, clean = (rows.loc[rows["faulty"] == side, "score"].to_numpy() for side in (True, False))
    pairs = faulty[:, None] - clean
    assert area(rows, within=None).value == pytest.approx(((pairs > 0) + (pairs == 0) / 2).mean())
