"""What could have been seen: the smallest effect that a comparison would have shown, and how much data would decide."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep

from lib.analysis.shares import LEVEL

POWER = 0.8
WIDENED = float(1 + ndtri(POWER) / ndtri((1 + LEVEL) / 2))
"""What POWER is for, in half-widths of an interval."""


def smallest_effect(low: float, high: float) -> float:
    """The smallest difference that POWER would have shown, from the interval that was found: design effect and all."""
    return (high - low) / 2 * WIDENED


def decides(value: float, low: float, high: float, n: int) -> float:
    """How many trajectories like these would show a difference of this size with POWER; infinite for none at all."""
    return float(n * (smallest_effect(low, high) / value) ** 2) if value else float("inf")


def smallest_j(faults: int, clean: int, false_alarm_rate: float, design_effect: float = 1.0) -> float:
    """The smallest Youden's J that Newcombe's interval would tell from 0 with POWER; NaN where even 1 is not seen.

    Args:
        faults, clean: trajectories; divided by the design effect, since so many independent ones tell as much.
    """
    n1, n0 = (max(round(n / design_effect), 1) for n in (faults, clean))
    x, y = np.meshgrid(np.arange(n1 + 1), np.arange(n0 + 1), indexing="ij")
    low, _ = confint_proportions_2indep(x, n1, y, n0, method="newcomb")
    seen = low > 0
    alarms = binom.pmf(np.arange(n0 + 1), n0, false_alarm_rate)

    def missing(j: float) -> float:
        return float(binom.pmf(np.arange(n1 + 1), n1, false_alarm_rate + j) @ seen @ alarms) - POWER

    most = 1 - false_alarm_rate
    return float(brentq(missing, 0, most, xtol=1e-4)) if missing(most) > 0 else float("nan")


def pairs_needed(tests: int) -> int:
    """One-sided pairs that the exact McNemar test needs to be significant under Holm over so many tests."""
    return int(np.ceil(1 - np.log2((1 - LEVEL) / tests)))
