"""A run without verdicts, episodes or members gives tables with their columns and no rows, not an error."""

from __future__ import annotations

import pytest

from lib.analysis import agreement, attribution, calibration, capability, episodes, members
from lib.analysis.joined import joined
from lib.analysis.scores import score

ROW_TABLES = [
    calibration.reliability,
    calibration.calibration_summary,
    calibration.confidence_support,
    attribution.confusion,
    attribution.type_scores,
    attribution.step_offsets,
    agreement.matched_pairs,
    agreement.judge_agreement,
    agreement.by_stratum,
    lambda rows: agreement.mcnemar(agreement.matched_pairs(rows)),
]


@pytest.mark.parametrize("table", ROW_TABLES)
def test_tables_of_verdicts_keep_their_columns(labels, verdicts, rows, table):
    empty = table(joined(labels, verdicts.head(0)))
    assert empty.empty
    assert list(empty.columns) == list(table(rows).columns)


def test_tables_of_members_are_empty(labels):
    none = members.member_frame([])
    votes = members.votes(none, labels)
    for table in (members.vote_distribution, members.majority_at, members.confidence_sources):
        assert table(votes).empty
    assert members.shared_misses(none, labels).empty


def test_tables_of_episodes_are_empty():
    frame = episodes.episode_frame([])
    assert episodes.by_stratum(frame).columns[0] == "stratum"
    assert episodes.by_fault_type(frame).empty
    assert episodes.lengths(frame).empty
    assert episodes.tool_use(episodes.call_frame([])).empty


def test_floor_check_of_no_judges_is_empty(labels, verdicts):
    assert capability.floor_check(score(labels, verdicts.head(0), reps=5)).empty
