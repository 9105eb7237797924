"""Bars that are divided: what a whole is made of, one bar a row."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import altair as alt
import pandas as pd

from lib.analysis.chart_style import NEUTRAL, PALETTE

_QUALITATIVE = (PALETTE[0], PALETTE[3], PALETTE[1], NEUTRAL)
_LABELS = 170


def divided_bars(
    frame: pd.DataFrame,
    *,
    row: str,
    rows: Sequence[str],
    part: str,
    parts: Sequence[str],
    x_title: str,
    title: str,
    description: str,
    ordered: bool = False,
) -> alt.Chart:
    """One bar for each of ``rows``, divided into ``parts`` whose shares add up to 1.

    Args:
        frame: the columns named by ``row`` and ``part``, ``share``, ``n`` (what the part counts).
        ordered: whether the parts are steps of one scale (shades of one colour) instead of kinds. Kinds are four at
            most, the last of them the rest.
    """
    scale = alt.Scale(domain=list(parts), range=_shades(len(parts)) if ordered else list(_QUALITATIVE[: len(parts)]))
    place = {name: number for number, name in enumerate(parts)}
    bars = (
        alt.Chart(frame.assign(place=frame[part].map(place)).round(4))
        .mark_bar(stroke=NEUTRAL, strokeWidth=0.5)
        .encode(
            y=alt.Y(f"{row}:N", sort=list(rows), title=None, axis=alt.Axis(labelLimit=_LABELS)),
            x=alt.X("share:Q", title=x_title, scale=alt.Scale(domain=[0, 1], nice=False)),
            color=alt.Color(f"{part}:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", columns=2)),
            order=alt.Order("place:Q"),
            tooltip=[f"{row}:N", f"{part}:N", alt.Tooltip("share:Q", format=".3f"), "n:Q"],
        )
    )
    lines = alt.TitleParams(textwrap.wrap(title, 62), anchor="start", frame="group")
    return bars.properties(width=360, height=alt.Step(26), title=lines, description=description)


def _shades(count: int) -> list[str]:
    """From orange over grey to blue, so that the two ends of the scale are told apart at a glance."""
    low, middle, high = ((213, 94, 0), (200, 200, 200), (0, 114, 178))
    if count < 2:
        return ["#0072B2"][:count]
    found = []
    for i in range(count):
        at = 2 * i / (count - 1)
        a, b, t = (low, middle, at) if at <= 1 else (middle, high, at - 1)
        found.append("#" + "".join(f"{round(x + (y - x) * t):02X}" for x, y in zip(a, b, strict=True)))
    return found
