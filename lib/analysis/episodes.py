"""What goes wrong when a model plays the agent itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import pandas as pd

from lib.records import Trajectory, cell_of, stratum_of


def episode_frame(episodes: Iterable[Trajectory]) -> pd.DataFrame:
    """One row per episode.

    Columns: trajectory_id, instance_id, stratum (None if of another making), faulty, failure_step, failure_type,
    outcome_correct, cell, n_steps, empty_final_answer, failed_calls (observations that are not ok),
    repeated_calls (a call with the tool and arguments of an earlier one), escalations, checks_eligibility, replied.
    """
    return pd.DataFrame([_row(episode) for episode in episodes], columns=list(_COLUMNS)).astype(
        {"failure_step": "Int64", **dict.fromkeys(_YES_OR_NO, bool), **dict.fromkeys(_COUNTS, int)}
    )


_COLUMNS = (
    *("trajectory_id", "instance_id", "stratum", "faulty", "failure_step", "failure_type", "outcome_correct", "cell"),
    *(
        "n_steps",
        "empty_final_answer",
        "failed_calls",
        "repeated_calls",
        "escalations",
        "checks_eligibility",
        "replied",
    ),
)

_YES_OR_NO = ("faulty", "outcome_correct", "empty_final_answer", "checks_eligibility", "replied")
_COUNTS = ("n_steps", "failed_calls", "repeated_calls", "escalations")


def _row(episode: Trajectory) -> dict[str, object]:
    label, calls = episode.label, [step.call for step in episode.steps]
    distinct = {repr((call.tool, sorted(call.args.items()))) for call in calls}
    return {
        "trajectory_id": episode.trajectory_id,
        "instance_id": episode.instance_id,
        "stratum": stratum_of(episode.instance_id),
        "faulty": label.faulty,
        "failure_step": label.failure_step,
        "failure_type": label.failure_type,
        "outcome_correct": label.outcome_correct,
        "cell": cell_of(label),
        "n_steps": len(calls),
        "empty_final_answer": not episode.final_answer.strip(),
        "failed_calls": sum(not step.observation.ok for step in episode.steps),
        "repeated_calls": len(calls) - len(distinct),
        "escalations": sum(call.tool == "escalate" for call in calls),
        "checks_eligibility": any(call.tool == "check_eligibility" for call in calls),
        "replied": any(step.call.tool == "reply" and step.observation.ok for step in episode.steps),
    }


def call_frame(episodes: Iterable[Trajectory]) -> pd.DataFrame:
    """One row per call: trajectory_id, stratum, index, tool, ok."""
    rows = [
        (episode.trajectory_id, stratum_of(episode.instance_id), step.index, step.call.tool, step.observation.ok)
        for episode in episodes
        for step in episode.steps
    ]
    return pd.DataFrame(rows, columns=["trajectory_id", "stratum", "index", "tool", "ok"]).astype({"ok": bool})


def summary(frame: pd.DataFrame) -> dict[str, int]:
    """Counts over a frame of ``episode_frame``, by the names of the published figures (Section 8, Appendix G).

    ``faulty`` episodes broke a process rule or missed the expected outcome; ``silent`` are those of them whose
    outcome was right all the same.
    """
    faulty, correct = frame["faulty"].astype(bool), frame["outcome_correct"].astype(bool)
    return {
        "episodes": len(frame),
        "faulty": int(faulty.sum()),
        "wrong_outcome": int((~correct).sum()),
        "silent": int((faulty & correct).sum()),
        "escalate_calls": int(frame["escalations"].sum()),
        "repeated_escalations": int((frame["escalations"] > 1).sum()),
        "episodes_with_eligibility_check": int(frame["checks_eligibility"].sum()),
        "empty_final_answer": int(frame["empty_final_answer"].sum()),
    }


def by_fault_type(frame: pd.DataFrame) -> pd.DataFrame:
    """Faulty episodes by type and survival: frame failure_type, silent, loud, n, share (of the faulty ones).

    A fault that only the outcome tells of has the type ``untyped``.
    """
    faults = frame[frame["faulty"].astype(bool)]
    silent = faults["outcome_correct"].astype(bool)
    kinds = pd.DataFrame({"failure_type": faults["failure_type"].fillna("untyped"), "silent": silent, "loud": ~silent})
    table = kinds.groupby("failure_type").sum().astype(int).reset_index()
    table["n"] = table["silent"] + table["loud"]
    table["share"] = table["n"] / max(len(faults), 1)
    return table.sort_values(["n", "failure_type"], ascending=[False, True], ignore_index=True)


def tool_use(calls: pd.DataFrame) -> pd.DataFrame:
    """Frame tool, calls, failed, episodes (in which it is called) of a ``call_frame``, most used first."""
    groups = calls.assign(failed=~calls["ok"].astype(bool)).groupby("tool")
    columns = {"calls": ("ok", "size"), "failed": ("failed", "sum"), "episodes": ("trajectory_id", "nunique")}
    return (
        groups.agg(**columns).reset_index().sort_values(["calls", "tool"], ascending=[False, True], ignore_index=True)
    )


class Broken(Protocol):
    """A rule that an episode broke."""

    @property
    def rule(self) -> int: ...
    @property
    def failure_type(self) -> str: ...


def first_rules(first: Iterable[Broken], rules: Mapping[int, str]) -> pd.DataFrame:
    """The rules that episodes broke first, counted: frame rule, what (of ``rules``), failure_type, n, by rule."""
    counts = pd.Series([(one.rule, rules[one.rule], one.failure_type) for one in first], dtype=object).value_counts()
    rows = [(*about, int(n)) for about, n in sorted(counts.items())]
    return pd.DataFrame(rows, columns=["rule", "what", "failure_type", "n"])


def most_telling(episodes: pd.DataFrame) -> str | None:
    """Id of the longest silent fault (the first, if several), else loud fault, else episode; None where none is."""
    if episodes.empty:
        return None
    faulty, correct = episodes["faulty"].astype(bool), episodes["outcome_correct"].astype(bool)
    pool = next(part for part in (episodes[faulty & correct], episodes[faulty], episodes) if len(part))
    return str(pool.loc[pool["n_steps"].idxmax(), "trajectory_id"])
