"""Chapter 7: whether stated confidence can be used, and what a verdict costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.analysis.calibration import calibration_summary, confidence_support, separation
from lib.analysis.capability import BASELINES
from lib.analysis.judges import with_model
from lib.analysis.scores import Estimate, Scores
from lib.show.tables import Table, interval_cell
from lib.book.scoreboard import NO_MODEL, NO_VERDICTS, estimate_cell
from lib.show.text import Prose, listed, prose, said
from lib.book.unread import mostly_unread
from lib.run.manifest import COLLECTIONS

STEP = 0.05
"""Width of the bars in which stated confidences are counted."""


def answer(scores: Scores, rows: pd.DataFrame) -> Prose:
    """Which judge's confidence is nearest to how often it is right, and which one's is furthest."""
    if not scores.judges:
        return prose(NO_VERDICTS)
    models = with_model(scores.judges)
    unread = mostly_unread(scores, models)
    judges = [judge for judge in models if judge not in unread]
    if models and not judges:
        return prose("Most verdicts of each judge with a model count as 0.5, since the replies could not be read.")
    if not models:
        others = [judge for judge in scores.judges if judge not in BASELINES]
        return said(prose(NO_MODEL), *(_sureness(rows[rows["judge_id"] == judge], judge) for judge in others))
    near, far = (pick(judges, key=lambda judge: scores.estimate(judge, "ece").value) for pick in (min, max))
    first = prose(
        "The expected calibration error (mean distance of stated confidence from share right) is {ece:ci} for "
        "{near:code}"
        + (
            ", the only judge with a model."
            if len(models) == 1
            else ", the only judge with a model that could be read."
            if len(judges) == 1
            else ", as for every judge with a model."
            if scores.estimate(near, "ece").value == scores.estimate(far, "ece").value
            else ", the lowest, and {other:ci} for {far:code}, the highest."
        ),
        near=near,
        ece=scores.estimate(near, "ece"),
        far=far,
        other=scores.estimate(far, "ece"),
    )
    left_out = prose("Left out are judges most of whose replies could not be read, and count as 0.5: {unread}.", unread=listed(unread))
    return said(
        first,
        left_out if unread else None,
        _sureness(rows[rows["judge_id"] == far], far),
        _separates(rows, near),
        _narrow(rows, judges),
    )


def _sureness(own: pd.DataFrame, judge: str) -> Prose:
    stated, right = float(own["confidence"].mean()), float(own["right"].mean())
    how = "surer than it should be" if stated > right else "less sure than it could be" if stated < right else "fair"
    return prose(
        "{judge:code} states {stated:.3f} on average and is right in {right:.3f} of its {n} verdicts ({how}).",
        judge=judge,
        stated=stated,
        right=right,
        n=len(own),
        how=how,
    )


def _separates(rows: pd.DataFrame, near: str) -> Prose:
    """Whether the confidence of the best calibrated judge tells its right verdicts from its wrong ones."""
    row = separation(rows[rows["judge_id"] == near]).iloc[0]
    area = Estimate(row["auc"], row["low"], row["high"], int(row["right"] + row["wrong"]))
    if math.isnan(area.value):
        return prose("{near:code} has too few right verdicts, or too few wrong ones, for its confidence to tell them apart.", near=near)
    return prose(
        "Being right on average as often as stated is not telling single cases apart: of two verdicts of {near:code}, "
        "one right and one wrong, the right one carries more confidence in {area:ci} of all pairs, ties counting half, "
        + (
            "better than the {half} of a coin."
            if area.low > 0.5
            else "worse than the {half} of a coin."
            if area.high < 0.5
            else "which cannot be told from the {half} of a coin."
        ),
        near=near,
        area=area,
        half=0.5,
    )


def _narrow(rows: pd.DataFrame, judges: Sequence[str]) -> Prose:
    """Judges that say the same number most of the time."""
    summary = calibration_summary(rows[rows["judge_id"].isin(judges)])
    narrow = summary[summary["commonest_share"] > 0.5]
    if narrow.empty:
        return prose("No judge states one and the same confidence in more than half of its verdicts.")
    return prose(
        "{judges} {verb} one and the same number in more than half of all verdicts.",
        judges=listed(narrow["judge_id"]),
        verb="states" if len(narrow) == 1 else "each state",
    )


def calibration_table(scores: Scores, rows: pd.DataFrame) -> Table | Prose:
    """ECE and Brier with intervals, beside mean confidence and share right."""
    if not scores.judges:
        return prose(NO_VERDICTS)
    summary = calibration_summary(rows)
    frame = pd.DataFrame(
        {
            "judge": summary["judge_id"],
            "n": summary["n"],
            "ECE": [estimate_cell(scores.estimate(judge, "ece")) for judge in summary["judge_id"]],
            "Brier": [estimate_cell(scores.estimate(judge, "brier")) for judge in summary["judge_id"]],
            "confidence, mean": summary["confidence"],
            "share right": summary["accuracy"],
            "confidence − right": summary["confidence"] - summary["accuracy"],
        }
    )
    return Table(
        frame.set_index("judge"), "Calibration against the faulty-or-clean verdict, 95 % intervals", data=summary
    )


def support_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Verdicts per bar of stated confidence, empty ones too: judge_id, confidence (lower end, as text), n."""
    table = confidence_support(rows)
    bar = np.floor(table["confidence"].to_numpy(float) / STEP + 1e-9) * STEP
    counts = table.assign(confidence=[f"{low:.2f}" for low in bar]).groupby(["judge_id", "confidence"])["n"].sum()
    judges = list(dict.fromkeys(table["judge_id"]))
    every = pd.MultiIndex.from_product([judges, support_rows()], names=["judge_id", "confidence"])
    return counts.reindex(every, fill_value=0).reset_index()


def support_rows() -> list[str]:
    """The bars from 0.5 to 1."""
    return [f"{low:.2f}" for low in np.arange(0.5, 1 + STEP / 2, STEP)]


def support_table(rows: pd.DataFrame) -> Table | Prose:
    """How many different confidences a judge states, and whether they tell right from wrong."""
    summary = calibration_summary(rows).merge(separation(rows), on="judge_id")
    if summary.empty:
        return prose(NO_VERDICTS)
    frame = pd.DataFrame(
        {
            "judge": summary["judge_id"],
            "different values": summary["distinct"],
            "commonest": [f"{one.commonest:.2f} ({one.commonest_share:.0%})" for one in summary.itertuples()],
            "when right": summary["right_confidence"],
            "when wrong": summary["wrong_confidence"],
            "right ranked above wrong": [interval_cell(one.auc, one.low, one.high) for one in summary.itertuples()],
        }
    )
    return Table(frame.set_index("judge"), "Stated confidence: its support, and its mean by outcome", data=summary)


def cost_answer(frame: pd.DataFrame) -> Prose:
    """Which judges are worth their time.

    Args:
        frame: of ``cost.cost_frame``.
    """
    if frame.empty:
        return prose("There is no judge here whose cost could be weighed.")
    frame = frame.dropna(subset=["value", "seconds"])
    if frame.empty:
        return prose("No judge has both a Youden's J and its seconds, so none can be weighed against another.")
    best, beaten = frame[frame["unbeaten"]].sort_values("seconds"), frame[~frame["unbeaten"]]
    if beaten.empty:
        return said(_span(frame), prose("By their values, no judge is beaten by one that is as fast or faster."))
    return said(
        _span(frame),
        prose(
            "By their values, {beaten} {verb} no better than a judge that is as fast or faster; that leaves {best}.",
            beaten=listed(beaten["judge_id"]),
            verb="is" if len(beaten) == 1 else "are each",
            best=listed(best["judge_id"]),
        ),
    )


def _span(frame: pd.DataFrame) -> Prose:
    """How long the judges with a model took."""
    timed = frame[frame["judge_id"].isin(with_model(frame["judge_id"]))].dropna(subset=["seconds"])
    if timed.empty:
        return prose("No model was asked, so no time worth counting was spent.")
    fast, slow = timed.loc[timed["seconds"].idxmin()], timed.loc[timed["seconds"].idxmax()]
    if fast["judge_id"] == slow["judge_id"]:
        return prose("A verdict of {judge:code} took {s:.3g} s on average.", judge=fast["judge_id"], s=fast["seconds"])
    return prose(
        "A verdict took {least:.3g} s on average with {fast:code} and {most:.3g} s with {slow:code}.",
        least=fast["seconds"],
        fast=fast["judge_id"],
        most=slow["seconds"],
        slow=slow["judge_id"],
    )


def cost_table(scores: Scores, frame: pd.DataFrame) -> Table | Prose:
    """Seconds and tokens per trajectory, and quality, with intervals (hours in all are in the data)."""
    if frame.empty:
        return prose("So there is no table of costs.")
    rows = [
        (
            one.judge_id,
            one.n,
            estimate_cell(scores.estimate(one.judge_id, "seconds_per_trajectory"), 2),
            estimate_cell(scores.estimate(one.judge_id, "prompt_tokens_per_trajectory"), 0),
            estimate_cell(scores.estimate(one.judge_id, "completion_tokens_per_trajectory"), 0),
            estimate_cell(scores.estimate(one.judge_id, "youden_j")),
            "yes" if one.unbeaten else "no",
        )
        for one in frame.itertuples()
    ]
    columns = ["judge", "n", "seconds", "tokens read", "tokens written", "Youden's J", "unbeaten"]
    caption = "Cost per trajectory and quality, with 95 % intervals"
    return Table(pd.DataFrame(rows, columns=columns).set_index("judge"), caption, data=frame)


def waiting(settings: Mapping[str, Mapping[str, Any] | None], judges: Sequence[str]) -> Prose | None:
    """What the seconds of judges with a model hold besides their own work; None where one request was made at a time.

    Args:
        settings: each judge's entry in run.json.
    """
    recorded = [(settings.get(judge) or {}).get(COLLECTIONS, []) for judge in with_model(judges)]
    workers = {one["workers"] for each in recorded for one in each if isinstance(one.get("workers"), int)}
    if not workers or max(workers) == 1:
        return None
    least, most = min(workers), max(workers)
    return prose(
        "These seconds hold waiting: {span} requests were in flight at once. They rank judges only roughly; tokens, which do "
        "not wait, are in the table.",
        span=f"{least}" if least == most else f"{least} to {most}",
    )
