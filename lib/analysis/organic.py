"""Agent episodes beside the injected faults, and which of them to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from lib.analysis.episodes import by_fault_type
from lib.records import FAULT_TYPES
from lib.run.manifest import COLLECTIONS
from lib.show.style import NEUTRAL, PALETTE, heading, labels

PAPER_AGENT = "qwen2.5:14b"


def against_injected(episodes: pd.DataFrame, trajectories: pd.DataFrame) -> pd.DataFrame:
    """How often each fault type occurs, injected and organic.

    Args:
        episodes: frame of ``episode_frame``.
        trajectories: the run's judged trajectories.

    Returns:
        Frame failure_type, source (``injected`` or ``organic``), silent, loud, n, share (of the source's faults), cell
        (the same as text); every type of either source has a row for both.
    """
    tables = {"injected": by_fault_type(trajectories), "organic": by_fault_type(episodes)}
    found = {kind for table in tables.values() for kind in table["failure_type"]}
    kinds = [kind for kind in FAULT_TYPES if kind in found] + sorted(found - set(FAULT_TYPES))
    whole = [
        table.set_index("failure_type").reindex(kinds, fill_value=0).reset_index().assign(source=source)
        for source, table in tables.items()
    ]
    mix = pd.concat(whole, ignore_index=True)
    mix["cell"] = [f"{row.silent} + {row.loud} = {row.n} ({row.share:.2f})" for row in mix.itertuples()]
    return mix[["failure_type", "source", "silent", "loud", "n", "share", "cell"]]


def most_telling(episodes: pd.DataFrame) -> str | None:
    """Id of the longest silent fault (the first, if several), else loud fault, else episode; None where none is."""
    if episodes.empty:
        return None
    faulty, correct = episodes["faulty"].astype(bool), episodes["outcome_correct"].astype(bool)
    pool = next(part for part in (episodes[faulty & correct], episodes[faulty], episodes) if len(part))
    return str(pool.loc[pool["n_steps"].idxmax(), "trajectory_id"])


def is_papers_agent(manifest: Mapping[str, Any]) -> bool:
    """Whether the episodes are by the model of the paper's: as recorded, or the released run, which records none."""
    played = manifest.get("episodes")
    return played.get("model") == PAPER_AGENT if isinstance(played, Mapping) else "runs" in manifest


def asked_for(manifest: Mapping[str, Any]) -> int | None:
    """How many episodes the last collection was to play; None where that is not recorded."""
    collections = manifest.get("episodes", {}).get(COLLECTIONS) or [{}]
    limit = collections[-1].get("limit")
    return limit if type(limit) is int else None


def stacked_bars(
    frame: pd.DataFrame,
    *,
    x: str,
    part: str,
    x_title: str,
    y_title: str,
    categories: Sequence[Any],
    parts: Sequence[str],
    title: str,
    description: str,
) -> alt.Chart:
    """Counts over ``x``, each bar made up of ``parts``; frame: the columns named, and ``n``."""
    whole = int(min(max(frame.groupby(x)["n"].sum().max(), 1), 5))  # no ticks at halves, which would be rounded
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(
                f"{x}:N", sort=list(categories), title=x_title, axis=alt.Axis(labelAngle=-45, **labels(categories))
            ),
            y=alt.Y("n:Q", title=y_title, axis=alt.Axis(tickCount=whole, format="d")),
            color=_two(part, parts),
            order=alt.Order("rank:Q"),
            tooltip=[f"{x}:N", f"{part}:N", "n:Q"],
        )
        .transform_calculate(rank=f"indexof({list(parts)!r}, datum.{part})")
        .properties(width=360, height=200, title=heading(title))
        .properties(description=description)
    )


def shares_by_type(frame: pd.DataFrame, *, title: str, description: str) -> alt.Chart:
    """The shares of ``against_injected`` as pairs of bars, one pair a fault type."""
    sources, kinds = ["injected", "organic"], list(dict.fromkeys(frame["failure_type"]))
    return (
        alt.Chart(frame.round(4))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of the faults", scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("failure_type:N", sort=kinds, title=None).axis(**labels(kinds)),
            yOffset=alt.YOffset("source:N", sort=sources),
            color=_two("source", sources),
            tooltip=["failure_type:N", "source:N", "n:Q", "silent:Q", "loud:Q", alt.Tooltip("share:Q", format=".2f")],
        )
        .properties(width=360, height=alt.Step(24, **{"for": "position"}))
        .properties(title=heading(title), description=description)
    )


def _two(column: str, parts: Sequence[str]) -> alt.Color:
    """Grey for the first, a colour for the second: what is asked about stands out."""
    scale = alt.Scale(domain=list(parts), range=[NEUTRAL, PALETTE[1]])
    return alt.Color(f"{column}:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", labelLimit=300))
