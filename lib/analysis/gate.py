"""What a judge's rates mean when it is used as a gate: what passes, and what its alarms are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.analysis.judges import judge_name
from lib.analysis.scores import Estimate, Scores
from lib.errors import UserError

CASES = 1000


class ViewPair(NamedTuple):
    """The two judges of one model that differ only in what they are shown."""

    model: str
    outcome: str
    step: str


def view_pairs(judges: Sequence[str]) -> list[ViewPair]:
    """Every model of which both the outcome and the step view are among ``judges``, in their order."""
    models = [judge_name(judge).model for judge in judges if judge_name(judge).kind == "outcome"]
    pairs = [ViewPair(model, f"outcome:{model}", f"step:{model}") for model in models if model]
    return [pair for pair in pairs if pair.step in judges]


def gate(scores: Scores, base_rate: float) -> pd.DataFrame:
    """Each judge as a gate that lets through what it does not flag.

    Args:
        base_rate: share of cases that are silently faulty; the others are taken to be clean.

    Returns:
        Frame judge_id, quantity, value, low, high, of three quantities: ``passed``, how many of 1,000 silently
        faulty cases go through; ``alarms``, how many of 1,000 clean cases are stopped; ``precision``, the share of
        stopped cases that are faulty at the base rate. Bounds follow from those of silent recall and false-alarm
        rate; for the precision from the unfavourable (favourable) ends of both at once, so that its interval is
        wider than one of 95 %. NaN where a rate is undefined, bounds also where it has none.

    Raises:
        UserError: a base rate that is not between 0 and 1.
    """
    if not 0 < base_rate < 1:
        raise UserError(f"base_rate is the share of faulty cases, between 0 and 1, not {base_rate}")
    rows = []
    for judge in scores.judges:
        recall, alarm = (scores.estimate(judge, metric) for metric in ("silent_recall", "false_alarm_rate"))
        rows += [
            (judge, "passed", *(CASES * (1 - end) for end in (recall.value, recall.high, recall.low))),
            (judge, "alarms", *(CASES * end for end in alarm[:3])),
            (judge, "precision", *_precision(recall, alarm, base_rate)),
        ]
    return pd.DataFrame(rows, columns=["judge_id", "quantity", "value", "low", "high"])


def _precision(recall: Estimate, alarm: Estimate, base_rate: float) -> tuple[float, float, float]:
    def share(caught: float, raised: float) -> float:
        hits, misses = caught * base_rate, raised * (1 - base_rate)
        return hits / (hits + misses) if hits + misses else np.nan

    return share(recall.value, alarm.value), share(recall.low, alarm.high), share(recall.high, alarm.low)
