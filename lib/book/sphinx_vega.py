"""A myst-nb plugin: a chart is in the page as a picture that needs no script, and is redrawn with tooltips by one."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any, ClassVar

import vl_convert as vlc
from docutils import nodes

from lib.show.style import MIME, VL_VERSION, spec_digest


class VegaLitePlugin:
    """Renders Vega-Lite outputs; myst-nb finds it through this package's entry point."""

    mime_priority_overrides: ClassVar = [(builder, MIME, 1) for builder in ("html", "dirhtml", "singlehtml")]

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """The chart's nodes; None leaves the output to the other renderers."""
        if data.mime_type != MIME or inline:
            return None
        return [nodes.raw(text=figure(data.content), format="html", classes=["output", "vega"])]


def figure(spec: dict[str, Any]) -> str:
    """HTML of a chart: picture, the chart's JSON for ``book.js``, and the caption if it has one."""
    svg = vlc.vegalite_to_svg({**spec, "background": "transparent"}, vl_version=VL_VERSION)
    svg = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)  # the whole picture is one image, described by its label
    svg = svg.replace("gradient_", f"g{spec_digest(spec)[:8]}-")  # an id must be the only one in its page
    payload = json.dumps(spec, ensure_ascii=False).replace("<", "\\u003c")
    caption = spec.get("usermeta", {}).get("caption")
    shown = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    label = escape(spec.get("description", ""))
    return (
        '<figure class="vega-chart">'
        f'<div class="vega-target" role="img" tabindex="0" aria-label="{label}">{svg}</div>'
        f'<script type="application/json">{payload}</script>{shown}</figure>'
    )
