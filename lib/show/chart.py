"""Five charts of tidy frames, to which a notebook adds encodings, a title, or a layer of its own.

Encodings are altair's, as short text (``"value:Q"``) or as objects. Categories keep the frame's order, a field called
``judge`` has the run's colours, and a frame with ``low`` and ``high`` has its intervals drawn.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import altair as alt
import pandas as pd

from lib.show.style import NEUTRAL, judge_scales, labels

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart

WIDTH = 380
PANEL = (175, 150)
SHARE = alt.Axis(format="%")
LANE = "lane"


def dots(frame: pd.DataFrame, x: Any = "value:Q", y: Any = "judge:N", **encodings: Any) -> Chart:
    """A dot for each row, with its interval; several dots of one category stand one under another.

    Args:
        frame: the fields that are encoded; ``low`` and ``high`` if there are intervals.
        encodings: such as ``color``, ``shape``, and ``facet`` for a panel each.
    """
    rows = _field(y)
    encodings.setdefault("color", "judge:N" if "judge" in frame else rows)
    if _field(encodings["color"]) == "judge" != rows:
        encodings.setdefault("shape", "judge:N")
    lanes = [f for f in dict.fromkeys(_field(encodings[c]) for c in ("color", "shape") if c in encodings) if f != rows]
    told = _encoded(frame, {"y": y, **encodings})
    if lanes:
        data = frame.assign(**{LANE: frame[lanes].astype(str).agg(", ".join, axis=1) if len(frame) else ""})
        told["yOffset"] = alt.YOffset(f"{LANE}:N", sort=_order(data, LANE))
    else:
        data = frame
    base = alt.Chart().encode(tooltip=_tips(frame), **{k: v for k, v in told.items() if k not in ("shape", "facet")})
    marks = {key: told[key] for key in ("shape",) if key in told}
    position = _position(frame, x, "x")
    layers = [base.mark_point(filled=True, size=60, opacity=1).encode(x=position, **marks)]
    if {"low", "high"} <= set(frame):
        known = "isValid(datum.low) && isValid(datum.high)"
        whiskers = base.transform_filter(known).mark_rule(strokeWidth=2)
        layers.insert(0, whiskers.encode(x=_position(frame, x, "x", "low"), x2="high:Q"))
    if frame.get(_field(x), pd.Series([0.0])).min() < 0:
        layers.insert(0, alt.Chart().mark_rule(color=NEUTRAL).encode(x=alt.datum(0)))
    inner = data[LANE].nunique() if lanes else 1
    height = alt.Step(24 if inner < 2 else 12 * inner + 8, **{"for": "position"})
    return _laid(data, layers, told.get("facet"), width=WIDTH, height=height)


def bars(frame: pd.DataFrame, x: Any, y: Any, stack: Any = None, **encodings: Any) -> Chart:
    """A bar for each row; with ``stack="normalize"`` one for each category, divided by ``color``."""
    sideways = _kind(x) == "Q"
    told = _encoded(frame, {("y" if sideways else "x"): y if sideways else x, **encodings})
    length = _position(frame, x if sideways else y, "x" if sideways else "y")
    length.stack = stack
    told["x" if sideways else "y"] = length
    size: dict[str, Any] = {"width": WIDTH, "height": alt.Step(24)} if sideways else {"width": WIDTH, "height": 220}
    chart = alt.Chart().mark_bar().encode(tooltip=_tips(frame), **{k: v for k, v in told.items() if k != "facet"})
    return _laid(frame, [chart], told.get("facet"), **size)


def lines(
    frame: pd.DataFrame, x: Any, y: Any, color: Any = "judge:N", diagonal: bool = False, **encodings: Any
) -> Chart:
    """A line through the rows of each colour, with their marks; ``diagonal`` is what chance, or calibration, gives."""
    return _plotted(frame, x, y, {"color": color, **encodings}, diagonal, line=True)


def points(
    frame: pd.DataFrame, x: Any, y: Any, color: Any = "judge:N", diagonal: bool = False, **encodings: Any
) -> Chart:
    """A mark for each row; on the ``diagonal`` both are equal."""
    return _plotted(frame, x, y, {"color": color, **encodings}, diagonal, line=False)


def heat(frame: pd.DataFrame, x: str, y: str, color: str = "share:Q", text: str = "count:Q", **encodings: Any) -> Chart:
    """A field of cells, shaded by ``color`` (a share) and labelled by ``text``."""
    told = _encoded(frame, {"x": x, "y": y, **encodings})
    base = alt.Chart().encode(tooltip=_tips(frame), **{k: v for k, v in told.items() if k != "facet"})
    shade = alt.Color(color, scale=alt.Scale(domain=[0, 1], scheme="blues"), legend=alt.Legend(format="%"))
    ink = alt.condition(f"datum.{_field(color)} > 0.55", alt.value("#fff"), alt.value("#111"))
    layers = [base.mark_rect().encode(color=shade), base.mark_text().encode(text=text, color=ink)]
    return _laid(frame, layers, told.get("facet"), width=alt.Step(34), height=alt.Step(24))


def _plotted(frame: pd.DataFrame, x: Any, y: Any, encodings: dict[str, Any], diagonal: bool, line: bool) -> Chart:
    if _field(encodings["color"]) == "judge":
        encodings.setdefault("shape", "judge:N")
    told = _encoded(frame, encodings)
    place = {"x": _position(frame, x, "x"), "y": _position(frame, y, "y")}
    marks = {k: v for k, v in told.items() if k not in ("facet", "order")}
    layers = []
    if diagonal:
        ends = {"x": alt.datum(0), "y": alt.datum(0), "x2": alt.datum(1), "y2": alt.datum(1)}
        layers.append(alt.Chart().mark_rule(strokeDash=[4, 4], color=NEUTRAL).encode(**ends))
    if line:
        order = {"order": told["order"]} if "order" in told else {}
        layers.append(alt.Chart().mark_line(opacity=0.6).encode(color=marks["color"], **place, **order))
    layers.append(
        alt.Chart().mark_point(filled=True, opacity=0.9, size=70).encode(tooltip=_tips(frame), **place, **marks)
    )
    return _laid(frame, layers, told.get("facet"), width=WIDTH, height=300)


def _laid(frame: pd.DataFrame, layers: list[Any], facet: Any, **size: Any) -> Chart:
    """The layers over one frame; in panels of two columns where there is a facet."""
    data = frame.map(lambda value: round(value, 4) if isinstance(value, float) else value)
    if facet is None:
        return alt.layer(*layers, data=data).properties(**size)
    panel = {"width": PANEL[0], "height": PANEL[1] if isinstance(size["height"], int) else size["height"]}
    if isinstance(size["width"], alt.Step):
        panel["width"] = size["width"]
    return alt.layer(*layers, data=data).properties(**panel).facet(facet=facet, columns=2)


def _encoded(frame: pd.DataFrame, encodings: dict[str, Any]) -> dict[str, Any]:
    """Channels for short texts: categories in the frame's order, judges in their colours; other objects as they are."""
    named = {channel: _field(value) for channel, value in encodings.items() if isinstance(value, str)}
    placed = {named.get(channel) for channel in ("x", "y", "facet", "row", "column")}
    return {
        channel: _channel(frame, channel, value, named[channel] in placed) if channel in named else value
        for channel, value in encodings.items()
    }


def _channel(frame: pd.DataFrame, channel: str, short: str, placed: bool) -> Any:
    field = _field(short)
    kind = getattr(alt, channel[0].upper() + channel[1:])
    if _kind(short) not in "NO" or field not in frame:
        return kind(short)
    order = _order(frame, field)
    if channel in ("x", "y"):
        return kind(short, sort=order, title=None, axis=alt.Axis(**labels(order)))
    if channel in ("facet", "row", "column"):
        return kind(short, sort=order, title=None, header=alt.Header(**labels(order)))
    if channel not in ("color", "shape"):
        return kind(short)
    scales = judge_scales(order)
    scale = (scales.colour if channel == "color" else scales.shape) if field == "judge" else alt.Scale(domain=order)
    legend = None if placed else alt.Legend(title=None, columns=2, values=order, **labels(order))
    return kind(short, scale=scale, legend=legend)


def _position(frame: pd.DataFrame, encoding: Any, channel: str, field: str | None = None) -> Any:
    """A quantitative axis, for ``field`` where that is another: shares from 0 to 100 %, other numbers as they are."""
    name = _field(encoding)
    kind = alt.X if channel == "x" else alt.Y
    made = kind(encoding) if isinstance(encoding, str) else encoding.copy()
    shown = [frame[one] for one in (name, *(("low", "high") if name == "value" else ())) if one in frame]
    share = all(pd.to_numeric(one, errors="coerce").dropna().between(0, 1).all() for one in shown)
    if made["title"] is alt.Undefined:
        made["title"] = "share" if share and name == "value" else name.replace("_", " ")
    if share and made["scale"] is alt.Undefined:
        made["scale"], made["axis"] = alt.Scale(domain=[0, 1], nice=False), SHARE
    if field:
        made["shorthand"] = f"{field}:{_kind(encoding)}"
    return made


def _order(frame: pd.DataFrame, field: str) -> list[str]:
    return [str(one) for one in frame[field].dropna().unique()] if field in frame else []


def _tips(frame: pd.DataFrame) -> list[alt.Tooltip]:
    """All columns of a row, in words and with few digits."""
    tips = []
    for name in map(str, frame.columns):
        number = pd.api.types.is_float_dtype(frame[name])
        title = name.replace("_", " ")
        tips.append(
            alt.Tooltip(f"{name}:Q", title=title, format=".3~f") if number else alt.Tooltip(f"{name}:N", title=title)
        )
    return tips


def _field(encoding: Any) -> str:
    text = encoding if isinstance(encoding, str) else str(encoding["shorthand"])
    return text.rpartition(":")[0] or text


def _kind(encoding: Any) -> str:
    text = encoding if isinstance(encoding, str) else str(encoding["shorthand"])
    return text.rpartition(":")[2] if ":" in text else "N"
