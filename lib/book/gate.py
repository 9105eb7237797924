"""The data of the gate page: every judge's rates with their intervals, from computed scores."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lib.analysis.scores import Estimate, score
from lib.book.explorer import BASELINES
from lib.book.layout import Shown
from lib.run.folder import Run
from lib.show.style import judge_scales

RATES = {"silent": "silent_recall", "all": "recall", "alarms": "false_alarm_rate"}


def write_gate(html: Path, shown: Sequence[Shown]) -> None:
    """Write the gate's data into a built book as a script, since a page opened from a file can't fetch anything."""
    runs = [of_run(one.name, Run.open(one.folder)) for one in shown if one.folder is not None]
    text = json.dumps(runs, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    (html / "_static" / "gate-data.js").write_text(f"window.gateData={text};\n", encoding="ascii")


def of_run(name: str, run: Run) -> dict[str, Any]:
    """A run's judges that look at what they judge: look in charts, and each rate as [value, low, high, n]."""
    trajectories, verdicts = run.frames(text=False)
    order = list(run.judges(verdicts))
    if verdicts.empty:
        return {"name": name, "judges": []}
    scores = score(trajectories, verdicts, order=order)
    scales = judge_scales(order)
    judges = [
        {
            "id": judge,
            "colour": colour,
            **{key: _plain(scores.estimate(judge, metric)) for key, metric in RATES.items()},
        }
        for judge, colour in zip(scales.judges, scales.colour.range, strict=True)
        if judge in scores.judges and judge not in BASELINES
    ]
    return {"name": name, "judges": judges}


def _plain(rate: Estimate) -> list[float | int | None]:
    """The rate with bounds equal to the value where it has no interval; None where it is undefined."""
    bounds = [rate.value if math.isnan(bound) else bound for bound in (rate.low, rate.high)]
    return [*(None if np.isnan(x) else round(float(x), 6) for x in (rate.value, *bounds)), int(rate.n)]
