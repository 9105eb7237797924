"""The metrics of part I: which faults are flagged, which step and type named, what confidence is worth, the cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from lib.analysis.metrics import Metric, Registry, Sums, ratio
from lib.analysis.shares import Floats
from lib.records import FAULT_TYPES, FaultType

MERGED: tuple[FaultType, ...] = ("wrong_tool", "hallucinated_argument")
"""Two types with a blurry border: both replace the policy read at the same step."""

BINS = 10
BIN_EDGES: Floats = np.arange(BINS + 1) / BINS
GAPS = tuple(f"gap.{bin_}" for bin_ in range(BINS))


def confidence_bin(confidence: Floats) -> np.ndarray:
    """Bin 0..9 of ten equal bins over [0, 1], closed on the right (0 itself belongs to the first)."""
    return np.clip(np.digitize(confidence, BIN_EDGES, right=True) - 1, 0, BINS - 1)


def columns(rows: pd.DataFrame) -> dict[str, Floats]:
    """Quantities of one judge: a number a row of ``bench.verdicts``, whose sums every metric is a function of."""
    faulty, flagged = rows["faulty"].to_numpy(bool), rows["flagged"].to_numpy(bool)
    silent = rows["survival"].eq("silent").to_numpy()
    caught = faulty & flagged
    distance = np.abs(rows["named_step"].to_numpy(float) - rows["true_step"].to_numpy(float))
    confidence = rows["confidence"].to_numpy(float)
    off = confidence - (flagged == faulty)
    bins = confidence_bin(confidence)
    found = {
        "judged": np.ones(len(rows)),
        "clean": ~faulty,
        "faults": faulty,
        "silent": silent,
        "loud": faulty & ~silent,
        "flagged": flagged,
        "caught": caught,
        "caught_silent": caught & silent,
        "caught_loud": caught & ~silent,
        "alarms": flagged & ~faulty,
        "step_named": caught & ~np.isnan(distance),
        "step_exact": caught & (distance == 0),
        "step_near": caught & (distance <= 1),
        "squared_error": off**2,
        **{name: off * (bins == bin_) for bin_, name in enumerate(GAPS)},
    }
    for name in ("seconds", "prompt_tokens", "completion_tokens"):
        amount = rows[name].to_numpy(float, na_value=np.nan)
        found[name], found[f"{name}_counted"] = np.nan_to_num(amount), ~np.isnan(amount)
    groups: dict[str, Sequence[str]] = {**{kind: (kind,) for kind in FAULT_TYPES}, "merged": MERGED}
    true, said = (pd.Categorical(rows[name], categories=list(FAULT_TYPES)).codes for name in ("fault", "named_type"))
    for name, kinds in groups.items():
        numbers = [FAULT_TYPES.index(kind) for kind in kinds]
        of_kind, named = np.isin(true, numbers), caught & np.isin(said, numbers)
        found |= {f"faults.{name}": of_kind, f"caught.{name}": of_kind & caught}
        found |= {f"typed.{name}": named, f"typed_right.{name}": named & of_kind}
    return {name: np.asarray(values, float) for name, values in found.items()}


def macro_f1(sums: Sums, kinds: Sequence[str]) -> Floats:
    """Mean F1 over types among faulty trajectories; a type never predicted (or in nobody's set) counts 0."""
    scores = [
        np.nan_to_num(ratio(2 * sums[f"typed_right.{kind}"], sums[f"typed.{kind}"] + sums[f"faults.{kind}"]))
        for kind in kinds
    ]
    return np.where(np.asarray(sums["faults"]) > 0, sum(scores) / len(scores), np.nan)


def _f1(sums: Sums) -> Floats:
    return ratio(2 * sums["caught"], sums["flagged"] + sums["faults"])


def _ece(sums: Sums) -> Floats:
    """Over ten bins of confidence against correctness of the verdict, by population (the paper's Section 5)."""
    return ratio(np.abs([sums[name] for name in GAPS]).sum(axis=0), sums["judged"])


def _flagged(sums: Sums) -> Floats:
    return np.asarray(sums["flagged"], float)


_FIVE = ("merged", *(kind for kind in FAULT_TYPES if kind not in MERGED))


def _typed(kinds: Sequence[str]) -> tuple[str, ...]:
    return ("faults", *(f"{what}.{kind}" for what in ("typed", "typed_right", "faults") for kind in kinds))


def _share(name: str, label: str, above: str, below: str, better: int = 1) -> Metric:
    return Metric(name, label, better, 2, "share", below, above)


def _mean(name: str, label: str, above: str, below: str, digits: int) -> Metric:
    return Metric(name, label, -1, digits, "mean", below, above)


_ALL = (
    _share("precision", "precision", "caught", "flagged"),
    _share("recall", "recall", "caught", "faults"),
    Metric("f1", "F1", 1, 2, "resampled", "judged", of=_f1, columns=("caught", "flagged", "faults")),
    _share("silent_recall", "recall of silent faults", "caught_silent", "silent"),
    _share("loud_recall", "recall of loud faults", "caught_loud", "loud"),
    _share("false_alarm_rate", "false-alarm rate", "alarms", "clean", -1),
    Metric(
        "loud_minus_silent",
        "loud minus silent recall",
        0,
        2,
        "combination",
        "faults",
        parts={"loud_recall": 1, "silent_recall": -1},
    ),
    Metric("youden_j", "Youden's J", 1, 2, "combination", "judged", parts={"recall": 1, "false_alarm_rate": -1}),
    Metric("flagged", "flagged", 0, 0, "resampled", "judged", of=_flagged, columns=("flagged",)),
    _share("step_exact", "step exact, of faults with a step named", "step_exact", "step_named"),
    _share("step_within_one", "step within one", "step_near", "step_named"),
    _share("step_exact_strict", "step exact, of all flagged faults", "step_exact", "caught"),
    Metric(
        "type_macro_f1",
        "macro F1 of types",
        1,
        2,
        "resampled",
        "faults",
        of=partial(macro_f1, kinds=FAULT_TYPES),
        columns=_typed(FAULT_TYPES),
    ),
    Metric(
        "type_macro_f1_merged",
        "macro F1 of types, two merged",
        1,
        2,
        "resampled",
        "faults",
        of=partial(macro_f1, kinds=_FIVE),
        columns=_typed(_FIVE),
    ),
    Metric("ece", "ECE", -1, 3, "resampled", "judged", of=_ece, columns=(*GAPS, "judged")),
    _mean("brier", "Brier score", "squared_error", "judged", 3),
    _mean("seconds_per_trajectory", "seconds a trajectory", "seconds", "seconds_counted", 1),
    _mean("prompt_tokens_per_trajectory", "prompt tokens a trajectory", "prompt_tokens", "prompt_tokens_counted", 0),
    _mean(
        "completion_tokens_per_trajectory",
        "completion tokens a trajectory",
        "completion_tokens",
        "completion_tokens_counted",
        0,
    ),
    *(
        _share(f"recall.{kind}", f"recall of {kind.replace('_', ' ')}", f"caught.{kind}", f"faults.{kind}")
        for kind in FAULT_TYPES
    ),
)

TRAJECTORY_METRICS = Registry({metric.name: metric for metric in _ALL}, columns)
