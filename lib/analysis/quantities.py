"""One row per trajectory, one column per quantity; every metric is a simple function of weighted column sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lib.records import FAULT_TYPES, FaultType

Floats = NDArray[np.float64]

MERGED: tuple[FaultType, ...] = ("wrong_tool", "hallucinated_argument")
"""Two types with a blurry border: both replace the policy read at the same step."""

BINS = 10
BIN_EDGES: Floats = np.arange(BINS + 1) / BINS

PROPORTIONS: dict[str, tuple[str, str]] = {
    "precision": ("flagged_faults", "flagged"),
    "recall": ("flagged_faults", "faults"),
    "silent_recall": ("flagged_silent", "silent"),
    "loud_recall": ("flagged_loud", "loud"),
    "false_alarm_rate": ("flagged_clean", "clean"),
    "step_exact": ("step_exact", "step_named"),
    "step_within_one": ("step_near", "step_named"),
    "step_exact_strict": ("step_exact", "flagged_faults"),
    **{f"recall.{kind}": (f"flagged.{kind}", f"faults.{kind}") for kind in FAULT_TYPES},
}
MEANS: dict[str, tuple[str, str]] = {
    "brier": ("squared_error", "judged"),
    "seconds_per_trajectory": ("seconds", "judged"),
    "prompt_tokens_per_trajectory": ("prompt_tokens", "prompt_counted"),
    "completion_tokens_per_trajectory": ("completion_tokens", "completion_counted"),
}
DENOMINATORS: dict[str, str] = {
    **{metric: below for metric, (_, below) in (PROPORTIONS | MEANS).items()},
    "f1": "judged",
    "loud_minus_silent": "faults",
    "youden_j": "judged",
    "type_macro_f1": "faults",
    "type_macro_f1_merged": "faults",
    "ece": "judged",
    "flagged": "judged",
}
METRICS: tuple[str, ...] = (
    "precision",
    "recall",
    "f1",
    "silent_recall",
    "loud_recall",
    "false_alarm_rate",
    "loud_minus_silent",
    "youden_j",
    "flagged",
    "step_exact",
    "step_within_one",
    "step_exact_strict",
    "type_macro_f1",
    "type_macro_f1_merged",
    "ece",
    "brier",
    "seconds_per_trajectory",
    "prompt_tokens_per_trajectory",
    "completion_tokens_per_trajectory",
    *(f"recall.{kind}" for kind in FAULT_TYPES),
)
VERDICT_COLUMNS: tuple[str, ...] = (
    "flagged_silent",
    "flagged_loud",
    "flagged_clean",
    *(f"flagged.{kind}" for kind in FAULT_TYPES),
    "step_named",
    "step_exact",
    "step_near",
    *(f"typed.{kind}" for kind in FAULT_TYPES),
    *(f"typed_right.{kind}" for kind in FAULT_TYPES),
    "typed_right.merged",
    *(f"gap.{bin_}" for bin_ in range(BINS)),
    "squared_error",
    "seconds",
    "prompt_tokens",
    "prompt_counted",
    "completion_tokens",
    "completion_counted",
)


def type_codes(types: pd.Series) -> NDArray[np.int8]:
    """Index into FAULT_TYPES of each value, -1 where there is none."""
    return pd.Categorical(types, categories=list(FAULT_TYPES)).codes


def confidence_bin(confidence: Floats) -> NDArray[np.intp]:
    """Bin 0..9 of ten equal bins over [0, 1], closed on the right (0 itself belongs to the first)."""
    return np.clip(np.digitize(confidence, BIN_EDGES, right=True) - 1, 0, BINS - 1)


def label_sums(labels: pd.DataFrame) -> dict[str, float]:
    """Sizes that a resample within design cells leaves as they are: judged, clean, faults, silent, loud, per type."""
    faulty, survived = labels["faulty"].to_numpy(bool), labels["outcome_correct"].to_numpy(bool)
    codes = np.where(faulty, type_codes(labels["failure_type"]), -1)
    sizes = {
        "judged": faulty.size,
        "clean": (~faulty).sum(),
        "faults": faulty.sum(),
        "silent": (faulty & survived).sum(),
        "loud": (faulty & ~survived).sum(),
        **{f"faults.{kind}": (codes == code).sum() for code, kind in enumerate(FAULT_TYPES)},
    }
    return {name: float(size) for name, size in sizes.items()}


def named_step(labels: pd.DataFrame, verdicts: pd.DataFrame) -> Floats:
    """Step named by each verdict, NaN where none or outside the trajectory (such a step is discarded)."""
    step = verdicts["failure_step"].to_numpy(dtype=float, na_value=np.nan)
    usable = (step >= 0) & (step < labels["n_steps"].to_numpy())
    return np.where(usable, step, np.nan)


def verdict_columns(labels: pd.DataFrame, verdicts: pd.DataFrame) -> Floats:
    """Quantities of one judge, n × len(VERDICT_COLUMNS).

    Args:
        labels, verdicts: n rows each, row i of both about the same trajectory.
    """
    faulty, survived = labels["faulty"].to_numpy(bool), labels["outcome_correct"].to_numpy(bool)
    flagged = verdicts["faulty"].to_numpy(bool)
    caught = faulty & flagged
    kinds = np.arange(len(FAULT_TYPES))
    is_kind = type_codes(labels["failure_type"])[:, None] == kinds
    typed = caught[:, None] & (type_codes(verdicts["failure_type"])[:, None] == kinds)
    in_merged = [FAULT_TYPES.index(kind) for kind in MERGED]
    distance = np.abs(named_step(labels, verdicts) - labels["failure_step"].to_numpy(dtype=float, na_value=np.nan))
    confidence = verdicts["confidence"].to_numpy(float)
    error = confidence - (flagged == faulty)
    prompt, completion = (
        verdicts[name].to_numpy(dtype=float, na_value=np.nan) for name in ("prompt_tokens", "completion_tokens")
    )
    return np.column_stack(
        [
            caught & survived,
            caught & ~survived,
            flagged & ~faulty,
            caught[:, None] & is_kind,
            caught & ~np.isnan(distance),
            caught & (distance == 0),
            caught & (distance <= 1),
            typed,
            typed & is_kind,
            typed[:, in_merged].any(axis=1) & is_kind[:, in_merged].any(axis=1),
            error[:, None] * (confidence_bin(confidence)[:, None] == np.arange(BINS)),
            error**2,
            verdicts["latency_s"].to_numpy(float),
            np.nan_to_num(prompt),
            ~np.isnan(prompt),
            np.nan_to_num(completion),
            ~np.isnan(completion),
        ]
    ).astype(np.float64)


def complete(sums: Mapping[str, Floats | float]) -> dict[str, Floats | float]:
    """Column sums with the two that follow from others."""
    flagged_faults = sums["flagged_silent"] + sums["flagged_loud"]
    return {**sums, "flagged_faults": flagged_faults, "flagged": flagged_faults + sums["flagged_clean"]}


def ratio(above: Floats | float, below: Floats | float) -> Floats:
    """Quotient, NaN where the denominator is zero."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)


def type_macro_f1(sums: Mapping[str, Floats | float], kinds: Sequence[str] = FAULT_TYPES) -> Floats:
    """Mean F1 over types among faulty trajectories; a type never predicted (or in nobody's set) counts 0."""
    scores = [
        np.nan_to_num(ratio(2 * sums[f"typed_right.{kind}"], sums[f"typed.{kind}"] + sums[f"faults.{kind}"]))
        for kind in kinds
    ]
    return np.where(np.asarray(sums["faults"]) > 0, sum(scores) / len(scores), np.nan)


def merged_macro_f1(sums: Mapping[str, Floats | float]) -> Floats:
    """``type_macro_f1`` over five types, those of MERGED being one."""
    whole = {f"{what}.merged": sum(sums[f"{what}.{kind}"] for kind in MERGED) for what in ("typed", "faults")}
    return type_macro_f1({**sums, **whole}, ["merged", *(kind for kind in FAULT_TYPES if kind not in MERGED)])


def metrics_of(sums: Mapping[str, Floats | float]) -> dict[str, Floats]:
    """Every metric of METRICS from ``complete`` column sums, elementwise; NaN where it is undefined.

    ECE is population-weighted over the ten bins, of confidence against correctness of the binary verdict (Section 5).
    """
    values = {name: ratio(sums[above], sums[below]) for name, (above, below) in (PROPORTIONS | MEANS).items()}
    values["f1"] = ratio(2 * sums["flagged_faults"], sums["flagged"] + sums["faults"])
    values["loud_minus_silent"] = values["loud_recall"] - values["silent_recall"]
    values["youden_j"] = values["recall"] - values["false_alarm_rate"]
    values["flagged"] = np.asarray(sums["flagged"], float)
    values["type_macro_f1"] = type_macro_f1(sums)
    values["type_macro_f1_merged"] = merged_macro_f1(sums)
    values["ece"] = ratio(sum(np.abs(sums[f"gap.{bin_}"]) for bin_ in range(BINS)), sums["judged"])
    return {name: values[name] for name in METRICS}
