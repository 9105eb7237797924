"""Which fault and which step a judge names, once it has flagged a faulty trajectory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.tidy import in_judge_order
from lib.analysis.trajectory_metrics import MERGED
from lib.records import FAULT_TYPES

MISSED = "missed"
MERGED_NAME = " or ".join(MERGED)


def confusion(rows: pd.DataFrame, *, merged: bool = False) -> pd.DataFrame:
    """Confusion of fault types over faulty trajectories, every cell present.

    Args:
        rows: rows of ``bench.verdicts``.
        merged: whether the two types of the blurry border count as one.

    Returns:
        Frame judge, true, predicted (a type, or ``missed``: not flagged, or flagged without a type), count,
        share (of the true type; NaN where there is none).
    """
    faults = rows[rows["faulty"].astype(bool)]
    named = faults["named_type"].where(faults["flagged"].astype(bool) & faults["named_type"].isin(FAULT_TYPES), MISSED)
    pairs = pd.DataFrame({"judge": faults["judge"], "true": faults["fault"], "predicted": named})
    types = type_names(merged=merged)
    if merged:
        border = dict.fromkeys(MERGED, MERGED_NAME)
        pairs[["true", "predicted"]] = pairs[["true", "predicted"]].replace(border)
    judges = list(dict.fromkeys(rows["judge"]))
    every = pd.MultiIndex.from_product([judges, types, [*types, MISSED]], names=["judge", "true", "predicted"])
    table = pairs.value_counts().reindex(every, fill_value=0).rename("count").reset_index()
    table["share"] = table["count"] / table.groupby(["judge", "true"])["count"].transform("sum").replace(0, np.nan)
    return table


def type_names(*, merged: bool = False) -> list[str]:
    """The fault types in their order, the two of the blurry border as one if ``merged``."""
    return list(dict.fromkeys(MERGED_NAME if merged and kind in MERGED else kind for kind in FAULT_TYPES))


def type_scores(rows: pd.DataFrame, *, merged: bool = False) -> pd.DataFrame:
    """Frame judge, type, faults, named, right, precision, recall, f1 (0 for a type never named).

    The mean of ``f1`` over types is the macro-F1, whose interval is in ``bench.score``.
    """
    table = confusion(rows, merged=merged)
    by_true = table.groupby(["judge", "true"], sort=False)["count"].sum()
    by_named = table[table["predicted"] != MISSED].groupby(["judge", "predicted"], sort=False)["count"].sum()
    diagonal = table[table["true"] == table["predicted"]].set_index(["judge", "true"])["count"]
    scores = pd.DataFrame({"faults": by_true, "named": by_named.rename_axis(by_true.index.names), "right": diagonal})
    scores = scores.reindex(by_true.index)
    scores["precision"] = scores["right"] / scores["named"].replace(0, np.nan)
    scores["recall"] = scores["right"] / scores["faults"].replace(0, np.nan)
    scores["f1"] = (2 * scores["right"] / (scores["named"] + scores["faults"]).replace(0, np.nan)).fillna(0.0)
    return scores.rename_axis(["judge", "type"]).reset_index()


def step_offsets(rows: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """Where the named step lies relative to the true one, over flagged faults that carry a step.

    Args:
        by: another column to split by, such as ``fault``.

    Returns:
        Frame judge, [by,] offset (named − true, so positive is too late), n, share (of the judge [and by]).
    """
    named = rows[rows["faulty"].astype(bool) & rows["flagged"].astype(bool)].dropna(subset=["named_step", "true_step"])
    offset = (named["named_step"] - named["true_step"]).astype(int)
    keys = ["judge", *([by] if by else [])]
    table = named.assign(offset=offset).groupby([*keys, "offset"], sort=True).size().rename("n").reset_index()
    table["share"] = table["n"] / table.groupby(keys)["n"].transform("sum")
    return in_judge_order(rows, table)


class Naming(NamedTuple):
    """Judges that name something, in their order: a fault type on a flagged fault, and a step inside it."""

    types: list[str]
    steps: list[str]


def who_names(rows: pd.DataFrame) -> Naming:
    """Which judges say more than faulty or clean of at least one faulty trajectory."""
    caught = rows[rows["faulty"].astype(bool) & rows["flagged"].astype(bool)]
    judges = list(dict.fromkeys(rows["judge"]))
    typed = set(caught.loc[caught["named_type"].isin(FAULT_TYPES), "judge"])
    stepped = set(caught.loc[caught["named_step"].notna(), "judge"])
    return Naming([judge for judge in judges if judge in typed], [judge for judge in judges if judge in stepped])


def commonest_step(rows: pd.DataFrame) -> pd.DataFrame:
    """What naming one and the same step would reach: over flagged faults that carry a step, as in ``step_exact``.

    Returns:
        Frame judge, step (the commonest true one, the smaller if tied), n, exact (the judge's share), always (that of
        naming ``step`` each time).
    """
    named = rows[rows["faulty"] & rows["flagged"]].dropna(subset=["named_step", "true_step"])
    found = []
    for judge, own in named.groupby("judge", sort=False):
        counts = own["true_step"].value_counts().sort_index()
        exact = float(own["named_step"].eq(own["true_step"]).mean())
        found.append([judge, int(counts.idxmax()), len(own), exact, float(counts.max() / len(own))])
    return pd.DataFrame(found, columns=["judge", "step", "n", "exact", "always"])


def steps_by_type(rows: pd.DataFrame) -> pd.DataFrame:
    """Frame judge, fault, flagged (faults of that type), with_step (of those), exact (of those)."""
    caught = rows[rows["faulty"].astype(bool) & rows["flagged"].astype(bool)]
    named = caught["named_step"].notna()
    counts = caught.assign(with_step=named, exact=named & caught["named_step"].eq(caught["true_step"]))
    keys = ["judge", "fault"]
    sums = counts.groupby(keys)[["flagged", "with_step", "exact"]].sum().astype(int)
    every = pd.MultiIndex.from_product([list(dict.fromkeys(rows["judge"])), FAULT_TYPES], names=keys)
    return sums.reindex(every, fill_value=0).reset_index()
