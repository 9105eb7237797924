"""Votes of an ensemble of three on five trajectories, worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.analysis.members import (
    confidence_sources,
    majority_at,
    member_frame,
    shared_misses,
    vote_distribution,
    votes,
)
from lib.errors import UserError
from lib.records import Judgement, Verdict

VOTES = {"c0": (0, 0, 1), "w0": (1, 1, 1), "w1": (0, 0, 0), "s0": (1, 1, 0), "u0": (1, 0, 0)}


@pytest.fixture
def members() -> pd.DataFrame:
    return member_frame(
        Verdict(
            trajectory_id=name,
            judge_id="selfcons3:m",
            faulty=sum(said) > 1,
            confidence=0.9,
            members=[Judgement(faulty=bool(vote), confidence=0.8) for vote in said],
        )
        for name, said in VOTES.items()
    )


@pytest.fixture
def table(members, labels) -> pd.DataFrame:
    return votes(members, labels)


def test_members_are_kept_in_order(members):
    assert members["faulty"].tolist() == [bool(vote) for said in VOTES.values() for vote in said]
    assert members["member"].tolist() == [0, 1, 2] * 5


def test_judges_without_members_give_an_empty_frame(labels):
    empty = member_frame([Verdict(trajectory_id="c0", judge_id="j", faulty=True, confidence=0.9)])
    assert empty.empty
    assert votes(empty, labels).empty


def test_votes_and_flip_rates_by_hand(table):
    found = table.set_index("trajectory_id")
    assert found["yes"].to_dict() == {"c0": 1, "w0": 3, "w1": 0, "s0": 2, "u0": 1}
    assert found["flip_rate"].to_dict() == pytest.approx({"c0": 2 / 3, "w0": 0, "w1": 0, "s0": 2 / 3, "u0": 2 / 3})


def test_distribution_is_within_kind(table):
    found = vote_distribution(table).set_index(["kind", "yes"])["share"].to_dict()
    assert found == pytest.approx(
        {("clean", 1): 1, ("loud", 2): 1, ("silent", 0): 1 / 3, ("silent", 1): 1 / 3, ("silent", 3): 1 / 3}
    )


def test_majority_averages_over_the_choice_of_members(table):
    found = majority_at(table).set_index("k")
    assert found.index.tolist() == [1, 3]
    assert found.loc[1].drop("judge_id").tolist() == pytest.approx([(1 + 0 + 2 / 3 + 1 / 3) / 4, 4 / 9, 2 / 3, 1 / 3])
    assert found.loc[3].drop("judge_id").tolist() == pytest.approx([2 / 4, 1 / 3, 1, 0])


def test_even_number_of_members_has_no_majority(table):
    with pytest.raises(UserError, match="odd"):
        majority_at(table, [2])


def test_misses_are_compared_with_independence(members, labels):
    (found,) = shared_misses(members, labels).to_dict("records")
    assert (found["faults"], found["k"], found["missed_by_all"]) == (4, 3, 1)
    assert found["observed"] == 1 / 4
    assert found["independent"] == pytest.approx(1 / 4 * 2 / 4 * 3 / 4)
    assert found["independent_in_cells"] == pytest.approx(2 / 4 * 0.5**3)
    assert found["shared_of_missed"] == 1 / 3


def test_vote_share_and_stated_confidence_are_two_readings_of_one_verdict(table):
    found = confidence_sources(table).set_index("source")
    assert found["accuracy"].tolist() == [3 / 5, 3 / 5]
    assert found.loc["vote share", "confidence"] == pytest.approx((2 / 3 + 1 + 1 + 2 / 3 + 2 / 3) / 5)
    assert found.loc["vote share", "brier"] == pytest.approx((1 / 9 + 0 + 1 + 1 / 9 + 4 / 9) / 5)
    assert found.loc["stated", "ece"] == pytest.approx(0.2)


def test_members_about_unknown_trajectories_are_refused(members, labels):
    with pytest.raises(UserError, match="unknown trajectory u0"):
        votes(members, labels[labels["trajectory_id"] != "u0"])
