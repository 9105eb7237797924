"""Equal texts must get equal verdicts: ceilings by hand and of the testbed's two views (design, item 1)."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.analysis.ceiling import ceiling, frontier
from lib.desk.injector import JudgedSet
from lib.judging.prompts import render_view
from lib.records import cell_of, view_of

RUNS = pd.DataFrame(
    [
        ("same", False, "clean"),
        ("same", True, "wrong_tool/silent"),
        ("same", True, "ignored_observation/loud"),
        ("other", False, "clean"),
        ("cut", True, "premature_stop/loud"),
        ("claim", True, "unsupported_claim/silent"),
    ],
    columns=["text", "faulty", "cell"],
)


def test_ceiling_by_hand():
    found = ceiling(RUNS)
    assert (found.recall, found.silent_recall, found.loud_recall) == (2 / 4, 1 / 2, 1 / 2)
    assert found.cells.set_index("cell")["ceiling"].to_dict() == {
        "wrong_tool/silent": 0,
        "ignored_observation/loud": 0,
        "premature_stop/loud": 1,
        "unsupported_claim/silent": 1,
    }


def test_frontier_by_hand():
    points = frontier(RUNS)[["false_alarm_rate", "recall"]].to_numpy().tolist()
    assert points == [[0, 2 / 4], [1 / 2, 1], [1, 1]]


def test_frontier_starts_at_the_ceiling_even_where_that_is_zero():
    hidden = RUNS[RUNS["text"] == "same"]
    assert ceiling(hidden).recall == 0
    assert frontier(hidden)[["false_alarm_rate", "recall"]].to_numpy().tolist() == [[0, 0], [1, 1]]


def test_ceiling_without_loud_faults_is_undefined_for_them():
    assert pd.isna(ceiling(RUNS[~RUNS["cell"].str.endswith("loud")]).loud_recall)


@pytest.fixture(scope="module")
def judged() -> list:
    judged_set = JudgedSet(400, 7)
    runs = {t.trajectory_id: t for t in judged_set}
    for trajectory in list(runs.values()):
        if trajectory.label.faulty:
            parent = judged_set.parent(trajectory)
            runs.setdefault(parent.trajectory_id, parent)
    return list(runs.values())


def views(judged, *, steps: bool) -> pd.DataFrame:
    rows = [(render_view(view_of(t, steps=steps)), t.label.faulty, cell_of(t.label)) for t in judged]
    return pd.DataFrame(rows, columns=["text", "faulty", "cell"])


def test_outcome_view_allows_two_silent_faults_in_seven_and_two_loud_in_five(judged):
    found = ceiling(views(judged, steps=False))
    assert (found.silent_visible, found.silent, found.loud_visible, found.loud) == (50, 175, 50, 125)
    assert (round(found.silent_recall, 3), round(found.loud_recall, 3)) == (0.286, 0.400)
    assert found.clean == 141  # the 49 mutants whose parent is not among the 100 come from 41 instances


def test_without_the_parents_a_missing_twin_would_pass_for_a_visible_fault(judged):
    found = ceiling(views(judged[:400], steps=False))
    assert (round(found.silent_recall, 3), round(found.loud_recall, 3)) == (0.331, 0.728)


def test_step_view_hides_nothing(judged):
    found = ceiling(views(judged, steps=True))
    assert (found.silent_recall, found.loud_recall) == (1, 1)
