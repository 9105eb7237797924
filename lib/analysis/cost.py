"""What a judge costs, and whether a dearer one is better."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from lib.analysis.scores import Scores
from lib.show.style import heading, judge_scales, labels

QUALITY = "youden_j"
CHEAPEST = 0.1
"""Seconds at the left end of the chart's logarithmic axis: faster judges are drawn there."""


def cost_frame(scores: Scores, judges: Sequence[str]) -> pd.DataFrame:
    """Cost and quality of judges.

    Returns:
        Frame judge_id, n, seconds, prompt_tokens, completion_tokens (means per trajectory; NaN where not counted),
        hours (over all n), value, low, high (Youden's J), unbeaten: no other judge is as fast and as good, and
        better in one of the two.
    """
    rows = []
    for judge in judges:
        quality = scores.estimate(judge, QUALITY)
        seconds, prompt, completion = (
            scores.estimate(judge, f"{name}_per_trajectory").value
            for name in ("seconds", "prompt_tokens", "completion_tokens")
        )
        n = scores.n[judge]
        rows.append((judge, n, seconds, prompt, completion, n * seconds / 3600, *quality[:3]))
    names = ["judge_id", "n", "seconds", "prompt_tokens", "completion_tokens", "hours", "value", "low", "high"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(unbeaten=_unbeaten(frame["seconds"].to_numpy(float), frame["value"].to_numpy(float)))


def _unbeaten(seconds: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """True where no other point has at most the seconds, at least the quality, and one of them better."""
    s, q = seconds[:, None], quality[:, None]
    beats = (seconds <= s) & (quality >= q) & ((seconds < s) | (quality > q))
    return ~beats.any(axis=1) & ~np.isnan(seconds) & ~np.isnan(quality)


def quality_against_cost(
    frame: pd.DataFrame, order: Sequence[str], *, title: str, description: str
) -> alt.Chart | alt.LayerChart:
    """Youden's J with its interval against seconds per trajectory, on a logarithmic axis.

    Args:
        frame: of ``cost_frame``; order: the run's full order of judges.
    """
    scales = judge_scales(order)
    judges = [judge for judge in scales.judges if judge in set(frame["judge_id"])]
    legend = alt.Legend(title=None, orient="bottom", columns=2, values=judges, **labels(judges))
    shown = frame.assign(drawn=frame["seconds"].clip(lower=CHEAPEST)).round(4)
    most = max(10.0, float(shown["drawn"].max()) * 1.5)
    base = alt.Chart(shown.drop(columns=["prompt_tokens", "completion_tokens", "hours"])).encode(
        x=alt.X(
            "drawn:Q",
            title="seconds per trajectory (logarithmic)",
            scale=alt.Scale(type="log", domain=[CHEAPEST * 0.8, most], nice=False),
            axis=alt.Axis(
                values=[CHEAPEST, 1, 10, 100, 1000],
                labelExpr=f"datum.value == {CHEAPEST} ? '≤ {CHEAPEST}' : format(datum.value, '~g')",
            ),
        ),
        color=alt.Color("judge_id:N", scale=scales.colour, legend=legend),
        tooltip=[
            alt.Tooltip("judge_id:N"),
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("seconds", "value", "low", "high")),
        ],
    )
    up = alt.Scale(domain=[min(-0.2, float(frame["low"].min())), 1], nice=False)
    whiskers = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=2)
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(
        y=alt.Y("value:Q", title="Youden's J", scale=up),
        shape=alt.Shape("judge_id:N", scale=scales.shape, legend=legend),
    )
    layers = whiskers.encode(y=alt.Y("low:Q", title="Youden's J", scale=up), y2="high:Q") + marks
    return layers.properties(width=360, height=240, title=heading(title), description=description)
