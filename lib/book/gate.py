"""The data of the gate page: every judge's rates with their intervals, and how the two go together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lib import bench
from lib.analysis.shares import codes, shares
from lib.book.layout import Shown
from lib.run.folder import Run
from lib.show import style

FAULTS = ("silent", "all")
DIGITS = 6


def write_gate(html: Path, shown: Sequence[Shown]) -> None:
    """Write the gate's data into a built book as a script, since a page opened from a file can't fetch anything."""
    runs = [of_run(one.name, Run.open(one.folder)) for one in shown]
    text = json.dumps(runs, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    (html / "_static" / "gate-data.js").write_text(f"window.gateData={text};\n", encoding="ascii")


def of_run(name: str, run: Run) -> dict[str, Any]:
    """A run's judges that look at what they judge and have judged both faulty and clean trajectories."""
    opened = bench.open(run)
    style.judges(opened.about)
    scales = style.judge_scales()
    colours = dict(zip(scales.judges, scales.colour.range, strict=True))
    rows = dict(list(opened.verdicts.groupby("judge", sort=False)))
    looking = [judge for judge, about in opened.about.items() if not about.baseline]
    judges = [
        {"id": judge, "colour": colours[judge], "unread": round(opened.unread[judge], DIGITS)}
        | rates(rows[judge], fixed=opened.about[judge].fixed)
        for judge in looking
        if set(rows[judge]["faulty"]) == {True, False}
    ]
    return {"name": name, "judges": judges}


def rates(rows: pd.DataFrame, *, fixed: bool) -> dict[str, Any]:
    """One judge's recall of silent and of all faults and its false-alarm rate, each as [value, low, high, n].

    ``together`` is the correlation of the silent and of the whole recall with the false-alarm rate: what is flagged of
    clean trajectories and of their mutants goes together. A rate of nothing is null.

    Args:
        rows: the judge's of ``bench.verdicts``; fixed: its verdicts follow from rules.
    """
    faulty = rows["faulty"].to_numpy(bool)
    sides = np.column_stack([rows["survival"].eq("silent"), faulty, ~faulty]).astype(float)
    flagged = rows["flagged"].to_numpy(float)[:, None]
    found = shares(sides * flagged, sides, codes(rows["cell"]), codes(rows["instance"]), exact=fixed)
    spread = np.sqrt(np.outer(*[np.diag(found.covariance)] * 2))
    correlation = np.divide(found.covariance, spread, out=np.zeros_like(spread), where=spread > 0)
    known = zip(found.value, found.low, found.high, found.n, strict=True)
    given = [[*(None if np.isnan(x) else round(float(x), DIGITS) for x in rate), int(n)] for *rate, n in known]
    together = {faults: round(float(correlation[i, 2]), DIGITS) for i, faults in enumerate(FAULTS)}
    return dict(zip((*FAULTS, "alarms"), given, strict=True)) | {"together": together}
