"""Tables of metrics with their intervals, judges in rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from lib.analysis.scores import Estimate, Scores
from lib.show.tables import DASH, Table, interval_cell
from lib.show.text import Prose, prose
from lib.errors import COMMAND

NO_RATES = "No judge has judged both silent faults and clean trajectories, so there is nothing to draw."
NO_VERDICTS = f"This run has no verdicts yet: `{COMMAND} collect` adds some, and then this shows them."
NO_MODEL = "No model has judged this run so far: what follows shows judges that work by fixed rules or not at all."

LABELS = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "silent_recall": "silent recall",
    "loud_recall": "loud recall",
    "false_alarm_rate": "false alarms",
    "loud_minus_silent": "loud − silent",
    "youden_j": "Youden's J",
    "step_exact": "step exact",
    "step_exact_strict": "step exact, strict",
    "type_macro_f1": "type macro-F1",
    "ece": "ECE",
    "brier": "Brier",
    "seconds_per_trajectory": "seconds",
    "prompt_tokens_per_trajectory": "tokens read",
    "completion_tokens_per_trajectory": "tokens written",
}
"""Metrics as the book's tables head them."""


def breakable(name: str) -> str:
    """A name that a narrow column may break after an underscore, without showing a hyphen."""
    return name.replace("_", "_\u200b")


def metric_table(
    scores: Scores,
    metrics: Sequence[str],
    caption: str,
    *,
    judges: Sequence[str] | None = None,
    digits: Mapping[str, int] | None = None,
) -> Table | Prose:
    """Judges in rows, metrics in columns, each cell an estimate with its interval; a sentence where no judge is left.

    The column n stands in the caption where all judges have the same.

    Args:
        digits: decimals of a metric (3 if not named).
    """
    shown = scores.judges if judges is None else list(judges)
    if not shown:
        return prose("No judge of this run belongs in the table “{caption}”.", caption=caption)
    rows = [
        [judge, scores.n[judge]] + [_cell(scores, judge, metric, (digits or {}).get(metric, 3)) for metric in metrics]
        for judge in shown
    ]
    frame = pd.DataFrame(rows, columns=["judge", "n", *(LABELS.get(metric, metric) for metric in metrics)])
    if len({scores.n[judge] for judge in shown}) == 1:
        caption = f"{caption}; n = {scores.n[shown[0]]}"
        frame = frame.drop(columns="n")
    own = scores.metrics[scores.metrics["metric"].isin(metrics) & scores.metrics["judge_id"].isin(shown)]
    return Table(frame.set_index("judge"), caption, data=own)


def _cell(scores: Scores, judge: str, metric: str, digits: int) -> str:
    """A judge that never names a step has no share of right ones: it was not wrong, it was silent on it."""
    if metric.startswith("step_") and not scores.estimate(judge, "step_exact").n:
        return DASH
    return estimate_cell(scores.estimate(judge, metric), digits)


def estimate_cell(estimate: Estimate, digits: int = 3) -> str:
    """An estimate as a cell; numbers without decimals keep none in their bounds either."""
    if digits:
        return interval_cell(estimate.value, estimate.low, estimate.high, digits=digits)
    if math.isnan(estimate.value):
        return DASH
    text = f"{estimate.value:.0f}"
    return text if math.isnan(estimate.low) else f"{text} [{estimate.low:.0f}, {estimate.high:.0f}]"


def contrast(delta: Estimate, more: str, less: str, same: str) -> str:
    """Which of three wordings a difference allows: ``same`` whenever its interval holds 0, or there is none."""
    if delta.low > 0:
        return more
    return less if delta.high < 0 else same
