"""The judges of all runs of a book in one frame, and the ceiling that those without the steps stay under."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.analysis.ceiling import Ceiling
from lib.analysis.judges import judge_name, with_model
from lib.analysis.scores import Scores, score
from lib.show.text import Prose, prose, said
from lib.run.folder import Run


def across(runs: Sequence[tuple[str, Scores]]) -> pd.DataFrame:
    """The judges of several runs in one frame.

    Returns:
        Frame run, judge_id (with the run in brackets for a judge with a model of any run but the first), n,
        false_alarm_rate, silent_recall. A judge without a model is taken from the first run that has it; a judge
        without a rate is left out.
    """
    rows = []
    for run, scores in runs:
        for judge in scores.judges:
            rates = (scores.estimate(judge, metric).value for metric in ("false_alarm_rate", "silent_recall"))
            rows.append((run, judge, scores.n[judge], *rates))
    frame = pd.DataFrame(rows, columns=["run", "judge_id", "n", "false_alarm_rate", "silent_recall"])
    if frame.empty:
        return frame
    models = set(with_model(frame["judge_id"]))
    frame = frame[frame["judge_id"].isin(models) | ~frame["judge_id"].duplicated()]
    elsewhere = frame["judge_id"].isin(models) & (frame["run"] != runs[0][0])
    frame["judge_id"] = np.where(elsewhere, frame["judge_id"] + " (" + frame["run"] + ")", frame["judge_id"])
    return frame.dropna(subset=["false_alarm_rate", "silent_recall"]).reset_index(drop=True)


def ceiling_reading(frame: pd.DataFrame, ceiling: Ceiling | None) -> Prose:
    """What the ceiling says of the judges that see the outcome only, in a frame of ``across``."""
    if ceiling is None:
        return prose("No ceiling is drawn, since the clean parents of some faulty trajectories are not known.")
    limit = prose(
        "In the outcome view only {visible} of {silent} silent faults change anything that a judge is shown, so "
        "without flagging the very text of a clean trajectory no such judge can catch more than {limit:.3f}.",
        visible=ceiling.silent_visible,
        silent=ceiling.silent,
        limit=ceiling.silent_recall,
    )
    seen = frame[np.array([judge_name(judge).kind == "outcome" for judge in frame["judge_id"]], dtype=bool)]
    above = seen[seen["silent_recall"] > ceiling.silent_recall]
    if seen.empty:
        return said(limit, prose("No judge of the outcome view can be put beside that here."))
    if above.empty:
        return said(limit, prose("No judge of the outcome view is above that."))
    each = [
        prose("{judge:code} with {rate:.3f}", judge=one.judge_id, rate=one.false_alarm_rate)
        for one in above.itertuples()
    ]
    return said(
        limit,
        prose("Those above it pay in false alarms: {each}.", each=Prose(", ".join(one.markdown for one in each))),
    )


def point_scores(run: Run) -> Scores:
    """The scores of another run, of which only the values are shown."""
    frames = run.frames(text=False)
    return score(frames.trajectories, frames.verdicts, reps=1, order=list(run.judges(frames.verdicts)))
