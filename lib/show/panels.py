"""Bars that are divided, judges in a ranking, and lines to read a chart against."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from lib.show.style import NEUTRAL, PALETTE, heading, judge_scales, labels

_QUALITATIVE = (PALETTE[0], PALETTE[3], PALETTE[1], NEUTRAL)


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
            y=alt.Y(f"{row}:N", sort=list(rows), title=None, axis=alt.Axis(**labels(rows))),
            x=alt.X("share:Q", title=x_title, scale=alt.Scale(domain=[0, 1], nice=False)),
            color=alt.Color(f"{part}:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", columns=2)),
            order=alt.Order("place:Q"),
            tooltip=[f"{row}:N", f"{part}:N", alt.Tooltip("share:Q", format=".3f"), "n:Q"],
        )
    )
    return bars.properties(width=360, height=alt.Step(26), title=heading(title), description=description)


def ranked(
    frame: pd.DataFrame,
    order: Sequence[str],
    rows: Sequence[str],
    *,
    x_title: str,
    title: str,
    description: str,
    domain: tuple[float, float] = (0, 1),
) -> alt.LayerChart:
    """One row per judge: its value with its interval, and the bar that it is to be read against.

    Args:
        frame: ``judge_id``, ``size`` (in words), ``value``, ``low``, ``high`` (null without interval), ``bar``.
        order: the run's order of judges, for their colours; rows: the judges from top to bottom.
    """
    scales = judge_scales(order)
    y = alt.Y("judge_id:N", sort=list(rows), title=None, axis=alt.Axis(**labels(rows)))
    scale = alt.Scale(domain=list(domain), nice=False)
    numbers = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high", "bar")]
    base = alt.Chart(frame.round(4)).encode(
        y=y,
        color=alt.Color("judge_id:N", scale=scales.colour, legend=None),
        tooltip=["judge_id:N", "size:N", *numbers],
    )
    bar = base.mark_tick(thickness=2, size=18).encode(
        x=alt.X("bar:Q", title=x_title, scale=scale), color=alt.value(NEUTRAL)
    )
    whiskers = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", title=x_title, scale=scale), x2="high:Q")
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("value:Q", title=x_title, scale=scale), shape=alt.Shape("judge_id:N", scale=scales.shape, legend=None)
    )
    layers: alt.LayerChart = bar + whiskers + dots
    return layers.properties(width=360, height=alt.Step(24), title=heading(title), description=description)


def with_rule(chart: alt.LayerChart, at: float, *, x_title: str) -> alt.LayerChart:
    """The chart with a dashed line across all rows, at a value of its x axis (whose title is given again)."""
    line = alt.Chart(pd.DataFrame({"at": [at]})).mark_rule(color=NEUTRAL, strokeDash=[4, 4], strokeWidth=1.5)
    across = alt.X("at:Q", title=x_title, axis=alt.Axis(tickCount=5))
    layered: alt.LayerChart = chart + line.encode(x=across, tooltip=alt.value(None))
    return layered


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
