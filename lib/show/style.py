"""How charts look and are stored: a colour for each judge, one theme, and a renderer for every place that shows one."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import vl_convert as vlc

from lib.records import About
from lib.show.sentence import NOTHING
from lib.visible import visible

VL_VERSION = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
MIME = "application/vnd.vegalite.v5+json"  # the newest Vega-Lite type that JupyterLab 4 draws by itself

# Middle tones of the Okabe-Ito order: at least 3:1 against the page in both colour schemes.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#C272A0", "#A67C00", "#8A63C4")
NEUTRAL = "#808080"
SHAPES = {"outcome": "circle", "step": "square", "several": "triangle-up", "fixed": "diamond", None: "cross"}

LABEL_WIDTH = 190  # pixels; about 30 characters
LONGEST_LABEL = 30  # characters
LONGEST_TITLE = 62  # characters of a line
TOLD_ROWS = 60  # rows of its data that a chart's alternative text tells

UNTOLD = ("low", "high", "lane")  # fields that alternative text leaves out, or tells as an interval

_run: dict[str, About] = {}


class JudgeScales(NamedTuple):
    """Colour and shape scales over the judges of a run, to be shared by all its charts."""

    judges: list[str]
    colour: alt.Scale
    shape: alt.Scale


def judges(about: Mapping[str, About]) -> None:
    """Give each judge of a run its colour and mark in all charts to come, whichever judges one of them shows."""
    _run.clear()
    _run.update(about)


def judge_scales(order: Sequence[str] = ()) -> JudgeScales:
    """The scales of the run that ``judges`` was told of, and of further judges in the order given.

    Judges take the palette's colours in turn; what follows fixed rules or does not look is grey. The mark tells what a
    judge is shown.
    """
    names = list(dict.fromkeys([*_run, *order]))
    told = {name: _run.get(name, About(kind="own")) for name in names}
    looking = [name for name, about in told.items() if not (about.fixed or about.baseline)]
    colours = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(looking)}
    return JudgeScales(
        names,
        alt.Scale(domain=names, range=[colours.get(name, NEUTRAL) for name in names]),
        alt.Scale(domain=names, range=[SHAPES[_look(about)] for about in told.values()]),
    )


def _look(about: About) -> str | None:
    if about.fixed and not about.baseline:
        return "fixed"
    return "several" if about.members > 1 else about.sees


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


def complete(spec: dict[str, Any]) -> dict[str, Any]:
    """The chart with its title in lines that fit, and alternative text if it brings none."""
    title = spec.get("title")
    parts = dict(title) if isinstance(title, dict) else {"text": title or ""}
    said = " ".join(parts["text"]) if isinstance(parts["text"], list) else str(parts["text"])
    wrapped = {"anchor": "start", "frame": "group", **parts, "text": textwrap.wrap(said, LONGEST_TITLE)}
    told = spec.get("description") or description(spec, said)
    return {**spec, **({"title": wrapped} if said else {}), "description": told}


def description(spec: Mapping[str, Any], title: str) -> str:
    """What a chart shows, in words: its title, and the encoded fields of every row of its data."""
    panels = {"facet": spec["facet"]} if "facet" in spec else {}
    encoded = {channel: one for part in _parts(spec) for channel, one in part.get("encoding", {}).items()}
    fields = dict.fromkeys(
        (one["field"], one.get("type") == "quantitative")
        for one in (panels | encoded).values()
        if isinstance(one, dict) and "field" in one and one["field"] not in UNTOLD
    )
    names = [field for field, number in fields if not number]
    values = [field for field, number in fields if number]
    rows: list[Any] = next((part["data"]["values"] for part in _parts(spec) if "values" in part.get("data", {})), [])
    told = dict.fromkeys(_row(row, names, values) for row in rows)
    shown = "; ".join(list(told)[:TOLD_ROWS])
    rest = f"; and {len(told) - TOLD_ROWS} more" if len(told) > TOLD_ROWS else ""
    return visible(f"{title or 'Chart'}. {shown}{rest}.")


def _row(row: Mapping[str, Any], names: Sequence[str], values: Sequence[str]) -> str:
    groups = ", ".join(str(row[name]) for name in names if row.get(name) is not None)
    told = [f"{name} {_number(row[name])}" for name in values if row.get(name) is not None]
    interval = (
        f" [{_number(row['low'])}, {_number(row['high'])}]" if "value" in values and row.get("low") is not None else ""
    )
    return f"{groups}: {', '.join(told)}{interval}" if groups else f"{', '.join(told)}{interval}"


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _parts(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield spec
    for key in ("spec", "layer", "hconcat", "vconcat", "concat"):
        inner = spec.get(key, [])
        for part in [inner] if isinstance(inner, dict) else inner:
            yield from _parts(part)


def book_renderer(spec: dict[str, Any], scale: float = 1.5, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chart as JSON (for the book), as a picture (for GitHub) and as alternative text; nothing of an empty frame."""
    if not any(part["data"].get("values") for part in _parts(spec) if "data" in part):
        return NOTHING, {}
    spec = complete(spec)
    png = vlc.vegalite_to_png(spec, vl_version=VL_VERSION, scale=scale)
    width, height = struct.unpack(">ii", png[16:24])
    picture = {
        "width": round(width / scale),
        "height": round(height / scale),
        "alt": spec["description"],
        "spec_sha256": spec_digest(spec),
        "png_sha256": hashlib.sha256(png).hexdigest(),
    }
    return (
        {MIME: spec, "image/png": base64.b64encode(png).decode(), "text/plain": spec["description"]},
        {"image/png": picture},
    )


def enable() -> None:
    """Use the book's theme and renderer for every chart that this kernel displays."""
    alt.theme.register("book", enable=True)(_theme)
    alt.renderers.register("book", book_renderer)
    alt.renderers.enable("book")
    alt.data_transformers.enable("default", consolidate_datasets=False, max_rows=20_000)


def _theme() -> alt.theme.ThemeConfig:
    return alt.theme.ThemeConfig(
        config={
            "view": {"continuousWidth": 380, "continuousHeight": 260},
            "range": {"category": list(PALETTE)},
            "axis": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": LABEL_WIDTH},
            "legend": {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": LABEL_WIDTH, "orient": "bottom"},
            "header": {"labelFontSize": 12, "titleFontSize": 12},
            "title": {"anchor": "start", "fontSize": 14},
            "text": {"fontSize": 12},
            "mark": {"color": PALETTE[0]},
        }
    )
