"""Our figures beside the published ones, where a run has the judges (or episodes) that the paper reports."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from lib import REFERENCE
from lib.analysis.reproduction import is_papers_run, published_comparison
from lib.analysis.scores import Scores
from lib.show.tables import DASH, Table
from lib.book.scoreboard import LABELS, breakable
from lib.show.text import Prose, prose

FIGURES = REFERENCE / "trajectory_judge_figures.csv"
PARTS = ("value", "low", "high")
OF_A_MACHINE = "seconds_per_trajectory"


def beside_published(
    scores: Scores, metrics: Collection[str], *, episodes: Mapping[str, float] | None = None
) -> Table | Prose:
    """A table of our figures beside the paper's, one row for each that was printed; a sentence where none was.

    Whether a figure is reproduced is a question to the paper's own run only. On another run the table grades nothing,
    and has no seconds, which are those of another machine.

    Args:
        metrics: names of the metrics that the chapter is about.
        episodes: as for ``published_comparison``.
    """
    figures = pd.read_csv(FIGURES, dtype=str)
    found = published_comparison(scores, figures, episodes)
    found = found[found["metric"].isin(set(metrics))]
    same_run = is_papers_run(scores, figures)
    if not same_run:
        found = found[found["metric"] != OF_A_MACHINE].drop(columns="reproduced")
    if found.empty:
        return prose("The paper prints none of these figures for the judges of this run.")
    groups = found.groupby(["judge", "metric"], sort=False)
    rows = pd.DataFrame([_row(judge, metric, own) for (judge, metric), own in groups])
    caption = (
        "Our figures and the paper's" if same_run else "Figures of this run and the paper's, which are of another run"
    )
    return Table(rows, caption, data=found)


def _row(judge: str, metric: str, own: pd.DataFrame) -> dict[str, str]:
    parts = own.set_index("part")
    ours = [_ours(parts.loc[part]) if part in parts.index else "" for part in PARTS]
    theirs = [str(parts["published"].get(part, "")) for part in PARTS]
    graded = {"reproduced": "yes" if own["reproduced"].all() else "no"} if "reproduced" in own else {}
    return {
        "judge": judge,
        "metric": LABELS.get(metric, breakable(metric)),
        "ours": with_bounds(*ours),
        "published": with_bounds(*theirs),
        **graded,
        "where": str(parts["where"].iloc[0]),
    }


def _ours(part: pd.Series) -> str:
    """Our figure to the paper's digits; a dash where this run has none (rules, say, on a run without faults)."""
    return DASH if pd.isna(part["ours"]) else f"{part['ours']:.{int(part['digits'])}f}"


def with_bounds(value: str, low: str, high: str) -> str:
    """A published figure: only the parts that the paper prints, to its digits."""
    if low and high:
        return f"{value} [{low}, {high}]"
    return f"{value} (at most {high})" if high else value
