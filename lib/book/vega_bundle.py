"""The Vega JavaScript for pages without a network; the vl-convert wheel carries it."""

from __future__ import annotations

from pathlib import Path

import vl_convert as vlc

from lib.show.style import VL_VERSION


def write_bundle(path: Path) -> bool:
    """Write the bundle unless it is there already; says whether it was written.

    The bundle is wrapped in a function, since it declares names that scripts of the page's theme declare too.
    """
    text = "(function(){\n" + _javascript() + "\n})();\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def _javascript() -> str:
    return str(vlc.javascript_bundle(vl_version=VL_VERSION))  # type: ignore[call-arg]  # the wheel's stub is too strict
