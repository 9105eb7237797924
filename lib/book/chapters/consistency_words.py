"""Chapter 4 in sentences: what the differences, the costs and the votes say."""

from __future__ import annotations

import math

import pandas as pd

from lib.analysis import consistency
from lib.analysis.judges import judge_name
from lib.show.tables import DASH
from lib.show.text import Prose, prose, said


def delta_answer(deltas: pd.DataFrame, ensemble: str, single: str, n: int) -> Prose:
    """On which axes the two can be told apart, and F1 with its interval."""
    known = deltas[deltas["reading"] != consistency.UNDEFINED]
    better, worse = (known[known["reading"] == reading] for reading in (consistency.BETTER, consistency.WORSE))
    first = prose(
        "On the {n} trajectories that both judged, the majority of {k} passes ({ensemble:code}) can be told apart from one "
        "greedy pass ({single:code}) on {told} of {axes} axes{split}.",
        n=n,
        k=judge_name(ensemble).k,
        ensemble=ensemble,
        single=single,
        told=len(better) + len(worse) or "none",
        axes=len(known),
        split=_split(better, worse),
    )
    if not known["metric"].isin(["silent_recall", "loud_recall"]).any():
        return first  # without a fault, F1 is 0 for whoever flags anything
    rows = known.set_index("metric")
    changes: list[Prose | None] = [f1_answer(rows.loc["f1"])] if "f1" in rows.index else []
    if {"f1", "youden_j"} <= set(rows.index):
        changes.append(youden_answer(rows.loc["f1"], rows.loc["youden_j"]))
    return said(first, *changes)


def f1_answer(row: pd.Series) -> Prose:
    """How F1 changes."""
    if row["ensemble"] == row["single"] == 0:
        return prose(
            "Both have an F1 of 0: neither flags a single fault, so there is nothing for a majority to improve."
        )
    return prose(
        "F1 changes by {change}{zero}.",
        change=Prose(difference_cell(row["value"], row["low"], row["high"])),
        zero=_zero(row),
    )


def _zero(row: pd.Series) -> str:
    if row["reading"] != consistency.ALIKE:
        return ""
    return ", which has no interval" if math.isnan(row["low"]) else ", an interval that includes 0"


def youden_answer(f1: pd.Series, j: pd.Series) -> Prose | None:
    """Whether a change of F1 is one of ability: Youden's J does not change when a judge just flags more."""
    if f1["reading"] not in (consistency.BETTER, consistency.WORSE) or j["reading"] != consistency.ALIKE:
        return None
    gain = f1["reading"] == consistency.BETTER
    return prose(
        "But Youden's J changes by {change}, an interval that includes 0: F1 {moves} when a judge merely flags {amount}, so it "
        "is not shown that a majority tells faulty from clean any {how}.",
        change=Prose(difference_cell(j["value"], j["low"], j["high"])),
        moves="rises" if gain else "falls",
        amount="more" if gain else "less",
        how="better" if gain else "worse",
    )


def difference_cell(value: float, low: float, high: float) -> str:
    """``-0.009 [-0.020, +0.000]``: a difference with its sign, without brackets where it has no interval."""
    if math.isnan(value):
        return DASH
    numbers = [f"{round(number, 3) + 0.0:+.3f}" for number in (value, low, high)]
    return numbers[0] if math.isnan(low) else f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"


def _split(better: pd.DataFrame, worse: pd.DataFrame) -> Prose:
    parts = [f"{word} on {', '.join(own['axis'])}" for word, own in (("better", better), ("worse", worse)) if len(own)]
    return Prose(f" ({'; '.join(parts)})" if parts else "")


def cost_answer(costs: pd.DataFrame) -> Prose | None:
    """What the ensemble costs, as a multiple of one pass; None where neither time nor tokens are known."""
    ratios = costs.dropna(subset="ratio").set_index("cost")["ratio"]
    if ratios.empty:
        return None
    told = [prose("{r:.1f} times the {cost}", r=ratio, cost=cost) for cost, ratio in ratios.items()]
    *head, last = (str(part) for part in told)
    return prose("It costs {what}.", what=Prose(f"{', '.join(head)} and {last}" if head else last))


def votes_answer(flips: pd.DataFrame, votes: pd.DataFrame) -> Prose:
    """How often the members agree."""
    total = flips[flips["kind"] == "all"].iloc[0]
    if (votes["yes"] == 0).all():
        return prose("No member ever flags anything, so there is nothing for a majority to settle.")
    return prose(
        "Its members vote alike on {agreed} of {n} trajectories; two of them disagree with a chance of {flip:.3f} on average.",
        agreed=int(total["unanimous"]),
        n=int(total["n"]),
        flip=total["flip_rate"],
    )


def misses_answer(row: pd.Series) -> Prose:
    """Whether the members miss the same faults."""
    if not row["missed_by_all"]:
        return prose("No fault is missed by all members.")
    numbers = {
        "k": int(row["missed_by_all"]),
        "n": int(row["faults"]),
        "share": row["observed"],
        "alone": row["independent"],
        "cells": row["independent_in_cells"],
    }
    text = "All of them miss {k} of {n} faults ({share:.3f}); were their misses independent, it would be {alone:.3f}"
    if row["low"] <= row["independent"]:
        return prose(text + ", which is within the interval of what is seen.", **numbers)
    within = (
        ", and still more than the {cells:.3f} of members that only find the same kinds of fault hard"
        if row["low"] > row["independent_in_cells"]
        else "; that some kinds of fault are hard for every member is enough to explain it (that alone: {cells:.3f})"
    )
    return prose(text + within + ". A majority cannot repair what all of them miss.", **numbers)
