"""Is a judge able at all? Within kinds of case, beside judges that do not look."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from lib.analysis.bench import Bench
from lib.analysis.estimates import MOST_UNREAD
from lib.analysis.power import smallest_j
from lib.analysis.significance import ALPHA, Within, within_strata

Grade = Literal["above", "below", "not shown", "a baseline", "too few", "withheld: most replies unread"]
LEAST = 10
"""Faulty and clean trajectories that a judge needs to be graded."""
FIELDS = (
    *("judge", "n", "recall", "false_alarm_rate", "flagged", "j", "within", "low", "high", "p"),
    *("strata", "smallest", "grade"),
)


def floor(bench: Bench) -> pd.DataFrame:
    """Whether each judge tells faulty from clean trajectories of one kind of case.

    A judge that flags some kinds of case, fault or no fault, passes a test across strata: hence within them, exactly,
    and "not shown" is no finding that it sees nothing.

    Returns:
        Frame of FIELDS: ``j`` is Youden's J over all, ``within`` (with its interval) what is left of it within strata,
        ``p`` exact, ``smallest`` the J that 80 % power would have shown with so many trajectories, ``grade``.
    """
    rows: list[list[object]] = []
    for judge, own in bench.verdicts.groupby("judge", sort=False):
        faults, clean = own[own["faulty"]], own[~own["faulty"]]
        recall, alarms = (float(part["flagged"].mean()) if len(part) else np.nan for part in (faults, clean))
        found = within_strata(own)
        few = min(len(faults), len(clean)) < LEAST or not found.strata
        smallest = np.nan if few else smallest_j(len(faults), len(clean), alarms)
        grade = _grade(bench, str(judge), found, few=few)
        values = [recall, alarms, float(own["flagged"].mean()), recall - alarms, *found[:3], found.p, found.strata]
        rows.append([judge, len(own), *values, smallest, grade])
    return pd.DataFrame(rows, columns=list(FIELDS))


def _grade(bench: Bench, judge: str, found: Within, *, few: bool) -> Grade:
    """Above or below where both the exact test (rows) and the interval (instances) say so."""
    if bench.about[judge].baseline:
        return "a baseline"
    if bench.unread[judge] > MOST_UNREAD:
        return "withheld: most replies unread"
    if few:
        return "too few"
    if found.p >= ALPHA or found.low <= 0 <= found.high:
        return "not shown"
    return "above" if found.value > 0 else "below"
