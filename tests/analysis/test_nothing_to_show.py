"""A run without verdicts, episodes or members gives tables with their columns and no rows, not an error."""

from __future__ import annotations

import pytest

from lib.analysis import ensembles, episodes, naming, ranking, reliability, significance
from lib.analysis.bench import Bench
from lib.analysis.floor import floor

ROW_TABLES = [
    reliability.reliability,
    reliability.calibration,
    reliability.confidence_support,
    naming.confusion,
    naming.type_scores,
    naming.step_offsets,
    naming.commonest_step,
    ranking.areas,
    significance.pairs_with_parents,
    lambda rows: significance.mcnemar(significance.pairs_with_parents(rows)),
]


@pytest.mark.parametrize("table", ROW_TABLES)
def test_tables_of_verdicts_keep_their_columns(rows, table):
    empty = table(rows.head(0))
    assert empty.empty
    assert list(empty.columns) == list(table(rows).columns)


def test_tables_of_members_are_empty(rows, board):
    none = ensembles.votes(rows, board.about, {})
    for table in (ensembles.flips, ensembles.majority_at, ensembles.missed_by_all):
        assert table(none).empty


def test_tables_of_episodes_are_empty():
    frame = episodes.episode_frame([])
    assert episodes.by_fault_type(frame).empty
    assert episodes.tool_use(episodes.call_frame([])).empty


def test_a_bench_without_judges_is_empty(rows):
    none = Bench(rows.head(0), {}, reps=5)
    assert none.score().empty
    assert none.rates(none.verdicts, "flagged").empty
    assert floor(none).empty
