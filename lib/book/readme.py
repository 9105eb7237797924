"""The README's answer and figure, from what the first page's notebook stores; ``make refresh`` writes them."""

from __future__ import annotations

import json
import re
from typing import Any

import nbformat
import vl_convert as vlc

from lib import ROOT
from lib.book.notebooks import NOTEBOOKS
from lib.show.style import MIME, VL_VERSION, spec_digest

README = ROOT / "README.md"
PICTURE = ROOT / "book" / "headline.svg"
PARAGRAPHS = slice(1, 3)  # whose verdicts are shown comes before, the questions after
_BLOCK = re.compile(r"(<!-- answer: .*? -->\n).*?(<!-- end of answer -->)", re.DOTALL)


def write() -> None:
    """Write both anew."""
    text, spec = answer()
    README.write_text(with_answer(README.read_text(encoding="utf-8"), text), encoding="utf-8")
    PICTURE.write_text(picture(spec), encoding="utf-8")


def answer() -> tuple[str, dict[str, Any]]:
    """The first page's answer under its figure, as Markdown, and the figure's spec."""
    cells = nbformat.read(NOTEBOOKS / "intro.ipynb", as_version=4).cells
    data = [out["data"] for cell in cells for out in cell.get("outputs", []) if "data" in out]
    said = [one["text/markdown"] for one in data if "text/markdown" in one][PARAGRAPHS]
    spec = next(one[MIME] for one in data if MIME in one)
    text = "\n\n".join(said).replace("](", "](notebooks/")
    return f"{text}\n\n![{spec['description']}]({PICTURE.relative_to(ROOT)})\n", spec


def with_answer(text: str, block: str) -> str:
    """A README with its marked block replaced."""
    return _BLOCK.sub(lambda found: f"{found[1]}{block}{found[2]}", text)


def picture(spec: dict[str, Any]) -> str:
    """The figure as SVG on white, with the digest of what it shows."""
    svg = vlc.vegalite_to_svg(json.dumps({**spec, "background": "white"}), vl_version=VL_VERSION)
    return f"<!-- {spec_digest(spec)} -->\n{svg}\n"
