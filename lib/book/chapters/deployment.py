"""Chapter 1: what follows if a judge is the gate that agents' work has to pass."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from lib.analysis.gate import CASES, gate
from lib.analysis.scores import Estimate, Scores
from lib.show.tables import Table
from lib.book.scoreboard import NO_VERDICTS, estimate_cell
from lib.show.text import Prose, bullets, prose, said


def gate_answer(scores: Scores, judges: Sequence[str], base_rate: float) -> Prose:
    """What each judge lets through, and what its alarms are worth."""
    if not judges:
        return prose(NO_VERDICTS)
    table = gate(scores, base_rate)
    return bullets(_sentence(table, judge, base_rate) for judge in judges)


def _sentence(table: pd.DataFrame, judge: str, base_rate: float) -> Prose:
    passed, alarms, precision = (_quantity(table, judge, name) for name in ("passed", "alarms", "precision"))
    if math.isnan(passed.value) or math.isnan(alarms.value):
        return prose(
            "{judge:code} has judged no silent fault, or no clean trajectory, so it cannot be used as one.", judge=judge
        )
    worth = (
        prose("It raises no alarm at all.")
        if math.isnan(precision.value)
        else prose(
            "If {rate:.3g} % of cases are silently faulty, the share of true ones among its alarms is {precision:ci}.",
            rate=100 * base_rate,
            precision=precision,
        )
    )
    return said(
        prose(
            "Of {n:,d} silently faulty cases {judge:code} lets {passed} pass; of {n:,d} clean ones it stops {alarms}.",
            n=CASES,
            judge=judge,
            passed=Prose(estimate_cell(passed, 0)),
            alarms=Prose(estimate_cell(alarms, 0)),
        ),
        worth,
    )


def gate_table(scores: Scores, base_rate: float) -> Table | Prose:
    """Every judge as a gate."""
    if not scores.judges:
        return prose(NO_VERDICTS)
    table = gate(scores, base_rate)
    rows = [
        (
            judge,
            estimate_cell(_quantity(table, judge, "passed"), 0),
            estimate_cell(_quantity(table, judge, "alarms"), 0),
            estimate_cell(_quantity(table, judge, "precision")),
        )
        for judge in scores.judges
    ]
    share = f"share of alarms that are true, {100 * base_rate:.3g} % faulty"
    columns = ["judge", "silent faults let through", "clean trajectories stopped", share]
    caption = f"A judge as a gate, for {CASES:,d} silently faulty and {CASES:,d} clean cases"
    return Table(pd.DataFrame(rows, columns=columns).set_index("judge"), caption, data=table)


def _quantity(table: pd.DataFrame, judge: str, name: str) -> Estimate:
    row = table[(table["judge_id"] == judge) & (table["quantity"] == name)].iloc[0]
    return Estimate(row["value"], row["low"], row["high"], CASES)
