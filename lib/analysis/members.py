"""What an ensemble's members said: their votes, what a majority of fewer would say, and what they all miss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from lib.analysis.calibration import brier_score, expected_calibration_error
from lib.errors import UserError
from lib.records import Verdict

FIELDS = ("trajectory_id", "judge_id", "member", "faulty", "failure_step", "failure_type", "confidence")


def member_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Kept members of ensembles, one row each: FIELDS, ``member`` counting from 0. Empty where none was kept."""
    rows = [
        (v.trajectory_id, v.judge_id, number, m.faulty, m.failure_step, m.failure_type, m.confidence)
        for v in verdicts
        for number, m in enumerate(v.members)
    ]
    return pd.DataFrame(rows, columns=list(FIELDS)).astype({"failure_step": "Int64"})


def votes(members: pd.DataFrame, trajectories: pd.DataFrame) -> pd.DataFrame:
    """Votes per trajectory and ensemble.

    Args:
        members: frame of ``member_frame``; trajectories: the frame of a run.

    Returns:
        Frame judge_id, trajectory_id, cell, faulty (label), outcome_correct, k (members), yes (that flag), flip_rate
        (chance that two different members disagree; 0 when there is one), confidence (mean stated).

    Raises:
        UserError: a trajectory that is not in the run.
    """
    groups = members.groupby(["judge_id", "trajectory_id"], sort=False)
    table = groups.agg(k=("faulty", "size"), yes=("faulty", "sum"), confidence=("confidence", "mean")).reset_index()
    unknown = set(table["trajectory_id"]) - set(trajectories["trajectory_id"])
    if unknown:
        raise UserError(f"member verdicts about unknown trajectory {min(unknown)}")
    table["yes"] = table["yes"].astype(int)
    pairs = (table["k"] * (table["k"] - 1)).replace(0, 1)
    table["flip_rate"] = 2 * table["yes"] * (table["k"] - table["yes"]) / pairs
    labels = trajectories[["trajectory_id", "cell", "faulty", "outcome_correct"]]
    table = table.merge(labels, on="trajectory_id")
    fields = ["judge_id", "trajectory_id", "cell", "faulty", "outcome_correct", "k", "yes", "flip_rate", "confidence"]
    return table[fields]


def kind_of(table: pd.DataFrame) -> NDArray[np.str_]:
    """``clean``, ``silent`` or ``loud`` of each row of ``votes``."""
    return np.where(~table["faulty"].astype(bool), "clean", np.where(table["outcome_correct"], "silent", "loud"))


def vote_distribution(table: pd.DataFrame) -> pd.DataFrame:
    """Frame judge_id, kind (clean, silent, loud), k, yes, n, share (of the judge's kind) of a ``votes`` frame."""
    kinds = table.assign(kind=kind_of(table))
    counts = kinds.groupby(["judge_id", "kind", "k", "yes"], sort=True).size().rename("n").reset_index()
    counts["share"] = counts["n"] / counts.groupby(["judge_id", "kind"])["n"].transform("sum")
    return counts


def majority_at(table: pd.DataFrame, sizes: Sequence[int] = (1, 3, 5)) -> pd.DataFrame:
    """Recall and false-alarm rate of a majority of k members, averaged over every choice of k among those kept.

    Args:
        table: frame of ``votes``.
        sizes: odd numbers of members; those larger than what was kept are left out.

    Returns:
        Frame judge_id, k, recall, silent_recall, loud_recall, false_alarm_rate (NaN where there is no such run).

    Raises:
        UserError: an even number of members, which has no majority when tied.
    """
    even = [k for k in sizes if k % 2 == 0]
    if even:
        raise UserError(f"a majority needs an odd number of members, not {even[0]}")
    found = []
    for judge, own in table.groupby("judge_id", sort=False):
        kinds = kind_of(own)
        for k in (k for k in sizes if k <= own["k"].min()):
            flagged = hypergeom.sf(k // 2, own["k"], own["yes"], k)
            means = {kind: _mean(flagged[kinds == kind]) for kind in ("silent", "loud", "clean")}
            found.append((judge, k, _mean(flagged[kinds != "clean"]), *means.values()))
    return pd.DataFrame(found, columns=["judge_id", "k", "recall", "silent_recall", "loud_recall", "false_alarm_rate"])


def shared_misses(members: pd.DataFrame, trajectories: pd.DataFrame) -> pd.DataFrame:
    """Whether members miss the same faults: share of faults missed by all, against what independence would give.

    Returns:
        Frame judge_id, faults, k, missed_by_all (count), observed (its share), independent (product of the members'
        miss rates), independent_in_cells (the same product within each design cell, averaged: members that only
        find the same cells hard), shared_of_missed (of the faults that some member misses, the share all miss).
    """
    labels = trajectories.set_index("trajectory_id")
    known = members[labels["faulty"].reindex(members["trajectory_id"]).fillna(False).to_numpy(bool)]
    found = []
    for judge, own in known.groupby("judge_id", sort=False):
        flagged = own.pivot_table(index="trajectory_id", columns="member", values="faulty", aggfunc="first").dropna()
        missed = ~flagged.astype(bool)
        every, some = missed.all(axis=1), missed.any(axis=1)
        cells = labels["cell"].reindex(missed.index)
        in_cells = missed.groupby(cells).mean().prod(axis=1)
        weights = cells.value_counts(normalize=True).reindex(in_cells.index)
        found.append(
            {
                "judge_id": judge,
                "faults": len(missed),
                "k": missed.shape[1],
                "missed_by_all": int(every.sum()),
                "observed": _mean(every),
                "independent": float(missed.mean().prod()),
                "independent_in_cells": float((in_cells * weights).sum()),
                "shared_of_missed": float(every.sum() / some.sum()) if some.any() else float("nan"),
            }
        )
    fields = ["judge_id", "faults", "k", "missed_by_all", "observed", "independent"]
    return pd.DataFrame(found, columns=[*fields, "independent_in_cells", "shared_of_missed"])


def confidence_sources(table: pd.DataFrame) -> pd.DataFrame:
    """Two confidences for the same majority verdict: the share of members behind it, and their mean stated one.

    Ties count as not flagged.

    Returns:
        Frame judge_id, source (``vote share`` or ``stated``), n, confidence (mean), accuracy, ece, brier.
    """
    found = []
    for judge, own in table.groupby("judge_id", sort=False):
        flagged = 2 * own["yes"] > own["k"]
        right = flagged == own["faulty"].astype(bool)
        share = np.maximum(own["yes"], own["k"] - own["yes"]) / own["k"]
        for source, confidence in (("vote share", share), ("stated", own["confidence"])):
            errors = expected_calibration_error(confidence, right), brier_score(confidence, right)
            found.append((judge, source, len(own), confidence.mean(), right.mean(), *errors))
    return pd.DataFrame(found, columns=["judge_id", "source", "n", "confidence", "accuracy", "ece", "brier"])


def _mean(values: NDArray | pd.Series) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
