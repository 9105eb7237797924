"""Is a judge able at all? Its scores against those that need no ability."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lib.analysis.scores import Estimate, Scores, is_fixed

BASELINES = ("always-faulty", "always-clean", "coin")
COIN = "a coin"


def base_rates(trajectories: pd.DataFrame) -> pd.DataFrame:
    """What the baselines score on average, from the labels alone (Youden's J is 0 for all three).

    Returns:
        Frame judge_id, precision, recall, false_alarm_rate, f1, youden_j, share_flagged; ``coin`` in expectation of
        its counts, precision of ``always-clean`` is NaN.
    """
    faulty = float(trajectories["faulty"].astype(bool).mean())
    rows = []
    for judge, share in zip(BASELINES, (1.0, 0.0, 0.5), strict=True):
        precision = faulty if share else float("nan")
        f1 = 2 * share * faulty / (share + faulty) if share + faulty else float("nan")
        rows.append((judge, precision, share, share, f1, 0.0, share))
    names = ["judge_id", "precision", "recall", "false_alarm_rate", "f1", "youden_j", "share_flagged"]
    return pd.DataFrame(rows, columns=names)


def floor_check(scores: Scores, judges: Sequence[str] | None = None, least: int = 10) -> pd.DataFrame:
    """Whether each judge tells faulty from clean at all.

    A judge passes when the whole interval of Youden's J (recall minus false-alarm rate) lies above 0, where every
    judge lies that does not look: always-faulty, always-clean, a coin. F1 is no such test: with three faults in four
    it rewards flagging everything; a judge that passes below that F1 is told so in its reason.

    Args:
        least: faulty and clean trajectories that a judge needs to be graded, since so few say nothing.

    Returns:
        Frame judge_id, n, recall, false_alarm_rate, youden_j, low, high, share_flagged, f1, f1_always_faulty (on the
        trajectories that the judge judged), passed (None for a baseline, and with too few trajectories), reason.
    """
    rows: list[list[object]] = []
    for judge in scores.judges if judges is None else judges:
        j = scores.estimate(judge, "youden_j")
        f1, flagged = (scores.estimate(judge, metric) for metric in ("f1", "flagged"))
        share = flagged.value / scores.n[judge] if scores.n[judge] else float("nan")
        recall, alarms = (scores.estimate(judge, metric) for metric in ("recall", "false_alarm_rate"))
        bar = 2 * recall.n / (scores.n[judge] + recall.n) if recall.n else float("nan")
        if min(recall.n, alarms.n) < least:
            passed, reason = None, f"needs at least {least} faulty and {least} clean trajectories"
        else:
            passed, reason = _verdict(judge, j, share, f1.value, bar)
        rates = [recall.value, alarms.value]
        rows.append([judge, scores.n[judge], *rates, *j[:3], share, f1.value, bar, passed, reason])
    names = ["judge_id", "n", "recall", "false_alarm_rate", "youden_j", "low", "high", "share_flagged", "f1"]
    return pd.DataFrame(rows, columns=[*names, "f1_always_faulty", "passed", "reason"])


def _verdict(judge: str, j: Estimate, share: float, f1: float, bar: float) -> tuple[bool | None, str]:
    if judge in BASELINES:
        return None, "a baseline: it does not look"
    if share == 0:
        return False, "flags nothing: the same as always-clean"
    if share == 1:
        return False, "flags everything: the same as always-faulty"
    exact = is_fixed(judge)
    above, below = (j.value > 0, j.value < 0) if exact else (j.low > 0, j.high < 0)
    if above:
        below_bar = f", though its F1 is below the {bar:.3f} of always-faulty" if f1 < bar else ""
        return True, f"its J lies above 0{below_bar}"
    nearest = nearest_baseline(share)
    if below and nearest == COIN:
        return False, "its J lies below 0: it flags clean trajectories more often than faulty ones"
    return False, f"its J may be 0: no better than {nearest} ({share:.0%} flagged)"


def nearest_baseline(share: float) -> str:
    """Which judge that does not look flags about this share of all trajectories."""
    return "always-faulty" if share > 0.9 else "always-clean" if share < 0.1 else COIN
