"""How charts look and are stored: one colour and shape per judge, one renderer for every place a chart is read."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import vl_convert as vlc

from lib.visible import visible

VL_VERSION = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
MIME = "application/vnd.vegalite.v5+json"  # the newest Vega-Lite type that JupyterLab 4 draws by itself

# Middle tones of the Okabe-Ito order: at least 3:1 against the page in both colour schemes.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#C272A0", "#A67C00", "#8A63C4")
NEUTRAL = "#808080"
SHAPES = {"outcome": "circle", "step": "square", "selfcons": "triangle-up", "rules": "diamond"}
OTHER_SHAPE = "cross"

LABEL_WIDTH = 170  # pixels; about 30 characters
LONGEST_LABEL = 30  # characters


class JudgeScales(NamedTuple):
    """Colour and shape scales over the judges of a run, to be shared by all its charts."""

    judges: list[str]
    colour: alt.Scale
    shape: alt.Scale


def judge_scales(order: Sequence[str]) -> JudgeScales:
    """The scales of a run's judges, given in the run's own order.

    Judges with a model take the palette's colours in turn, those without are grey; the shape tells the kind of judge.
    """
    judges = list(dict.fromkeys(order))
    with_model = [judge for judge in judges if ":" in judge]
    colours = {judge: PALETTE[i % len(PALETTE)] for i, judge in enumerate(with_model)}
    shapes = [_shape(judge) for judge in judges]
    return JudgeScales(
        judges,
        alt.Scale(domain=judges, range=[colours.get(judge, NEUTRAL) for judge in judges]),
        alt.Scale(domain=judges, range=shapes),
    )


def _shape(judge: str) -> str:
    kind = judge.split(":", 1)[0].rstrip("0123456789")
    return SHAPES.get(kind, OTHER_SHAPE)


def labels(names: Iterable[str]) -> dict[str, Any]:
    """Options of an axis, a legend or a facet header with these names as labels.

    Vega cuts off the end, where the names of two quantisations of a model differ. If one is long, all such are cut in
    the middle instead, and those that would look alike are numbered. The data and the tooltips keep the full names.
    """
    full = list(dict.fromkeys(str(name) for name in names))
    cut = [_cut(visible(name)) for name in full]
    if cut == full:
        return {"labelLimit": LABEL_WIDTH}
    told_apart = [f"{text} ({cut[:i].count(text) + 1})" if cut.count(text) > 1 else text for i, text in enumerate(cut)]
    return {
        "labelLimit": 2 * LABEL_WIDTH,  # letters may be wide
        "labelExpr": f"{json.dumps(told_apart)}[indexof({json.dumps(full)}, datum.label)]",
    }


def _cut(name: str) -> str:
    half = (LONGEST_LABEL - 1) // 2
    return name if len(name) <= LONGEST_LABEL else f"{name[:half]}…{name[-half:]}"


def spec_digest(spec: Mapping[str, Any]) -> str:
    """SHA-256 of a chart's JSON; stored with its picture, so that a stale picture can be told from a current one."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()


def book_renderer(spec: dict[str, Any], scale: float = 1.5, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as JSON (the book draws it), as a picture (GitHub shows it) and as its description.

    Raises:
        ValueError: the chart has no description; it is what a reader who can't see the chart gets.
    """
    text = spec.get("description")
    if not text:
        raise ValueError("this chart has no description: say in words what it shows (description=...)")
    png = vlc.vegalite_to_png(spec, vl_version=VL_VERSION, scale=scale)
    width, height = struct.unpack(">ii", png[16:24])
    picture = {
        "width": round(width / scale),
        "height": round(height / scale),
        "alt": text,
        "spec_sha256": spec_digest(spec),
        "png_sha256": hashlib.sha256(png).hexdigest(),
    }
    return (
        {MIME: spec, "image/png": base64.b64encode(png).decode(), "text/plain": text},
        {"image/png": picture},
    )


def enable() -> None:
    """Use the book's renderer for every chart that this kernel displays."""
    alt.renderers.register("book", book_renderer)
    alt.renderers.enable("book")
    alt.data_transformers.enable("default", consolidate_datasets=False, max_rows=20_000)


def heading(text: str) -> alt.TitleParams:
    """A chart's title, in lines that are no longer than a plot is wide."""
    return alt.TitleParams(textwrap.wrap(text, 62), anchor="start", frame="group")
