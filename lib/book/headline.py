"""The book's headline: what changes for a judge when it is shown the steps, in a sentence and a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from lib.show import charts
from lib.analysis.gate import view_pairs
from lib.analysis.scores import Scores
from lib.show.text import Prose, prose, said
from lib.book.unread import unread_warning

PARTS = dict(zip(("silent_recall", "loud_recall", "false_alarm_rate"), charts.PARTS, strict=True))
CAPTION = "The grey line is the judge's own false-alarm rate: recall at or near it is no detection."


class Headline(NamedTuple):
    """The answer in words, and the figure that shows it."""

    answer: Prose
    chart: charts.AnyChart


def headline(scores: Scores, order: Sequence[str]) -> Headline:
    """The headline of a run.

    Args:
        order: the run's full order of judges.
    """
    return Headline(_answer(scores), survival_chart(scores, order))


def survival_chart(scores: Scores, order: Sequence[str], judges: Sequence[str] | None = None) -> charts.AnyChart:
    """Silent and loud recall of every judge (or of ``judges``) against its false alarms."""
    shown = scores.judges if judges is None else judges
    found = scores.metrics[scores.metrics["metric"].isin(PARTS) & scores.metrics["judge_id"].isin(shown)]
    rows = found.assign(part=found["metric"].map(PARTS)).drop(columns="metric")
    said = "; ".join(f"{judge} {_spoken(own)}" for judge, own in rows.groupby("judge_id", sort=False))
    chart = charts.recall_by_survival(
        rows,
        order,
        title="Recall of silent and loud faults, against false alarms",
        description=f"Dot plot of the share flagged, per judge, with 95 percent intervals: {said}.",
    )
    return charts.captioned(chart, CAPTION)


def _answer(scores: Scores) -> Prose:
    models = [pair.model for pair in view_pairs(scores.judges) if _compared(scores, pair.model)]
    if not models:
        return prose(
            "No model has judged enough of this run in both views yet, so the question is open here. The figure shows "
            "what there is, beside the rules and the baselines that every judge has to beat."
        )
    best = max(models, key=lambda model: scores.estimate(f"step:{model}", "youden_j").value)
    outcome, step = f"outcome:{best}", f"step:{best}"
    gain, wary = scores.delta(step, outcome, "silent_recall"), scores.delta(step, outcome, "false_alarm_rate")
    found = prose(
        "Shown only the goal and the final answer, {best:code} flags {silent:ci} of the silent faults and {alarms:ci} "
        "of the clean trajectories. Shown the steps, the same model flags {silent_step:ci} and {alarms_step:ci}. From "
        "one to the other, over the {n} trajectories judged in both views, its recall of silent faults changes by "
        "{gain:+.3f} and its false-alarm rate by {wary:+.3f}. " + _verdict(gain.low, gain.high, wary.low, wary.high),
        best=best,
        silent=scores.estimate(outcome, "silent_recall"),
        alarms=scores.estimate(outcome, "false_alarm_rate"),
        silent_step=scores.estimate(step, "silent_recall"),
        alarms_step=scores.estimate(step, "false_alarm_rate"),
        n=gain.n,
        gain=gain.value,
        wary=wary.value,
    )
    return said(found, unread_warning(scores, [outcome, step]))


def _compared(scores: Scores, model: str) -> bool:
    """Whether both views of a model have been judged on enough trajectories for the two differences to exist."""
    deltas = [scores.delta(f"step:{model}", f"outcome:{model}", metric) for metric in PARTS]
    return not any(math.isnan(delta.value) for delta in deltas)


def _verdict(gain_low: float, gain_high: float, alarms_low: float, alarms_high: float) -> str:
    """What the two differences say, where their intervals allow to say it."""
    if gain_low > 0 and alarms_high < 0:
        return "Seeing the steps helps: it catches more and disturbs less."
    if gain_low > 0 and alarms_low > 0:
        return "It catches more because it flags more."
    if gain_low > 0:
        return "It catches more, and no change of its false alarms can be seen."
    if gain_high < 0 and alarms_high < 0:
        return "Shown the steps it mostly flags less, faults and clean trajectories alike."
    if gain_low <= 0 <= gain_high and alarms_low <= 0 <= alarms_high:
        return "Neither difference is clear of zero: for this model the steps make none that can be seen here."
    return ""


def _spoken(own: pd.DataFrame) -> str:
    return ", ".join(f"{row.part} {row.value:.2f}" for row in own.itertuples() if pd.notna(row.value))
