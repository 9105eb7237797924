"""Claims in the reply that no observation supports: who catches them, which sentence, and the most telling miss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from lib.analysis.bootstrap import exact_interval
from lib.analysis.judges import judge_name
from lib.analysis.newcombe import difference_interval
from lib.analysis.scores import is_fixed
from lib.records import FaultType, Trajectory, Verdict

KIND: FaultType = "unsupported_claim"
OTHER = "another sentence"
ABOVE, BELOW, ALIKE, OPEN = "detects", "flags fewer than clean trajectories", "no detection", "cannot be told"
DETECTION_FIELDS = (
    *("judge_id", "faults", "caught", "recall", "low", "high", "clean", "alarms", "false_alarm_rate"),
    *("alarm_low", "alarm_high", "excess", "excess_low", "excess_high", "reading"),
)


def detection(rows: pd.DataFrame, kind: str = KIND) -> pd.DataFrame:
    """Recall of one fault type beside the false-alarm rate, and whether they differ.

    A judge detects when the interval of recall − false-alarm rate (``difference_interval``) lies above 0. A judge of
    fixed rules has no interval: its sign decides.

    Args:
        rows: frame of ``joined``.

    Returns:
        Frame of DETECTION_FIELDS; ``low``/``high`` and ``alarm_low``/``alarm_high`` are Clopper–Pearson.
    """
    found = []
    for judge, own in rows.groupby("judge_id", sort=False):
        flagged = own["flagged"].astype(bool)
        faulty, clean = own["true_type"].eq(kind), ~own["faulty"].astype(bool)
        counts = [int(mask.sum()) for mask in (faulty, faulty & flagged, clean, clean & flagged)]
        found.append([judge, *_beside(*counts, fixed=is_fixed(str(judge)))])
    return pd.DataFrame(found, columns=list(DETECTION_FIELDS))


def _beside(faults: int, caught: int, clean: int, alarms: int, *, fixed: bool) -> list[object]:
    nan = float("nan")
    recall, rate = caught / faults if faults else nan, alarms / clean if clean else nan
    excess, bounds = recall - rate, [nan] * 6
    if not fixed and faults and clean:
        ends = exact_interval(caught, faults), exact_interval(alarms, clean)
        between = difference_interval(caught, faults, alarms, clean)
        bounds = [float(bound) for pair in (*ends, between) for bound in pair]
    low, high = (excess, excess) if fixed else bounds[4:]
    reading = OPEN if np.isnan(excess) else ABOVE if low > 0 else BELOW if high < 0 else ALIKE
    return [faults, caught, recall, *bounds[:2], clean, alarms, rate, *bounds[2:4], excess, *bounds[4:], reading]


def sentences_of(trajectories: Iterable[Trajectory], names: Mapping[str, str]) -> dict[str, str]:
    """Which claim the answer of each trajectory with such a fault holds.

    Args:
        names: short names of claims, by their sentence.

    Returns:
        Name by trajectory id; OTHER where it is none of ``names``.
    """
    return {
        t.trajectory_id: next((name for claim, name in names.items() if claim in t.final_answer), OTHER)
        for t in trajectories
        if t.label.failure_type == KIND
    }


def by_sentence(rows: pd.DataFrame, sentences: Mapping[str, str]) -> pd.DataFrame:
    """Recall per claim, with Clopper–Pearson intervals (none for a judge of fixed rules).

    Args:
        rows: frame of ``joined``; sentences: the claim of each trajectory, as of ``sentences_of``.

    Returns:
        Frame judge_id, sentence, n, caught, value, low, high; judges and sentences in order of appearance.
    """
    own = rows[rows["trajectory_id"].isin(sentences)]
    own = own.assign(sentence=own["trajectory_id"].map(sentences), flagged=own["flagged"].astype(bool))
    groups = own.groupby(["judge_id", "sentence"], sort=False)["flagged"]
    table = groups.agg(n="size", caught="sum").reset_index()
    table["value"] = table["caught"] / table["n"]
    bounds = exact_interval(table["caught"], table["n"])
    fixed = table["judge_id"].map(is_fixed).to_numpy(bool)
    table["low"], table["high"] = (np.where(fixed, np.nan, bound) for bound in bounds)
    return table


def most_telling_miss(
    verdicts: Iterable[Verdict], trajectories: Mapping[str, Trajectory], judges: Iterable[str]
) -> Verdict | None:
    """The claim that was passed with the highest confidence, by a judge that read the steps and said why.

    Only verdicts that could be read count, of judges whose rationale is a model's own words. Ties go to the judge
    that comes first in ``judges``, then to the trajectory that does. None where nothing was missed that way.
    """
    rank = {judge: place for place, judge in enumerate(judges)}
    place = {name: number for number, name in enumerate(trajectories)}
    missed = [
        verdict
        for verdict in verdicts
        if verdict.judge_id in rank and not verdict.faulty and verdict.status == "ok" and verdict.rationale.strip()
        if trajectories[verdict.trajectory_id].label.failure_type == KIND
        if judge_name(verdict.judge_id).reasons and judge_name(verdict.judge_id).sees_steps
    ]
    return min(missed, key=lambda v: (-v.confidence, rank[v.judge_id], place[v.trajectory_id]), default=None)
