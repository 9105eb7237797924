"""Agent episodes beside the injected faults, and which of them to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from lib.analysis.episodes import by_fault_type
from lib.records import FAULT_TYPES
from lib.run.manifest import COLLECTIONS

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
