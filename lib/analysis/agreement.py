"""Verdicts compared with verdicts: a mutant's with its clean parent's, one judge's with another's, by stratum."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests

from lib.analysis.bootstrap import exact_interval
from lib.records import FAULT_TYPES, STRATA

ALL = "all"
UNKNOWN = "unknown"
MCNEMAR_FIELDS = (
    *("judge_id", "true_type", "pairs", "both", "only_mutant", "only_parent", "neither"),
    *("parent_passed", "caught_of_passed", "p", "p_holm"),
)


def matched_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Each judge's verdicts on mutants whose clean parent (the clean trajectory of the same instance) it judged too.

    Args:
        rows: frame of ``joined``.

    Returns:
        Frame judge_id, instance_id, stratum, true_type, mutant, parent (trajectory ids), mutant_flagged,
        parent_flagged.
    """
    faulty = rows["faulty"].astype(bool)
    fields = ["judge_id", "instance_id", "trajectory_id", "flagged"]
    parents = rows.loc[~faulty, fields].drop_duplicates(["judge_id", "instance_id"])
    parents = parents.rename(columns={"trajectory_id": "parent", "flagged": "parent_flagged"})
    mutants = rows.loc[faulty, [*fields, "stratum", "true_type"]]
    mutants = mutants.rename(columns={"trajectory_id": "mutant", "flagged": "mutant_flagged"})
    pairs = mutants.merge(parents, on=["judge_id", "instance_id"], how="inner")
    return pairs[
        ["judge_id", "instance_id", "stratum", "true_type", "mutant", "parent", "mutant_flagged", "parent_flagged"]
    ]


def mcnemar(pairs: pd.DataFrame) -> pd.DataFrame:
    """Exact McNemar test of each judge, over all pairs and per fault type (Holm over the types).

    A judge that sees the fault flags the mutant and passes the parent; one that dislikes the case flags both.

    Returns:
        Frame judge_id, true_type (``all`` first), pairs, both, only_mutant, only_parent, neither, parent_passed,
        caught_of_passed (share of mutants flagged where the parent was passed; NaN where none was), p (two-sided),
        p_holm (NaN for ``all``).
    """
    tables = []
    for judge, own in pairs.groupby("judge_id", sort=False):
        kinds = [kind for kind in FAULT_TYPES if (own["true_type"] == kind).any()]
        table = pd.DataFrame(
            [_mcnemar_row(own, ALL), *(_mcnemar_row(own[own["true_type"] == kind], kind) for kind in kinds)]
        )
        table.insert(0, "judge_id", judge)
        table["p_holm"] = np.nan
        if kinds:
            table.loc[1:, "p_holm"] = multipletests(table["p"].iloc[1:], method="holm")[1]
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=list(MCNEMAR_FIELDS))


def _mcnemar_row(pairs: pd.DataFrame, kind: str) -> dict[str, object]:
    mutant, parent = pairs["mutant_flagged"].to_numpy(bool), pairs["parent_flagged"].to_numpy(bool)
    only_mutant, only_parent = int((mutant & ~parent).sum()), int((parent & ~mutant).sum())
    discordant, passed = only_mutant + only_parent, int((~parent).sum())
    return {
        "true_type": kind,
        "pairs": len(pairs),
        "both": int((mutant & parent).sum()),
        "only_mutant": only_mutant,
        "only_parent": only_parent,
        "neither": int((~mutant & ~parent).sum()),
        "parent_passed": passed,
        "caught_of_passed": only_mutant / passed if passed else np.nan,
        "p": float(binomtest(only_mutant, discordant).pvalue) if discordant else 1.0,
    }


def judge_agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """How often two judges give the same verdict, and Cohen's kappa.

    Returns:
        Frame a, b, n (trajectories both judged), both_flag, only_a, only_b, neither, agreement, kappa, low, high
        (asymptotic); kappa is NaN where both always say the same one thing.
    """
    wide = rows.pivot_table(index="trajectory_id", columns="judge_id", values="flagged", aggfunc="first")
    found = []
    for a, b in itertools.combinations(dict.fromkeys(rows["judge_id"]), 2):
        both = wide[[a, b]].dropna().astype(bool)
        table = np.array([[(both[a].eq(x) & both[b].eq(y)).sum() for y in (True, False)] for x in (True, False)])
        kappa = _kappa(table)
        found.append([a, b, len(both), *table.ravel().tolist(), _share(np.trace(table), len(both)), *kappa])
    fields = ["a", "b", "n", "both_flag", "only_a", "only_b", "neither", "agreement", "kappa", "low", "high"]
    return pd.DataFrame(found, columns=fields)


def _kappa(table: np.ndarray) -> tuple[float, float, float]:
    if np.count_nonzero(table) < 2 and np.trace(table) == table.sum():
        return float("nan"), float("nan"), float("nan")
    result = cohens_kappa(table)
    return float(result.kappa), float(result.kappa_low), float(result.kappa_upp)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def by_stratum(rows: pd.DataFrame) -> pd.DataFrame:
    """Recall and false alarms within each stratum, with Clopper–Pearson intervals.

    Returns:
        Frame judge_id, stratum (``unknown`` for instances of another making), faults, caught, recall, recall_low,
        recall_high, silent, silent_caught, silent_recall, clean, false_alarms, false_alarm_rate,
        false_alarm_low, false_alarm_high.
    """
    faulty, flagged = rows["faulty"].astype(bool), rows["flagged"].astype(bool)
    silent = faulty & rows["outcome_correct"].astype(bool)
    counts = pd.DataFrame(
        {
            "judge_id": rows["judge_id"],
            "stratum": rows["stratum"].fillna(UNKNOWN),
            "faults": faulty,
            "caught": faulty & flagged,
            "silent": silent,
            "silent_caught": silent & flagged,
            "clean": ~faulty,
            "false_alarms": ~faulty & flagged,
        }
    )
    order = {name: place for place, name in enumerate([*dict.fromkeys(rows["judge_id"]), *STRATA, UNKNOWN])}
    table = counts.groupby(["judge_id", "stratum"]).sum().astype(int).reset_index()
    table = table.sort_values(["judge_id", "stratum"], key=lambda names: names.map(order), ignore_index=True)
    table["recall"] = table["caught"] / table["faults"].replace(0, np.nan)
    table["recall_low"], table["recall_high"] = exact_interval(table["caught"], table["faults"])
    table["silent_recall"] = table["silent_caught"] / table["silent"].replace(0, np.nan)
    table["false_alarm_rate"] = table["false_alarms"] / table["clean"].replace(0, np.nan)
    table["false_alarm_low"], table["false_alarm_high"] = exact_interval(table["false_alarms"], table["clean"])
    return table
