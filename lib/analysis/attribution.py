"""Which fault and which step a judge names, once it has flagged a faulty trajectory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.joined import in_judge_order
from lib.analysis.quantities import MERGED
from lib.records import FAULT_TYPES

MISSED = "missed"
MERGED_NAME = " or ".join(MERGED)


def confusion(rows: pd.DataFrame, *, merged: bool = False) -> pd.DataFrame:
    """Confusion of fault types over faulty trajectories, every cell present.

    Args:
        rows: frame of ``joined``.
        merged: whether the two types of the blurry border count as one.

    Returns:
        Frame judge_id, true, predicted (a type, or ``missed``: not flagged, or flagged without a type), count,
        share (of the true type; NaN where there is none).
    """
    faults = rows[rows["faulty"].astype(bool)]
    named = faults["named_type"].where(faults["flagged"].astype(bool) & faults["named_type"].isin(FAULT_TYPES), MISSED)
    pairs = pd.DataFrame({"judge_id": faults["judge_id"], "true": faults["true_type"], "predicted": named})
    types = type_names(merged=merged)
    if merged:
        border = dict.fromkeys(MERGED, MERGED_NAME)
        pairs[["true", "predicted"]] = pairs[["true", "predicted"]].replace(border)
    judges = list(dict.fromkeys(rows["judge_id"]))
    every = pd.MultiIndex.from_product([judges, types, [*types, MISSED]], names=["judge_id", "true", "predicted"])
    table = pairs.value_counts().reindex(every, fill_value=0).rename("count").reset_index()
    table["share"] = table["count"] / table.groupby(["judge_id", "true"])["count"].transform("sum").replace(0, np.nan)
    return table


def type_names(*, merged: bool = False) -> list[str]:
    """The fault types in their order, the two of the blurry border as one if ``merged``."""
    return list(dict.fromkeys(MERGED_NAME if merged and kind in MERGED else kind for kind in FAULT_TYPES))


def type_scores(rows: pd.DataFrame, *, merged: bool = False) -> pd.DataFrame:
    """Frame judge_id, type, faults, named, right, precision, recall, f1 (0 for a type never named).

    The mean of ``f1`` over types is the macro-F1, whose interval is in ``Scores.metrics``.
    """
    table = confusion(rows, merged=merged)
    by_true = table.groupby(["judge_id", "true"], sort=False)["count"].sum()
    by_named = table[table["predicted"] != MISSED].groupby(["judge_id", "predicted"], sort=False)["count"].sum()
    diagonal = table[table["true"] == table["predicted"]].set_index(["judge_id", "true"])["count"]
    scores = pd.DataFrame({"faults": by_true, "named": by_named.rename_axis(by_true.index.names), "right": diagonal})
    scores = scores.reindex(by_true.index)
    scores["precision"] = scores["right"] / scores["named"].replace(0, np.nan)
    scores["recall"] = scores["right"] / scores["faults"].replace(0, np.nan)
    scores["f1"] = (2 * scores["right"] / (scores["named"] + scores["faults"]).replace(0, np.nan)).fillna(0.0)
    return scores.rename_axis(["judge_id", "type"]).reset_index()


def step_offsets(rows: pd.DataFrame, by: str | None = None) -> pd.DataFrame:
    """Where the named step lies relative to the true one, over flagged faults that carry a step.

    Args:
        by: another column of ``joined`` to split by, such as ``true_type``.

    Returns:
        Frame judge_id, [by,] offset (named − true, so positive is too late), n, share (of the judge [and by]).
    """
    named = rows[rows["faulty"].astype(bool) & rows["flagged"].astype(bool)].dropna(subset=["named_step", "true_step"])
    offset = (named["named_step"] - named["true_step"]).astype(int)
    keys = ["judge_id", *([by] if by else [])]
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
    judges = list(dict.fromkeys(rows["judge_id"]))
    typed = set(caught.loc[caught["named_type"].isin(FAULT_TYPES), "judge_id"])
    stepped = set(caught.loc[caught["named_step"].notna(), "judge_id"])
    return Naming([judge for judge in judges if judge in typed], [judge for judge in judges if judge in stepped])


def border(rows: pd.DataFrame) -> pd.DataFrame:
    """Faults of the two types of the blurry border: frame judge, true type, and how many got which name.

    Columns after those: one count for each of the two names, ``another type``, ``missed``.
    """
    table = confusion(rows)
    table = table[table["true"].isin(MERGED)]
    named = table["predicted"].where(table["predicted"].isin([*MERGED, MISSED]), "another type")
    names = [*MERGED, "another type", MISSED]
    wide = table.assign(predicted=named).pivot_table(
        index=["judge_id", "true"], columns="predicted", values="count", aggfunc="sum", sort=False
    )
    wide = wide.reindex(columns=names).astype(int).rename(columns={kind: f"named {kind}" for kind in MERGED})
    return wide.rename_axis(index=["judge", "true type"], columns=None).reset_index()


def steps_by_type(rows: pd.DataFrame) -> pd.DataFrame:
    """Frame judge_id, true_type, flagged (faults of that type), with_step (of those), exact (of those)."""
    caught = rows[rows["faulty"].astype(bool) & rows["flagged"].astype(bool)]
    named = caught["named_step"].notna()
    counts = caught.assign(with_step=named, exact=named & caught["named_step"].eq(caught["true_step"]))
    keys = ["judge_id", "true_type"]
    sums = counts.groupby(keys)[["flagged", "with_step", "exact"]].sum().astype(int)
    every = pd.MultiIndex.from_product([list(dict.fromkeys(rows["judge_id"])), FAULT_TYPES], names=keys)
    return sums.reindex(every, fill_value=0).reset_index()
