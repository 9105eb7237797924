"""Chapter 1: the same model with and without the steps, and what its recall is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lib.analysis.agreement import ALL
from lib.analysis.capability import BASELINES, floor_check
from lib.show.charts import ANCHOR
from lib.analysis.gate import ViewPair, view_pairs
from lib.analysis.judges import with_model
from lib.analysis.scores import Scores
from lib.show.tables import DASH, Table, interval_cell
from lib.book.scoreboard import LABELS, NO_VERDICTS, contrast, estimate_cell
from lib.book.unread import unread_warning
from lib.show.text import Prose, bullets, listed, prose, said
from lib.records import FAULT_TYPES

METRICS = ("silent_recall", "loud_recall", "loud_minus_silent", "false_alarm_rate", "youden_j")
LEVEL = 0.05
NO_TYPE = "no fault type"
FEW = 5
"""Pairs below which a share is not worth a sentence."""


@dataclass(frozen=True)
class Focus:
    """Which judges the chapter is about.

    Attributes:
        pairs: models judged in both views.
        judges: those of the pairs; without a pair, the judges with a model; without any, those that are no baseline.
    """

    pairs: list[ViewPair]
    judges: list[str]

    @classmethod
    def of(cls, scores: Scores) -> Focus:
        pairs = view_pairs(scores.judges)
        if pairs:
            return cls(pairs, [judge for pair in pairs for judge in (pair.outcome, pair.step)])
        others = [judge for judge in scores.judges if judge not in BASELINES]
        return cls([], with_model(scores.judges) or others)


def answer(scores: Scores, focus: Focus) -> Prose:
    """What seeing the steps changes, for each model judged in both views, no more than the intervals allow."""
    if not scores.judges:
        return prose(NO_VERDICTS)
    if not focus.pairs:
        return prose(
            "No model has judged this run in both views, so this chapter cannot compare them yet. What it says of a "
            "single judge is shown for {judges}.",
            judges=listed(focus.judges, "no judge"),
        )
    return bullets(_pair(scores, pair) for pair in focus.pairs)


def _pair(scores: Scores, pair: ViewPair) -> Prose:
    silent, alarms = (scores.delta(pair.step, pair.outcome, metric) for metric in ("silent_recall", "false_alarm_rate"))
    if math.isnan(silent.value):
        return prose(
            "No silent fault was judged by {model:code} in both views, so the two cannot be compared.", model=pair.model
        )
    gap = scores.estimate(pair.outcome, "loud_minus_silent")
    text = (
        "Shown goal and reply only, {model:code} flags {before:ci} of the silent faults; shown every step as well, it "
        "flags {after:ci}. Over the {n} trajectories judged in both views the difference is {silent:ci}, "
        + contrast(silent, "a gain", "a loss", "from which no change can be read")
        + (
            ". No clean trajectory was judged in both views, so nothing can be said of false alarms"
            if math.isnan(alarms.value)
            else ". The rate of false alarms changes by {alarms:ci}"
            + contrast(alarms, ": the steps cost false alarms", "", ", which may be chance" if alarms.value else "")
        )
        + ". Within the outcome view, loud minus silent recall is {gap:ci}"
        + contrast(gap, ": it is the silent faults that it misses.", ": it finds silent faults more often.", ".")
    )
    numbers = prose(
        text,
        model=pair.model,
        before=scores.estimate(pair.outcome, "silent_recall"),
        after=scores.estimate(pair.step, "silent_recall"),
        n=silent.n,
        silent=silent,
        alarms=alarms,
        gap=gap,
    )
    return said(numbers, unread_warning(scores, [pair.outcome, pair.step]), _caution(scores, pair))


def _caution(scores: Scores, pair: ViewPair) -> Prose | None:
    """A judge of few trajectories, or that does not tell faulty from clean, has no recall worth comparing."""
    floor = floor_check(scores, [pair.outcome, pair.step])
    few = floor[floor["passed"].isna()]["judge_id"].tolist()
    if few:
        return prose("But {few} judged so few faulty or clean trajectories that this says little.", few=listed(few))
    blind = floor[floor["passed"].eq(False)]["judge_id"].tolist()
    if not blind:
        return None
    return prose(
        "But {blind} {verb} not tell faulty from clean at all ({judges} of Youden's J {is_not} above 0), so that such "
        "a recall only says how readily a judge flags.",
        blind=listed(blind),
        verb="does" if len(blind) == 1 else "do",
        judges="the interval" if len(blind) == 1 else "no interval",
        is_not="is not" if len(blind) == 1 else "is",
    )


def pair_table(scores: Scores, focus: Focus) -> Table | Prose:
    """Both views of each model, and their paired difference."""
    if not focus.pairs:
        return prose("There is no pair of views to put in a table.")
    rows = []
    for pair in focus.pairs:
        for metric in METRICS:
            single = [estimate_cell(scores.estimate(judge, metric)) for judge in (pair.outcome, pair.step)]
            delta = scores.delta(pair.step, pair.outcome, metric)
            rows.append([pair.model, LABELS[metric], *single, estimate_cell(delta), delta.n])
    columns = ["model", "score", "outcome view", "step view", "step − outcome", "n, both"]
    frame = pd.DataFrame(rows, columns=columns)
    both = pd.concat([scores.metrics.rename(columns={"judge_id": "a"}), scores.deltas])
    judges = {judge for pair in focus.pairs for judge in (pair.outcome, pair.step)}
    kept = both["a"].isin(judges) & (both["b"].isna() | both["b"].isin(judges)) & both["metric"].isin(METRICS)
    caption = "The two views of each model, and their paired difference on the trajectories judged in both"
    return Table(frame.set_index(["model", "score"]), caption, data=both[kept])


def type_frame(scores: Scores, judges: Sequence[str]) -> pd.DataFrame:
    """Recall per fault type, with the false-alarm rate as the anchor row: judge_id, row, value, low, high, n."""
    rows = {"false_alarm_rate": ANCHOR, **{f"recall.{kind}": kind for kind in FAULT_TYPES}}
    own = scores.metrics[scores.metrics["judge_id"].isin(judges)]
    frame = own.assign(row=own["metric"].map(rows)).dropna(subset=["row", "value"])
    return frame[["judge_id", "row", "value", "low", "high", "n"]].reset_index(drop=True)


def type_table(frame: pd.DataFrame) -> Table:
    """The frame of ``type_frame`` with judges in columns."""
    cells = frame.assign(cell=[interval_cell(one.value, one.low, one.high) for one in frame.itertuples()])
    judges = list(dict.fromkeys(frame["judge_id"]))
    wide = cells.pivot_table(index="row", columns="judge_id", values="cell", aggfunc="first")[judges]
    wide = wide.reindex([row for row in (ANCHOR, *FAULT_TYPES) if row in wide.index])
    caption = "Share flagged of the clean trajectories (first row) and of each fault type, with 95 % intervals"
    return Table(wide.rename_axis(index="share flagged", columns=None), caption, data=frame)


def pairs_answer(tests: pd.DataFrame, scores: Scores) -> Prose:
    """What the matched pairs say of each judge, and where recall and seeing the fault are furthest apart."""
    judges = list(dict.fromkeys(tests["judge_id"]))
    if not judges:
        return prose("No judge has judged a faulty trajectory together with its clean parent.")
    return bullets(_pairs_of(tests[tests["judge_id"] == judge], judge, scores) for judge in judges)


def _pairs_of(own: pd.DataFrame, judge: str, scores: Scores) -> Prose:
    typed = own[own["true_type"] != ALL]
    more = typed[(typed["p_holm"] < LEVEL) & (typed["only_mutant"] > typed["only_parent"])]["true_type"]
    seen = prose(
        "{judge:code} flags the faulty trajectory more often than its clean parent, beyond what chance gives, for {types}.",
        judge=judge,
        types=prose("each of the {n} fault types", n=len(more))
        if len(more) == len(typed) > 1
        else listed(more, NO_TYPE),
    )
    recall = [scores.estimate(judge, f"recall.{kind}").value for kind in typed["true_type"]]
    apart = typed.assign(recall=recall, apart=recall - typed["caught_of_passed"])
    apart = apart[(apart["parent_passed"] >= FEW) & ~apart["true_type"].isin(more) & (apart["recall"] > 0.5)]
    if apart.empty:
        return seen
    worst = apart.loc[apart["apart"].idxmax()]
    return said(
        seen,
        prose(
            "Its recall of {kind:code} is {recall:.2f}; of the {passed} such trajectories whose clean parent it passed it flags "
            "{caught}.",
            kind=worst["true_type"],
            recall=worst["recall"],
            passed=int(worst["parent_passed"]),
            caught=int(worst["only_mutant"]),
        ),
    )


def pairs_table(tests: pd.DataFrame) -> Table | Prose:
    """The matched pairs, one row per judge and fault type."""
    if tests.empty:
        return prose("So there are no pairs to show.")
    frame = pd.DataFrame(
        {
            "judge": tests["judge_id"],
            "fault type": tests["true_type"],
            "pairs": tests["pairs"],
            "both flagged": tests["both"],
            "only the faulty": tests["only_mutant"],
            "only the clean": tests["only_parent"],
            "neither": tests["neither"],
            "p": tests["p"].map(_p),
            "p, Holm": tests["p_holm"].map(_p),
        }
    )
    caption = "Faulty trajectories beside their clean parents: exact McNemar test, Holm over the fault types of a judge"
    return Table(frame.set_index(["judge", "fault type"]), caption, data=tests)


def _p(value: float) -> str:
    return DASH if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
