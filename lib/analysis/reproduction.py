"""Published figures beside ours: is each reproduced, to the digits that were printed?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lib.analysis.scores import Estimate, Scores
from lib.errors import UserError

BOUND_TOLERANCE = 0.015
"""Two bootstraps of one quantity differ by chance: how far their bounds may lie apart."""

EPISODES = "episodes:"
FIELDS = ["judge", "metric", "part", "ours", "published", "digits", "reproduced", "where"]


def published_comparison(
    scores: Scores, figures: pd.DataFrame, episodes: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Our value for every published figure whose judge (pair, or episodes) is in the run.

    Args:
        scores: ``score`` of the run.
        figures: ``data/reference/trajectory_judge_figures.csv`` read as text (``dtype=str``), since the printed
            digits are what is compared.
        episodes: ``lib.analysis.episodes.summary`` of the run's episodes; None leaves their rows out.

    Returns:
        Frame judge, metric, part (value, low, high), ours, published (as printed), digits, reproduced, where.
        A value is reproduced when it rounds to the printed one, a bound when it is within BOUND_TOLERANCE or one
        step of that proportion's grid (1/n), whichever is larger.

    Raises:
        UserError: figures that were not read as text.
    """
    if figures["value"].map(type).ne(str).any():
        raise UserError("published figures must be read as text: pandas.read_csv(path, dtype=str)")
    rows = []
    for figure in figures.to_dict("records"):
        found = _ours(scores, episodes, str(figure["judge"]), str(figure["metric"]))
        if found is None:
            continue
        ours, tolerance = found
        for part in ("value", "low", "high"):
            printed = figure[part]
            if not isinstance(printed, str) or not printed:
                continue
            digits = len(printed.partition(".")[2])
            own = getattr(ours, part)
            close = _rounds_to(own, printed, digits) if part == "value" else abs(own - float(printed)) <= tolerance
            rows.append([figure["judge"], figure["metric"], part, own, printed, digits, bool(close), figure["where"]])
    return pd.DataFrame(rows, columns=FIELDS)


def is_papers_run(scores: Scores, figures: pd.DataFrame) -> bool:
    """Whether a run has every judge that the paper reports; only then are its figures to come out again."""
    single = {judge for judge in figures["judge"] if not judge.startswith(EPISODES) and " minus " not in judge}
    return single <= set(scores.n)


def _rounds_to(own: float, printed: str, digits: int) -> bool:
    return abs(own - float(printed)) <= 0.5 * 10.0**-digits + 1e-9


def _ours(
    scores: Scores, episodes: Mapping[str, float] | None, judge: str, metric: str
) -> tuple[Estimate, float] | None:
    """Our estimate with the tolerance of its bounds; None where the run has no such judge or episodes."""
    if judge.startswith(EPISODES):
        if episodes is None:
            return None
        return Estimate(float(episodes[metric]), np.nan, np.nan, int(episodes["episodes"])), 0.0
    a, minus, b = judge.partition(" minus ")
    judges = [a, b] if minus else [a]
    if not set(judges) <= set(scores.judges):
        return None
    grids = [scores.estimate(name, metric).n for name in judges]
    tolerance = max([BOUND_TOLERANCE, *(1 / n for n in grids if n)])
    return scores.delta(a, b, metric) if minus else scores.estimate(a, metric), tolerance + 1e-9
