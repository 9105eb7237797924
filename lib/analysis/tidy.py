"""The tidy frame: one row a verdict, beside the truth and beside what the judge says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lib.errors import UserError
from lib.records import FAULT_TYPES, About

COLUMNS = (
    *("judge", "kind", "view", "model", "trajectory", "instance", "stratum", "cell", "fault", "survival", "changed"),
    *("faulty", "flagged", "right", "named_step", "true_step", "named_type", "confidence", "log_odds", "score"),
    *("seconds", "server_seconds", "cost", "prompt_tokens", "completion_tokens", "n_steps", "status", "unread"),
)
SURVIVALS = ("silent", "loud", "clean")


def chosen(abouts: Mapping[str, About], judges: str | Sequence[str] | None) -> list[str]:
    """The judges asked for, in the run's order (all when None). Raises UserError naming those that there are."""
    if judges is None:
        return list(abouts)
    wanted = [judges] if isinstance(judges, str) else list(judges)
    if missing := [judge for judge in wanted if judge not in abouts]:
        raise UserError(f"no verdicts of {', '.join(missing)}; this run has {', '.join(abouts) or 'none'}")
    return [judge for judge in abouts if judge in wanted]


def tidy(
    trajectories: pd.DataFrame,
    verdicts: pd.DataFrame,
    abouts: Mapping[str, About],
    changed: Mapping[str, Mapping[str, bool | None]] | None = None,
) -> pd.DataFrame:
    """One row a verdict, judges in the order of ``abouts``, each by cell and trajectory.

    Args:
        trajectories, verdicts: the frames of a run; verdicts of judges that ``abouts`` leaves out are left out.
        changed: per view, for each faulty trajectory, whether its fault changes what is shown there (None: unknown).

    Returns:
        Frame of COLUMNS. ``survival`` is one of SURVIVALS; ``named_step`` is NaN where none was named or it lies
        outside the trajectory; ``score`` rises with how faulty the judge takes the trajectory to be: the log-odds where
        the judge gives them, else the stated confidence that it is faulty.

    Raises:
        UserError: a verdict about a trajectory that is not there, or two with one key.
    """
    labels = trajectories.sort_values(["cell", "trajectory_id"], ignore_index=True)
    own = verdicts[verdicts["judge_id"].isin(list(abouts))]
    row = pd.Index(labels["trajectory_id"]).get_indexer(own["trajectory_id"])
    _check_keys(own, row)
    rank = own["judge_id"].map({judge: place for place, judge in enumerate(abouts)}).to_numpy(float)
    order = np.lexsort((row, rank))
    own, label = own.iloc[order].reset_index(drop=True), labels.iloc[row[order]].reset_index(drop=True)
    judge = own["judge_id"].astype(object)
    view = judge.map({name: about.sees for name, about in abouts.items()}).astype(object)
    faulty, flagged = label["faulty"].to_numpy(bool), own["faulty"].to_numpy(bool)
    step = own["failure_step"].to_numpy(dtype=float, na_value=np.nan)
    confidence, log_odds = own["confidence"].to_numpy(float), own["log_odds"].to_numpy(float)
    scored = judge.map({name: about.scored for name, about in abouts.items()}).to_numpy(bool)
    silent = np.where(label["outcome_correct"].to_numpy(bool), "silent", "loud")
    frame = pd.DataFrame(
        {
            "judge": judge,
            "kind": judge.map({name: about.kind for name, about in abouts.items()}).astype(object),
            "view": view,
            "model": judge.map({name: about.model for name, about in abouts.items()}).astype(object),
            "trajectory": label["trajectory_id"],
            "instance": label["instance_id"],
            "stratum": label["stratum"],
            "cell": label["cell"],
            "fault": pd.Series(label["failure_type"], dtype=object).where(faulty, None),
            "survival": np.where(faulty, silent, "clean").astype(object),
            "changed": _changed(view, label["trajectory_id"], faulty, changed or {}),
            "faulty": faulty,
            "flagged": flagged,
            "right": faulty == flagged,
            "named_step": np.where((step >= 0) & (step < label["n_steps"].to_numpy()), step, np.nan),
            "true_step": label["failure_step"].to_numpy(dtype=float, na_value=np.nan),
            "named_type": own["failure_type"].where(own["failure_type"].isin(FAULT_TYPES), None).astype(object),
            "confidence": confidence,
            "log_odds": log_odds,
            "score": np.where(scored & ~np.isnan(log_odds), log_odds, np.where(flagged, confidence, 1 - confidence)),
            "seconds": own["latency_s"].to_numpy(float),
            "server_seconds": own["server_s"].to_numpy(float),
            "cost": own["cost"].to_numpy(float),
            "prompt_tokens": own["prompt_tokens"].to_numpy(dtype=float, na_value=np.nan),
            "completion_tokens": own["completion_tokens"].to_numpy(dtype=float, na_value=np.nan),
            "n_steps": label["n_steps"],
            "status": own["status"].astype(object),
            "unread": own["status"].ne("ok").to_numpy(bool),
        }
    )
    return frame[list(COLUMNS)]


def reread(frame: pd.DataFrame, *, right: bool) -> pd.DataFrame:
    """Verdicts with each reply that was not read taken for right (as the label), or for wrong: bounds of a score."""
    flagged = np.where(frame["unread"], frame["faulty"] == right, frame["flagged"])
    return frame.assign(flagged=flagged, right=flagged == frame["faulty"])


def in_judge_order(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``table`` with judges as they come in ``rows``, otherwise as they are."""
    rank = {judge: place for place, judge in enumerate(dict.fromkeys(rows["judge"]))}
    return table.sort_values("judge", key=lambda ids: ids.map(rank), kind="stable", ignore_index=True)


def _changed(
    view: pd.Series, trajectory: pd.Series, faulty: np.ndarray, changed: Mapping[str, Mapping[str, bool | None]]
) -> pd.Series:
    found = [
        changed.get(sees, {}).get(name) if is_faulty and sees is not None else None
        for sees, name, is_faulty in zip(view, trajectory, faulty, strict=True)
    ]
    return pd.Series(found, dtype="boolean")


def _check_keys(own: pd.DataFrame, row: np.ndarray) -> None:
    if (row < 0).any():
        stray = own.iloc[int(np.argmax(row < 0))]
        raise UserError(f"verdict of {stray['judge_id']} about unknown trajectory {stray['trajectory_id']}")
    double = own.duplicated(["judge_id", "trajectory_id"])
    if double.any():
        first = own[double].iloc[0]
        raise UserError(f"two verdicts of {first['judge_id']} about {first['trajectory_id']}; keep one of them")
