"""Chapter 1: what no judge of a view can exceed, and by which false alarms one seems to."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lib.analysis.judges import judge_name
from lib.analysis.scores import Scores
from lib.show.tables import DASH, Table, interval_cell
from lib.book.scoreboard import estimate_cell
from lib.show.text import Prose, prose, said
from lib.book.views import Views
from lib.records import Sees

KINDS: tuple[Sees, ...] = ("outcome", "step")
UNKNOWN = "The clean parents of some faulty trajectories are not known, so no ceiling can be given."


def limits_answer(views: Views) -> Prose:
    """How many faults each view shows, and where the clean parents are from."""
    ceilings = {kind: views.ceiling(kind) for kind in KINDS}
    outcome, step = ceilings["outcome"], ceilings["step"]
    where = prose("{text}", text=views.provenance())
    if outcome is None or step is None:
        return said(prose(UNKNOWN), where)
    return said(
        prose(
            "Put beside its clean parent, a fault changes the text that an outcome judge is shown in {a} of {silent} "
            "silent and {b} of {loud} loud cases, and the text that a step judge is shown in {c} and {d} of them. "
            "Equal texts get equal verdicts, so an outcome judge that raises no false alarm can catch at most "
            "{limit:.3f} of the silent faults and {loud_limit:.3f} of the loud ones.",
            a=outcome.silent_visible,
            silent=outcome.silent,
            b=outcome.loud_visible,
            loud=outcome.loud,
            c=step.silent_visible,
            d=step.loud_visible,
            limit=outcome.silent_recall,
            loud_limit=outcome.loud_recall,
        ),
        where,
    )


def limits_table(views: Views, scores: Scores, verdicts: pd.DataFrame, judges: Sequence[str]) -> Table | Prose:
    """Each judge beside the ceiling of its view, over the trajectories that it judged."""
    rows = []
    for judge in judges:
        judged = verdicts.loc[verdicts["judge_id"] == judge, "trajectory_id"]
        found = views.ceiling("step" if judge_name(judge).sees_steps else "outcome", list(judged))
        if found is None:
            return prose(UNKNOWN)
        cells = [estimate_cell(scores.estimate(judge, f"{part}_recall")) for part in ("silent", "loud")]
        alarms = estimate_cell(scores.estimate(judge, "false_alarm_rate"))
        silent, loud = (interval_cell(value) for value in (found.silent_recall, found.loud_recall))
        rows.append((judge, cells[0], silent, cells[1], loud, alarms))
    columns = ["judge", "silent recall", "its ceiling", "loud recall", "its ceiling ", "false alarms"]
    frame = pd.DataFrame(rows, columns=columns).set_index("judge")
    return Table(frame, "Recall beside the ceiling of what the judge is shown; above it only with false alarms")


def hidden_table(views: Views) -> Table | Prose:
    """Per design cell, how many faults change what each view shows."""
    found = {kind: views.ceiling(kind) for kind in KINDS}
    if found["outcome"] is None or found["step"] is None:
        return prose(UNKNOWN)
    cells = [one.cells.set_index("cell")[["n", "visible"]] for one in found.values() if one is not None]
    frame = pd.DataFrame(
        {"faults": cells[0]["n"], "outcome view": cells[0]["visible"], "step view": cells[1]["visible"]}
    )
    return Table(
        frame.rename_axis(index="fault type / outcome").fillna(DASH), "Faults that change the text a judge is shown"
    )
