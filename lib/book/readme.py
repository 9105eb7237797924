"""``python -m lib.book.readme``: write the README's figure and table of results anew, from the shipped run."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd
import vl_convert as vlc

from lib import ROOT
from lib.show.style import VL_VERSION, spec_digest
from lib.analysis.judges import with_model
from lib.analysis.scores import Scores, score
from lib.show.tables import DASH, interval_cell
from lib.book.chapters.results import ability
from lib.book.compare import FIGURES, with_bounds
from lib.book.headline import PARTS, survival_chart
from lib.run.folder import Run

README = ROOT / "README.md"
PICTURE = ROOT / "book" / "headline.svg"
SHIPPED = "local"
_BLOCK = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- end of results -->)", re.DOTALL)


def main() -> None:
    """Write both."""
    opened = Run.open(SHIPPED)
    frames = opened.frames(text=False)
    order = list(opened.judges(frames.verdicts))
    scores = score(frames.trajectories, frames.verdicts, order=order)
    README.write_text(with_results(README.read_text(encoding="utf-8"), results(scores)), encoding="utf-8")
    PICTURE.write_text(picture(survival_chart(scores, order).to_dict()), encoding="utf-8")


def with_results(text: str, block: str) -> str:
    """A README with its marked block replaced; one without it is returned as it is."""
    return _BLOCK.sub(lambda found: f"{found[1]}{block}{found[2]}", text)


def results(scores: Scores) -> str:
    """The block: the figure with its description, and the table of the shipped run above the paper's own figures."""
    said = "; ".join(
        f"{judge} {', '.join(f'{scores.estimate(judge, metric).value:.2f}' for metric in PARTS)}"
        for judge in scores.judges
    )
    lines = [
        f"![Share of silent faults, loud faults and clean trajectories flagged: {said}]({PICTURE.relative_to(ROOT)})",
        "",
        str(ability(scores, with_model(scores.judges))),
        "",
        f"| judge | judged | unread | {' | '.join(PARTS.values())} |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    unread = scores.status.set_index("judge_id").eval("n - ok")
    for judge in scores.judges:
        found = [scores.estimate(judge, metric) for metric in PARTS]
        cells = [interval_cell(one.value, one.low, one.high) for one in found]
        lines.append(f"| `{judge}` | {scores.n[judge]} | {unread[judge]} | {' | '.join(cells)} |")
    return "\n".join([*lines, *_published(), ""])


def picture(spec: dict[str, Any]) -> str:
    """The figure as SVG on white, with the digest of what it shows."""
    svg = vlc.vegalite_to_svg(json.dumps({**spec, "background": "white"}), vl_version=VL_VERSION)
    return f"<!-- {spec_digest(spec)} -->\n{svg}\n"


def _published() -> list[str]:
    """Rows of the judges with a model for which the paper prints all of the table's figures."""
    figures = pd.read_csv(FIGURES, dtype=str, keep_default_na=False).set_index(["judge", "metric"])
    rows = []
    for judge in dict.fromkeys(figures.index.get_level_values("judge")):
        if ":" in judge and all((judge, metric) in figures.index for metric in PARTS):
            cells = [with_bounds(*figures.loc[(judge, metric), ["value", "low", "high"]]) for metric in PARTS]
            rows.append(f"| `{judge}`, as published | {DASH} | {DASH} | {' | '.join(cells)} |")
    return rows


if __name__ == "__main__":
    main()
