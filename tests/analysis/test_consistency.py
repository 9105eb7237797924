"""An ensemble against one pass: readings, costs, votes read off shares, shared misses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lib.analysis import consistency
from lib.analysis.joined import joined
from lib.analysis.members import shared_misses, votes

SAID = {"c0": 0, "c1": 1, "w0": 3, "w1": 0, "s0": 2, "s1": 1, "p0": 3, "u0": 0}


@pytest.fixture
def ensemble(verdicts) -> pd.DataFrame:
    """Three members with the votes of SAID."""
    yes = verdicts["trajectory_id"].map(SAID)
    share = np.maximum(yes, 3 - yes) / 3
    return verdicts.assign(judge_id="selfcons3:m", faulty=yes > 1, confidence=share, latency_s=9.0)


@pytest.fixture
def both(verdicts, ensemble) -> pd.DataFrame:
    return pd.concat([verdicts.assign(judge_id="step:m", latency_s=3.0), ensemble], ignore_index=True)


def test_votes_are_read_off_the_share_behind_the_verdict(labels, ensemble):
    table = consistency.recovered_votes(labels, ensemble, ["selfcons3:m"])
    assert table.set_index("trajectory_id")["yes"].to_dict() == SAID
    assert table.set_index("trajectory_id").loc["c1", "flip_rate"] == pytest.approx(2 / 3)
    assert table["confidence"].isna().all()


def test_confidence_that_is_no_share_gives_no_votes(labels, ensemble):
    odd = ensemble.assign(confidence=0.9)
    assert consistency.recovered_votes(labels, odd, ["selfcons3:m"]).empty


def test_recovered_votes_have_the_columns_of_kept_ones(labels, ensemble):
    members = pd.DataFrame(
        [("c0", "e", i, flag, None, None, 0.8) for i, flag in enumerate((True, False))],
        columns=["trajectory_id", "judge_id", "member", "faulty", "failure_step", "failure_type", "confidence"],
    )
    kept, recovered = votes(members, labels), consistency.recovered_votes(labels, ensemble, ["selfcons3:m"])
    assert list(kept.columns) == list(recovered.columns)


def test_scores_of_a_pair_are_over_what_both_judged(labels, both):
    own = both[~((both["judge_id"] == "step:m") & (both["trajectory_id"] == "u0"))]
    found = consistency.pair_scores(labels, own, "selfcons3:m", "step:m", 50, 0)
    assert found.n == {"selfcons3:m": 7, "step:m": 7}
    assert found.judges == ["selfcons3:m", "step:m"]


def test_every_axis_is_compared_as_ensemble_minus_one_pass(labels, both):
    found = consistency.pair_scores(labels, both, "selfcons3:m", "step:m", 50, 0)
    table = consistency.axis_deltas(found, "selfcons3:m", "step:m").set_index("metric")
    assert list(table.index) == list(consistency.AXES)
    defined = table.dropna(subset="value")
    assert (defined["value"] - (defined["ensemble"] - defined["single"])).abs().max() < 1e-12


@pytest.mark.parametrize(
    ("sign", "delta", "reading"),
    [
        (1, (0.1, 0.05, 0.2), "ensemble better"),
        (-1, (0.1, 0.05, 0.2), "one pass better"),  # a higher false-alarm rate is worse
        (-1, (-0.1, -0.2, -0.05), "ensemble better"),
        (1, (0.1, 0.0, 0.2), "cannot be told apart"),
        (1, (0.0, 0.0, 0.0), "cannot be told apart"),
        (1, (np.nan, np.nan, np.nan), "undefined"),
        (1, (0.1, np.nan, np.nan), "cannot be told apart"),
    ],
)
def test_difference_is_read_by_its_whole_interval(sign, delta, reading):
    assert consistency._reading(sign, *delta) == reading


def test_cost_is_a_ratio_of_means(labels, both):
    found = consistency.pair_scores(labels, both, "selfcons3:m", "step:m", 5, 0)
    costs = consistency.cost_ratios(found, "selfcons3:m", "step:m").set_index("cost")
    assert costs.loc["seconds"].tolist() == [9, 3, 3]


def test_flips_by_kind(labels, ensemble):
    table = consistency.flips(consistency.recovered_votes(labels, ensemble, ["selfcons3:m"])).set_index("kind")
    assert table["n"].to_dict() == {"all": 8, "silent": 4, "loud": 2, "clean": 2}
    assert table["unanimous"].to_dict() == {"all": 5, "silent": 3, "loud": 1, "clean": 1}
    assert table.loc["silent", "flip_rate"] == pytest.approx((2 / 3) / 4)


def test_shared_misses_from_votes_by_hand(labels, ensemble):
    table = consistency.recovered_votes(labels, ensemble, ["selfcons3:m"])
    (row,) = consistency.misses_from_votes(table).to_dict("records")
    assert (row["faults"], row["missed_by_all"]) == (6, 2)
    missed = np.array([0, 1, 1 / 3, 2 / 3, 0, 1])  # w0 w1 s0 s1 p0 u0
    assert row["independent"] == pytest.approx(missed.mean() ** 3)
    in_cells = np.array([1 / 2, 1 / 2, 1 / 3, 2 / 3, 0, 1])  # the two wrong_tool share a cell
    assert row["independent_in_cells"] == pytest.approx((in_cells**3).mean())
    assert row["shared_of_missed"] == 2 / 4


def test_exchangeable_members_give_the_same_as_kept_ones(labels):
    said = {"w0": (1, 0), "w1": (0, 1), "p0": (0, 0), "u0": (1, 1)}
    kept = pd.DataFrame(
        [(name, "e", i, bool(vote), None, None, 0.8) for name, both in said.items() for i, vote in enumerate(both)],
        columns=["trajectory_id", "judge_id", "member", "faulty", "failure_step", "failure_type", "confidence"],
    )
    own = shared_misses(kept, labels).iloc[0]
    from_votes = consistency.misses_from_votes(votes(kept, labels)).iloc[0]
    pd.testing.assert_series_equal(own, from_votes[own.index], check_names=False)


def test_confidence_of_members_is_shown_only_where_it_was_kept(labels, both, ensemble):
    table = consistency.recovered_votes(labels, ensemble, ["selfcons3:m"])
    found = consistency.confidence_beside(table, joined(labels, both), "selfcons3:m", "step:m")
    assert found["source"].tolist() == ["share of the members' votes", "confidence that one pass states"]
    told = consistency.confidence_beside(table.assign(confidence=0.8), joined(labels, both), "selfcons3:m", "step:m")
    assert told["confidence"].tolist()[1] == 0.8


def test_published_ensemble(published):
    table = consistency.recovered_votes(published.trajectories, published.verdicts, ["selfcons3:qwen2.5:14b"])
    assert len(table) == 400
    by_vote = table["yes"].value_counts().to_dict()
    assert by_vote == {3: 227, 0: 130, 2: 27, 1: 16}  # as its rationales count them
