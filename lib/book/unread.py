"""Verdicts that were not read from a whole reply: how many there are, and how much hangs on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lib.analysis.scores import Scores
from lib.show.tables import Table, interval_cell
from lib.book.scoreboard import LABELS, NO_VERDICTS
from lib.show.text import Prose, listed, prose

METRICS = ("f1", "silent_recall", "loud_recall", "false_alarm_rate", "youden_j")


def unread(scores: Scores) -> Prose | Table:
    """How many verdicts were not read from a whole reply: a sentence where all were, else a table."""
    if not scores.judges:
        return prose(NO_VERDICTS)
    broken = scores.status[scores.status["ok"] < scores.status["n"]]
    if broken.empty:
        return prose("Every one of the {n} verdicts was read from a whole reply.", n=int(scores.status["n"].sum()))
    return Table(
        broken.rename(columns={"judge_id": "judge"}).set_index("judge"),
        "Replies that could not be read (unparseable) or were cut off (truncated); the other judges have none",
    )


def readings_table(scores: Scores) -> Prose | Table:
    """What the main metrics would be if each verdict that is not ok were wrong, or right."""
    found = scores.readings[scores.readings["metric"].isin(METRICS)]
    if found.empty:
        return prose("So there is only one reading of the scores.")
    cells = found.assign(cell=[_cell(row.value, row.worst, row.best) for row in found.itertuples()])
    wide = cells.set_index(["judge_id", "metric"])["cell"].unstack(sort=False)[list(METRICS)].rename(columns=LABELS)
    return Table(
        wide.rename_axis(index="judge", columns=None),
        "Scores with each such verdict as clean (in brackets: if each were wrong, and if each were right)",
        data=found,
    )


def _cell(value: float, worst: float, best: float) -> str:
    shown = interval_cell(value)
    return shown if math.isnan(value) else f"{shown} ({interval_cell(worst)} to {interval_cell(best)})"


def mostly_unread(scores: Scores, judges: Sequence[str]) -> list[str]:
    """Those of the judges most of whose replies could not be read."""
    status = scores.status.set_index("judge_id")
    return [judge for judge in judges if 2 * status["ok"][judge] < status["n"][judge]]


def unread_warning(scores: Scores, judges: Sequence[str]) -> Prose | None:
    """A warning of judges whose rates are those of replies that could not be read; None where there are none."""
    found = mostly_unread(scores, judges)
    if not found:
        return None
    return prose(
        "Most replies of {judges} could not be read and count as clean, so its rates say little of what it saw."
        if len(found) == 1
        else "Most replies of {judges} could not be read and count as clean, so their rates say little of what they saw.",
        judges=listed(found),
    )
