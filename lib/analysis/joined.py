"""Each verdict beside the label that it is about: the frame from which tables of counts are made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.analysis.sample import Table, ordered_judges

FIELDS = (
    *("judge_id", "trajectory_id", "instance_id", "stratum", "cell", "faulty", "outcome_correct", "true_step"),
    *("true_type", "flagged", "right", "named_step", "named_type", "confidence"),
)


def joined(trajectories: pd.DataFrame, verdicts: pd.DataFrame, judges: Sequence[str] | None = None) -> pd.DataFrame:
    """One row per verdict, judges in the order given (or of appearance), each by cell and trajectory id.

    Columns are FIELDS: ``faulty``, ``true_step`` and ``true_type`` are the label's; ``flagged``, ``named_step``
    (NaN where none or outside the trajectory) and ``named_type`` the verdict's; ``right`` says whether both agree
    that the trajectory is faulty, or clean.

    Raises:
        UserError: as ``lib.analysis.scores.score``.
    """
    table = Table.build(trajectories, verdicts, ordered_judges(verdicts, judges, judges))
    frames = [_beside(table.labels[table.judged[judge]], own, judge) for judge, own in table.verdicts.items()]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(FIELDS))


def _beside(labels: pd.DataFrame, own: pd.DataFrame, judge: str) -> pd.DataFrame:
    flagged = own["faulty"].to_numpy(bool)
    step = own["failure_step"].to_numpy(dtype=float, na_value=np.nan)
    usable = (step >= 0) & (step < labels["n_steps"].to_numpy())
    kept = labels[["trajectory_id", "instance_id", "stratum", "cell", "faulty", "outcome_correct"]].reset_index(
        drop=True
    )
    return kept.assign(
        judge_id=judge,
        true_step=labels["failure_step"].to_numpy(dtype=float, na_value=np.nan),
        true_type=labels["failure_type"].to_numpy(object),
        flagged=flagged,
        right=flagged == labels["faulty"].to_numpy(bool),
        named_step=np.where(usable, step, np.nan),
        named_type=own["failure_type"].to_numpy(object),
        confidence=own["confidence"].to_numpy(float),
    )[list(FIELDS)]


def in_judge_order(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``table`` with judges as they come in ``rows``, otherwise as they are."""
    rank = {judge: place for place, judge in enumerate(dict.fromkeys(rows["judge_id"]))}
    return table.sort_values("judge_id", key=lambda ids: ids.map(rank), kind="stable", ignore_index=True)
