"""The book's charts. Each takes a tidy frame, names its axes, and needs a description for those who can't see it.

``order`` is always the run's full order of judges, so that a judge keeps its colour and shape in every chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import altair as alt
import pandas as pd

from lib.show.style import NEUTRAL, PALETTE, enable, heading, judge_scales, labels

__all__ = [
    "PARTS",
    "bars",
    "captioned",
    "confusion",
    "enable",
    "intervals",
    "recall_by_survival",
    "recall_by_type",
    "reliability",
    "silent_recall_against_false_alarms",
]

AnyChart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

PARTS = ("silent faults", "loud faults", "false alarms")
ANCHOR = "false alarms"
_WIDTH = 360


def recall_by_survival(frame: pd.DataFrame, order: Sequence[str], *, title: str, description: str) -> AnyChart:
    """Per judge: silent recall, loud recall and false alarms with intervals, the false-alarm rate marked across.

    Args:
        frame: ``judge_id``, ``part`` (one of ``PARTS``), ``value``, ``low``, ``high`` (null without interval), ``n``.
    """
    scales = judge_scales(order)
    judges = [judge for judge in scales.judges if judge in set(frame["judge_id"])]
    y = alt.Y("judge_id:N", sort=judges, title=None, axis=alt.Axis(**labels(judges)))
    offset = alt.YOffset("part:N", sort=list(PARTS))
    colour = alt.Color("judge_id:N", scale=scales.colour, legend=None)
    shape = alt.Shape(
        "part:N",
        scale=alt.Scale(domain=list(PARTS), range=["circle", "square", "cross"]),
        legend=alt.Legend(title=None, orient="top"),
    )
    base = alt.Chart(frame.round(4)).encode(y=y, tooltip=_tips("judge_id", "part"))
    anchor = base.transform_filter(alt.datum.part == ANCHOR)
    mark = anchor.mark_tick(color=NEUTRAL, thickness=1.5, size=42).encode(x=_rate("value", "share flagged"))
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=_rate("value", "share flagged"), yOffset=offset, color=colour, shape=shape
    )
    return _finish(mark + _whiskers(base).encode(yOffset=offset, color=colour) + dots, title, description, step=46)


def recall_by_type(
    frame: pd.DataFrame, order: Sequence[str], rows: Sequence[str], *, title: str, description: str
) -> AnyChart:
    """Recall per fault type and judge, under the judge's false-alarm rate in the anchor row (put it in ``rows``).

    Args:
        frame: ``judge_id``, ``row`` (a fault type, or ``ANCHOR``), ``value``, ``low``, ``high``, ``n``.
    """
    return intervals(frame, order, row="row", rows=rows, x_title="share flagged", title=title, description=description)


def intervals(
    frame: pd.DataFrame,
    order: Sequence[str],
    *,
    row: str,
    rows: Sequence[str],
    x_title: str,
    title: str,
    description: str,
    domain: tuple[float, float] = (0, 1),
) -> AnyChart:
    """Dots with intervals: one row per value of ``row``, one dot per judge in it.

    Args:
        frame: ``judge_id``, the column named by ``row``, ``value``, ``low``, ``high``, ``n``.
    """
    scales = judge_scales(order)
    judges = [judge for judge in scales.judges if judge in set(frame["judge_id"])]
    legend = alt.Legend(title=None, orient="bottom", columns=2, values=judges, **labels(judges))
    colour = alt.Color("judge_id:N", scale=scales.colour, legend=legend)
    shape = alt.Shape("judge_id:N", scale=scales.shape, legend=legend)
    offset = alt.YOffset("judge_id:N", sort=judges)
    base = alt.Chart(frame.round(4)).encode(
        y=alt.Y(f"{row}:N", sort=list(rows), title=None, axis=alt.Axis(**labels(rows))),
        yOffset=offset,
        color=colour,
        tooltip=_tips("judge_id", row),
    )
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(x=_rate("value", x_title, domain), shape=shape)
    layers = _whiskers(base, domain, x_title) + dots
    return _finish(layers, title, description, step=10 * max(len(judges), 2) + 6)


def reliability(frame: pd.DataFrame, order: Sequence[str], *, title: str, description: str) -> AnyChart:
    """Share of right verdicts against stated confidence, one panel per judge; the mark's area is the bin's size.

    Args:
        frame: ``judge_id``, ``confidence`` (the bin's mean), ``accuracy``, ``n``.
    """
    scales = judge_scales(order)
    judges = [judge for judge in scales.judges if judge in set(frame["judge_id"])]
    across, up = alt.Scale(domain=[0.45, 1.02], nice=False), alt.Scale(domain=[0, 1.04], nice=False)
    x = alt.X("confidence:Q", title="stated confidence", scale=across)
    y = alt.Y("accuracy:Q", title="share of right verdicts", scale=up)
    base = alt.Chart(frame.round(4)).encode(color=alt.Color("judge_id:N", scale=scales.colour, legend=None))
    perfect = base.mark_rule(strokeDash=[4, 4], color=NEUTRAL).encode(
        x=alt.XDatum(0.5, scale=across),
        x2=alt.datum(1),
        y=alt.YDatum(0.5, scale=up),
        y2=alt.datum(1),
        color=alt.value(NEUTRAL),
    )
    line = base.mark_line(opacity=0.35).encode(x=x, y=y)
    marks = base.mark_point(filled=True, opacity=0.9).encode(
        x=x,
        y=y,
        shape=alt.Shape("judge_id:N", scale=scales.shape, legend=None),
        size=alt.Size("n:Q", title="verdicts", scale=alt.Scale(range=[15, 300]), legend=alt.Legend(orient="bottom")),
        tooltip=_tips("judge_id", numbers=("confidence", "accuracy")),
    )
    panels = (perfect + line + marks).properties(width=165, height=150)
    facet = alt.Facet("judge_id:N", sort=judges, title=None, header=alt.Header(**labels(judges)))
    return panels.facet(facet=facet, columns=2).properties(title=heading(title), description=description)


def confusion(
    frame: pd.DataFrame,
    order: Sequence[str],
    types: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    description: str,
) -> AnyChart:
    """Heat maps of true fault type against the type a judge named, one panel per judge; shade is the row's share.

    Args:
        frame: ``judge_id``, ``true``, ``predicted``, ``count``, ``share`` (of the row, in [0, 1]).
    """
    judges = [judge for judge in judge_scales(order).judges if judge in set(frame["judge_id"])]
    base = alt.Chart(frame.round(4)).encode(
        x=alt.X("predicted:N", sort=list(columns), title="type named", axis=alt.Axis(labelAngle=-60)),
        y=alt.Y("true:N", sort=list(types), title="true type"),
        tooltip=["judge_id:N", "true:N", "predicted:N", "count:Q", alt.Tooltip("share:Q", format=".2f")],
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            title="share of row",
            scale=alt.Scale(domain=[0, 1], scheme="blues"),
            legend=alt.Legend(orient="bottom"),
        )
    )
    dark = alt.value("#111"), alt.value("#fff")
    counts = base.mark_text(fontSize=10).encode(
        text="count:Q", color=alt.condition(alt.datum.share > 0.55, dark[1], dark[0])
    )
    panels = (cells + counts).properties(width=alt.Step(24), height=alt.Step(22))
    facet = alt.Facet("judge_id:N", sort=judges, title=None, header=alt.Header(**labels(judges)))
    return panels.facet(facet=facet, columns=2).properties(title=heading(title), description=description)


def silent_recall_against_false_alarms(
    frame: pd.DataFrame, order: Sequence[str], *, ceiling: float | None, title: str, description: str
) -> AnyChart:
    """Every judge as a mark; on the dashed diagonal a judge tells nothing.

    Judges of the frame's first run are full marks, those of any other are hollow.

    Args:
        frame: ``run``, ``judge_id``, ``false_alarm_rate``, ``silent_recall``.
        ceiling: best silent recall of the outcome view without a false alarm, drawn as a rule; None for no rule.
    """
    scales = judge_scales(order)
    judges = [judge for judge in scales.judges if judge in set(frame["judge_id"])]
    legend = alt.Legend(title=None, orient="bottom", columns=2, values=judges, **labels(judges))
    x, y = (
        _rate("false_alarm_rate", "false-alarm rate"),
        alt.Y("silent_recall:Q", scale=alt.Scale(domain=[0, 1], nice=False)),
    )
    own = alt.datum.run == (frame["run"].iloc[0] if len(frame) else "")
    marks = (
        alt.Chart(frame.round(4))
        .mark_point(filled=False, strokeWidth=2, size=110)
        .encode(
            x=x,
            y=y.title("recall of silent faults"),
            stroke=alt.Stroke("judge_id:N", scale=scales.colour, legend=legend),
            fill=alt.Fill("judge_id:N", scale=scales.colour, legend=legend),
            fillOpacity=alt.condition(own, alt.value(0.8), alt.value(0)),
            shape=alt.Shape("judge_id:N", scale=scales.shape, legend=legend),
            tooltip=["run:N", *_tips("judge_id", numbers=("false_alarm_rate", "silent_recall"), n=False)],
        )
    )
    ends = pd.DataFrame({"x": [0, 1], "y": [0, 1]})
    layers = [alt.Chart(ends).mark_line(strokeDash=[4, 4], color=NEUTRAL).encode(x="x:Q", y="y:Q")]
    if ceiling is not None:
        line = pd.DataFrame({"y": [round(ceiling, 4)], "text": [f"ceiling of the outcome view: {ceiling:.3f}"]})
        rule = alt.Chart(line).encode(y="y:Q")
        layers += [
            rule.mark_rule(color=PALETTE[1], strokeWidth=1.5),
            rule.mark_text(align="right", dy=-6, color=PALETTE[1]).encode(x=alt.XDatum(1), text="text:N"),
        ]
    return alt.layer(*layers, marks).properties(width=_WIDTH, height=300, title=heading(title), description=description)


def bars(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    title: str,
    description: str,
    order: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
) -> AnyChart:
    """Bars of column ``y`` over column ``x``: counts, offsets, lengths, votes. With ``order``, one panel per judge.

    Args:
        frame: the columns named, ``judge_id`` too if ``order`` is given.
        categories: the order of the bars; None for a numeric ``x``, in its own order.
    """
    sort = list(categories) if categories is not None else "ascending"
    axis = alt.Axis(labelAngle=-45 if categories is not None else 0, **labels(categories or ()))
    chart = (
        alt.Chart(frame.round(4))
        .mark_bar(color=PALETTE[0])
        .encode(
            x=alt.X(f"{x}:{'N' if categories is not None else 'O'}", sort=sort, title=x_title, axis=axis),
            y=alt.Y(f"{y}:Q", title=y_title),
            tooltip=[*(["judge_id:N"] if order is not None else []), x, y],
        )
    )
    if order is None:
        return chart.properties(width=_WIDTH, height=200, title=heading(title), description=description)
    scales = judge_scales(order)
    judges = [judge for judge in scales.judges if judge in set(frame["judge_id"])]
    facet = alt.Facet("judge_id:N", sort=judges, title=None, header=alt.Header(**labels(judges)))
    coloured = chart.encode(color=alt.Color("judge_id:N", scale=scales.colour, legend=None))
    panels = coloured.properties(width=165, height=120).facet(facet=facet, columns=2)
    return panels.properties(title=heading(title), description=description)


def captioned(chart: AnyChart, caption: str) -> AnyChart:
    """The chart with a caption that the page shows under it."""
    return chart.properties(usermeta={"caption": caption})


def _rate(column: str, title: str, domain: tuple[float, float] = (0, 1)) -> alt.X:
    return alt.X(f"{column}:Q", title=title, scale=alt.Scale(domain=list(domain), nice=False))


def _whiskers(base: alt.Chart, domain: tuple[float, float] = (0, 1), title: str = "share flagged") -> alt.Chart:
    return (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=2)
        .encode(x=_rate("low", title, domain), x2="high:Q")
    )


def _tips(*names: str, numbers: Sequence[str] = ("value", "low", "high"), n: bool = True) -> list[alt.Tooltip]:
    texts = [alt.Tooltip(f"{name}:N") for name in names]
    return texts + [alt.Tooltip(f"{name}:Q", format=".3f") for name in numbers] + ([alt.Tooltip("n:Q")] if n else [])


def _finish(layers: alt.LayerChart, title: str, description: str, *, step: int) -> AnyChart:
    return layers.properties(
        width=_WIDTH, height=alt.Step(step, **{"for": "position"}), title=heading(title), description=description
    )
