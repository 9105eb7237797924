"""Chapter 1: recall and false alarms within each kind of instance."""

from __future__ import annotations

import math

import pandas as pd

from lib.analysis.scores import is_fixed
from lib.show.tables import Table
from lib.show.text import Prose, bullets, code, prose

SIDES = ("faulty", "clean")


def strata_answer(table: pd.DataFrame) -> Prose:
    """Where each judge's false alarms fall.

    Args:
        table: frame of ``agreement.by_stratum``.
    """
    judges = list(dict.fromkeys(table["judge_id"]))
    if not judges:
        return prose("There is no judge here whose verdicts could be split by stratum.")
    return bullets(_alarms(judge, table[table["judge_id"] == judge]) for judge in judges)


def _alarms(judge: str, own: pd.DataFrame) -> Prose:
    own = own[own["clean"] > 0]
    raised = own[own["false_alarms"] > 0]
    total = int(raised["false_alarms"].sum())
    if raised.empty:
        return prose("{judge:code} raises no false alarm in any stratum.", judge=judge)
    each = Prose(", ".join(f"{code(one.stratum)} {one.false_alarms} of {one.clean}" for one in raised.itertuples()))
    if len(raised) == len(own):
        return prose(
            "The {n} false alarms of {judge:code} are spread over all strata ({each}).", n=total, judge=judge, each=each
        )
    every = bool((raised["false_alarms"] == raised["clean"]).all())
    return prose(
        "The {n} false alarms of {judge:code} all fall in {k} of {m} strata ({each})"
        + (": it flags every clean trajectory there, and none elsewhere." if every else "."),
        n=total,
        judge=judge,
        k=len(raised),
        m=len(own),
        each=each,
    )


def strata_frame(table: pd.DataFrame) -> pd.DataFrame:
    """Share flagged of the faulty and of the clean trajectories of each stratum: judge_id, row, value, low, high, n."""
    table = _without_bounds_of_rules(table)
    names = {"faulty": ("recall", "recall", "faults"), "clean": ("false_alarm_rate", "false_alarm", "clean")}
    parts = []
    for side, (value, bounds, n) in names.items():
        part = table[["judge_id", "stratum", value, f"{bounds}_low", f"{bounds}_high", n]].copy()
        part.columns = pd.Index(["judge_id", "row", "value", "low", "high", "n"])
        parts.append(part.assign(row=part["row"] + f": {side}"))
    return pd.concat(parts, ignore_index=True).dropna(subset=["value"])


def strata_rows(table: pd.DataFrame) -> list[str]:
    """Rows of ``strata_frame`` in order, the two sides of a stratum together."""
    return [f"{stratum}: {side}" for stratum in dict.fromkeys(table["stratum"]) for side in SIDES]


def strata_table(table: pd.DataFrame) -> Table | Prose:
    """The frame of ``agreement.by_stratum`` as counts and rates."""
    if table.empty:
        return prose("So there is no table of strata.")
    table = _without_bounds_of_rules(table)
    frame = pd.DataFrame(
        {
            "judge": table["judge_id"],
            "stratum": table["stratum"],
            "faults caught": [
                _count(one.caught, one.faults, one.recall_low, one.recall_high) for one in table.itertuples()
            ],
            "of them silent": [_count(one.silent_caught, one.silent) for one in table.itertuples()],
            "clean flagged": [
                _count(one.false_alarms, one.clean, one.false_alarm_low, one.false_alarm_high)
                for one in table.itertuples()
            ],
        }
    )
    return Table(
        frame.set_index(["judge", "stratum"]), "Within each stratum, with exact 95 % intervals of the share", data=table
    )


def _count(part: int, whole: int, low: float = math.nan, high: float = math.nan) -> str:
    text = f"{part} of {whole}"
    return text if math.isnan(low) else f"{text} [{low:.2f}, {high:.2f}]"


def _without_bounds_of_rules(table: pd.DataFrame) -> pd.DataFrame:
    """Verdicts that follow from fixed rules are no sample of anything."""
    bounds = ["recall_low", "recall_high", "false_alarm_low", "false_alarm_high"]
    return table.assign(**{name: table[name].mask(table["judge_id"].map(is_fixed).astype(bool)) for name in bounds})
