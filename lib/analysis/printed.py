"""Scores as the command line prints them: a table, JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.analysis.base_rate import worths
from lib.analysis.bench import Bench
from lib.analysis.estimates import MOST_UNREAD, Estimate
from lib.visible import to_csv, visible

JSON_DIGITS = 9


def scores(board: Bench, worth: tuple[float, float] | None) -> pd.DataFrame:
    """Each judge's metrics, and how many replies could not be read.

    Args:
        worth: base rate and what a miss costs in false alarms, where their rows are wanted.
    """
    parts = [board.score(), *([worths(board, *worth)] if worth else [])]
    return pd.concat(parts).assign(unread=lambda frame: frame["judge"].map(board.unread_counts))


def as_csv(board: Bench, scored: pd.DataFrame, paired: Sequence[pd.DataFrame]) -> str:
    """The scores alone; differences have other columns."""
    return to_csv(scored).removesuffix("\n")


def as_json(board: Bench, scored: pd.DataFrame, paired: Sequence[pd.DataFrame]) -> str:
    """Plain values: null where undefined, rounded to nine decimals."""

    def plain(row: Any) -> dict[str, float | None]:
        parts = ((name, getattr(row, name)) for name in ("value", "low", "high"))
        return {name: round(float(part), JSON_DIGITS) + 0.0 if np.isfinite(part) else None for name, part in parts}

    judges: dict[str, Any] = {
        name: {"n": board.counts[name], "unread": board.unread_counts[name], "metrics": {}} for name in board.judges
    }
    for row in scored.itertuples(index=False):
        judges[row.judge]["metrics"][row.metric] = plain(row) | {"n": int(row.n)}
    deltas = [
        {"a": row.a, "b": row.b, "metric": row.metric, **plain(row), "n": int(row.n), "reading": row.reading}
        for frame in paired
        for row in frame.itertuples(index=False)
    ]
    return json.dumps({"judges": judges, "deltas": deltas}, indent=1, allow_nan=False)


def as_table(board: Bench, scored: pd.DataFrame, paired: Sequence[pd.DataFrame]) -> str:
    """A metric a line, a judge a column: value and interval, ``–`` where there is none; then a table a pair."""
    return visible("\n\n".join([_scores(board, scored), *(_differences(one) for one in paired)]))


def _scores(board: Bench, scored: pd.DataFrame) -> str:
    withheld = {name for name, share in board.unread.items() if share > MOST_UNREAD}
    cells = [
        "withheld" if row.judge in withheld else Estimate(row.value, row.low, row.high).text(3)
        for row in scored.itertuples(index=False)
    ]
    wide = scored.assign(cell=cells).pivot_table(index="metric", columns="judge", values="cell", aggfunc="first")
    table = wide.loc[scored["metric"].unique(), board.judges]
    table.loc[f"{board.registry.unit} judged"] = [str(board.counts[name]) for name in board.judges]
    table.loc["replies unread"] = [str(board.unread_counts[name]) for name in board.judges]
    note = f"\n\nwithheld: most replies of {', '.join(sorted(withheld))} could not be read" if withheld else ""
    return table.rename_axis(None, axis=1).reset_index().to_string(index=False) + note


def _differences(paired: pd.DataFrame) -> str:
    rows = [
        [row.metric, Estimate(row.value, row.low, row.high).text(3, signed=True), row.reading]
        for row in paired.itertuples(index=False)
    ]
    a, b = paired.loc[0, ["a", "b"]]
    return pd.DataFrame(rows, columns=["metric", f"{a} minus {b}", "reading"]).to_string(index=False)


FORMATS: dict[str, Callable[[Bench, pd.DataFrame, Sequence[pd.DataFrame]], str]] = {
    "table": as_table,
    "json": as_json,
    "csv": as_csv,
}
