"""How well any judge of a view can do, however strong: equal texts must get equal verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Ceiling:
    """Best recall that is attainable without flagging any clean trajectory's text (NaN where there is no such fault).

    Attributes:
        visible: faults whose text differs from that of every clean trajectory; silent_visible, loud_visible likewise.
        faults, silent, loud, clean: trajectories of each kind.
        cells: frame cell, n, visible, ceiling.
        frontier: best trade-off beyond zero false alarms, see ``frontier``.
    """

    recall: float
    silent_recall: float
    loud_recall: float
    visible: int
    silent_visible: int
    loud_visible: int
    faults: int
    silent: int
    loud: int
    clean: int
    cells: pd.DataFrame
    frontier: pd.DataFrame


def ceiling(views: pd.DataFrame) -> Ceiling:
    """The ceiling of a view.

    Args:
        views: one row per run with columns text (exactly what a judge of the view is shown), faulty, cell. For the
            question to be fair, the caller adds the clean parent of every mutant (once each): a fault that leaves
            the view as it was is then recognised by its twin.
    """
    texts = views["text"].to_numpy(object)
    faulty = views["faulty"].to_numpy(bool)
    silent = faulty & views["cell"].astype(str).str.endswith("/silent").to_numpy(bool)
    loud = faulty & ~silent
    visible = faulty & ~np.isin(texts.astype(str), texts[~faulty].astype(str))
    cells = pd.DataFrame({"cell": views["cell"].to_numpy()[faulty], "visible": visible[faulty]})
    table = cells.groupby("cell")["visible"].agg(n="size", visible="sum", ceiling="mean").reset_index()
    return Ceiling(
        recall=_share(visible, faulty),
        silent_recall=_share(visible, silent),
        loud_recall=_share(visible, loud),
        visible=int(visible.sum()),
        silent_visible=int((visible & silent).sum()),
        loud_visible=int((visible & loud).sum()),
        faults=int(faulty.sum()),
        silent=int(silent.sum()),
        loud=int(loud.sum()),
        clean=int((~faulty).sum()),
        cells=table,
        frontier=frontier(views),
    )


def frontier(views: pd.DataFrame) -> pd.DataFrame:
    """Highest recall for each false-alarm rate that a judge of the view can be set to, from (0, ceiling) to (1, 1).

    Texts are flagged in falling order of the share of faults among the trajectories that show them
    (Neyman–Pearson); texts with the same share come together, so the points are the corners of the upper hull.

    Returns:
        Frame false_alarm_rate, recall, silent_recall, loud_recall, texts (flagged so far).
    """
    faulty = views["faulty"].astype(bool)
    silent = faulty & views["cell"].astype(str).str.endswith("/silent")
    counts = pd.DataFrame({"text": views["text"], "clean": ~faulty, "silent": silent, "loud": faulty & ~silent})
    groups = counts.groupby("text", sort=True)[["clean", "silent", "loud"]].sum().astype(int)
    faults = groups["silent"] + groups["loud"]
    share = faults / (faults + groups["clean"])
    steps = groups.assign(texts=1).groupby(share).sum().sort_index(ascending=False)
    if share.max() < 1:
        steps = pd.concat([steps.iloc[:0], pd.DataFrame(0, index=[1.0], columns=steps.columns), steps])
    total = steps.cumsum().reset_index(drop=True)
    sums = groups.sum().replace(0, np.nan)
    return pd.DataFrame(
        {
            "false_alarm_rate": total["clean"] / sums["clean"],
            "recall": (total["silent"] + total["loud"]) / (groups["silent"] + groups["loud"]).sum(),
            "silent_recall": total["silent"] / sums["silent"],
            "loud_recall": total["loud"] / sums["loud"],
            "texts": total["texts"],
        }
    )


def _share(part: np.ndarray, whole: np.ndarray) -> float:
    return float((part & whole).sum() / whole.sum()) if whole.any() else float("nan")
