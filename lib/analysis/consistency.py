"""An ensemble against one greedy pass of the same model: what it gains, what it costs, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.analysis.bootstrap import exact_interval
from lib.analysis.calibration import brier_score, expected_calibration_error
from lib.analysis.judges import judge_name
from lib.analysis.members import confidence_sources, kind_of
from lib.analysis.scores import Scores, score

AXES: dict[str, tuple[str, int]] = {
    "f1": ("F1", 1),
    "silent_recall": ("silent recall", 1),
    "loud_recall": ("loud recall", 1),
    "false_alarm_rate": ("false-alarm rate", -1),
    "youden_j": ("Youden's J", 1),
    "step_exact": ("exact step", 1),
    "step_exact_strict": ("strict step", 1),
    "type_macro_f1": ("type macro-F1", 1),
    "ece": ("ECE", -1),
    "brier": ("Brier score", -1),
    "recall.unsupported_claim": ("recall of unsupported claims", 1),
}
"""What the two are compared on: name, and 1 where more is better, −1 where less is."""

BETTER, WORSE, ALIKE, UNDEFINED = "ensemble better", "one pass better", "cannot be told apart", "undefined"


def pair_scores(
    trajectories: pd.DataFrame, verdicts: pd.DataFrame, ensemble: str, single: str, reps: int, seed: int
) -> Scores:
    """Scores of both over the trajectories that both judged, so that a difference of values is the paired one."""
    shared = shared_verdicts(verdicts, ensemble, single)
    return score(trajectories, shared, reps=reps, seed=seed, judges=[ensemble, single], order=[ensemble, single])


def shared_verdicts(verdicts: pd.DataFrame, *judges: str) -> pd.DataFrame:
    """The verdicts of these judges on the trajectories that each of them judged."""
    own = verdicts[verdicts["judge_id"].isin(judges)]
    counts = own.groupby("trajectory_id")["judge_id"].nunique()
    return own[own["trajectory_id"].isin(counts.index[counts == len(judges)])]


def axis_deltas(scores: Scores, ensemble: str, single: str) -> pd.DataFrame:
    """Paired differences, ensemble minus one pass, on each of AXES.

    Args:
        scores: of ``pair_scores``.

    Returns:
        Frame metric, axis, ensemble, single, value, low, high, n, reading: BETTER or WORSE where the whole interval
        lies on one side of 0, ALIKE where 0 is in it or there is none, UNDEFINED where there is no difference.
    """
    rows = []
    for metric, (axis, sign) in AXES.items():
        delta = scores.delta(ensemble, single, metric)
        values = [scores.estimate(judge, metric).value for judge in (ensemble, single)]
        rows.append([metric, axis, *values, *delta, _reading(sign, *delta[:3])])
    return pd.DataFrame(rows, columns=["metric", "axis", "ensemble", "single", "value", "low", "high", "n", "reading"])


def _reading(sign: int, value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return UNDEFINED
    if low > 0 or high < 0:
        return BETTER if sign * value > 0 else WORSE
    return ALIKE


def cost_ratios(scores: Scores, ensemble: str, single: str) -> pd.DataFrame:
    """Frame cost, ensemble, single, ratio for seconds, prompt and completion tokens per trajectory."""
    names = {
        "seconds_per_trajectory": "seconds",
        "prompt_tokens_per_trajectory": "prompt tokens",
        "completion_tokens_per_trajectory": "completion tokens",
    }
    values = [[scores.estimate(judge, metric).value for judge in (ensemble, single)] for metric in names]
    rows = [[name, a, b, a / b if b else float("nan")] for name, (a, b) in zip(names.values(), values, strict=True)]
    return pd.DataFrame(rows, columns=["cost", "ensemble", "single", "ratio"])


def recovered_votes(trajectories: pd.DataFrame, verdicts: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Votes of ensembles that kept no members, read off their confidence where that is the share of votes.

    Returns:
        Frame as of ``members.votes``, ``confidence`` null. An ensemble whose confidences are no shares of its k
        members is left out.
    """
    labels = trajectories.set_index("trajectory_id")[["cell", "faulty", "outcome_correct"]]
    found = []
    for judge in judges:
        own, k = verdicts[verdicts["judge_id"] == judge], judge_name(judge).k
        agreeing = own["confidence"].to_numpy(float) * k
        if not np.allclose(agreeing, np.round(agreeing), atol=1e-6):
            continue
        agreeing = np.round(agreeing).astype(int)
        yes = np.where(own["faulty"].astype(bool), agreeing, k - agreeing)
        table = labels.reindex(own["trajectory_id"]).reset_index()
        pairs = max(k * (k - 1), 1)
        table = table.assign(judge_id=judge, k=k, yes=yes, flip_rate=2 * yes * (k - yes) / pairs, confidence=np.nan)
        found.append(table)
    fields = ["judge_id", "trajectory_id", "cell", "faulty", "outcome_correct", "k", "yes", "flip_rate", "confidence"]
    return pd.concat(found, ignore_index=True)[fields] if found else pd.DataFrame(columns=fields)


def flips(table: pd.DataFrame) -> pd.DataFrame:
    """How often members disagree: frame judge_id, kind (all, silent, loud, clean), n, unanimous, share, flip_rate.

    Args:
        table: votes, as of ``members.votes``. ``share`` is that of unanimous trajectories, ``flip_rate`` the mean
            chance that two members disagree on a trajectory.
    """
    rows: list[list[object]] = []
    for judge, own in table.groupby("judge_id", sort=False):
        kinds = kind_of(own)
        for kind in ("all", "silent", "loud", "clean"):
            part = own if kind == "all" else own[kinds == kind]
            agreed = int(((part["yes"] == 0) | (part["yes"] == part["k"])).sum())
            share = agreed / len(part) if len(part) else float("nan")
            rows.append([judge, kind, len(part), agreed, share, part["flip_rate"].mean()])
    return pd.DataFrame(rows, columns=["judge_id", "kind", "n", "unanimous", "share", "flip_rate"])


def misses_from_votes(table: pd.DataFrame) -> pd.DataFrame:
    """``members.shared_misses`` where only the number of votes is known: members count as exchangeable.

    Each member's miss rate is then the mean one, over all faults or within their design cell.
    """
    rows: list[dict[str, object]] = []
    for judge, own in table[table["faulty"].astype(bool)].groupby("judge_id", sort=False):
        k, missed = int(own["k"].max()), 1 - own["yes"] / own["k"]
        every, some = int((missed == 1).sum()), int((missed > 0).sum())
        in_cell = missed.groupby(own["cell"]).transform("mean")
        rows.append(
            {
                "judge_id": judge,
                "faults": len(own),
                "k": k,
                "missed_by_all": every,
                "observed": every / len(own),
                "independent": float(missed.mean() ** k),
                "independent_in_cells": float((in_cell**k).mean()),
                "shared_of_missed": every / some if some else float("nan"),
            }
        )
    fields = ["judge_id", "faults", "k", "missed_by_all", "observed", "independent", "independent_in_cells"]
    return pd.DataFrame(rows, columns=[*fields, "shared_of_missed"])


def with_interval(misses: pd.DataFrame) -> pd.DataFrame:
    """Shared misses with the Clopper–Pearson interval ``low``, ``high`` of the observed share."""
    low, high = exact_interval(misses["missed_by_all"], misses["faults"])
    return misses.assign(low=low, high=high)


def confidence_beside(table: pd.DataFrame, rows: pd.DataFrame, ensemble: str, single: str) -> pd.DataFrame:
    """Vote share as confidence, beside what the members state and what one pass states.

    Args:
        table: votes; rows: frame of ``joined``. Both on the same trajectories.

    Returns:
        Frame source, n, confidence (mean), accuracy, ece, brier; members only where their confidence was kept.
    """
    own = table[table["judge_id"] == ensemble]
    found = confidence_sources(own).drop(columns="judge_id")
    names = {"vote share": "share of the members' votes", "stated": "mean confidence that the members state"}
    found = found.assign(source=found["source"].map(names))[found["confidence"].notna().to_numpy()]
    one = rows[rows["judge_id"] == single]
    errors = expected_calibration_error(one["confidence"], one["right"]), brier_score(one["confidence"], one["right"])
    found.loc[len(found) + 1] = [
        "confidence that one pass states",
        len(one),
        one["confidence"].mean(),
        one["right"].mean(),
        *errors,
    ]
    return found.reset_index(drop=True)
