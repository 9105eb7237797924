"""Counts over agent episodes, on two made by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from lib import REFERENCE
from lib.analysis.episodes import (
    by_fault_type,
    call_frame,
    episode_frame,
    first_rules,
    most_telling,
    summary,
    tool_use,
)
from lib.desk.checker import RULES, first_broken
from lib.records import Label, Observation, Step, ToolCall, Trajectory


def episode(instance: str, tools: list[str], label: Label, final_answer: str = "Done.", failed: int = -1) -> Trajectory:
    steps = [
        Step(i, "", ToolCall(tool, {"reason": "x"}), Observation(i != failed, {}, None)) for i, tool in enumerate(tools)
    ]
    return Trajectory(f"{instance}-agent", instance, "goal", steps, final_answer, label)


EPISODES = [
    episode("INS-00000", ["get_customer", "check_eligibility", "reply"], Label(False, None, None, True), failed=1),
    episode("INS-00004", ["escalate", "escalate", "escalate"], Label(True, 2, "premature_stop", True), " "),
    episode("INS-00010", ["get_customer"], Label(True, 0, "premature_stop", False)),
]


def test_summary_by_hand():
    assert summary(episode_frame(EPISODES)) == {
        "episodes": 3,
        "faulty": 2,
        "wrong_outcome": 1,
        "silent": 1,
        "escalate_calls": 3,
        "repeated_escalations": 1,
        "episodes_with_eligibility_check": 1,
        "empty_final_answer": 1,
    }


def test_first_rules_by_hand():
    label = Label(True, 9, "premature_stop", False)
    ten = [episode("INS-1", ["get_customer"] * 10, label), episode("INS-2", ["lookup_order"] * 9 + ["reply"], label)]
    rules = first_rules(first_broken([*EPISODES, *ten]), RULES)
    assert rules[["rule", "failure_type", "n"]].to_numpy().tolist() == [
        [2, "skipped_precondition", 1],
        [7, "premature_stop", 3],
        [8, "premature_stop", 1],
    ]
    assert first_rules([], RULES).empty


def test_frame_by_hand():
    frame = episode_frame(EPISODES)
    assert frame["repeated_calls"].tolist() == [0, 2, 0]
    assert frame["failed_calls"].tolist() == [1, 0, 0]
    assert frame["cell"].tolist() == ["clean", "premature_stop/silent", "premature_stop/loud"]


def test_tables_by_hand():
    frame, calls = episode_frame(EPISODES), call_frame(EPISODES)
    assert by_fault_type(frame).to_numpy().tolist() == [["premature_stop", 1, 1, 2, 1.0]]
    assert tool_use(calls).set_index("tool").loc["escalate"].tolist() == [3, 0, 1]
    assert tool_use(calls)["tool"].tolist()[:2] == ["escalate", "get_customer"]


def test_no_episodes_is_a_row_of_zeros():
    assert set(summary(episode_frame([])).values()) == {0}


def test_published_episodes(published):
    figures = pd.read_csv(REFERENCE / "trajectory_judge_figures.csv", dtype=str)
    counts = summary(episode_frame(published.episodes().values()))
    printed = figures[figures["judge"].str.startswith("episodes:")].set_index("metric")["value"].astype(int)
    assert len(printed) == 7
    assert {name: counts[name] for name in printed.index} == pytest.approx(printed.to_dict())


def test_the_episode_shown_is_the_longest_silent_fault_then_loud_then_any():
    assert most_telling(episode_frame(EPISODES)) == "INS-00004-agent"
    assert most_telling(episode_frame([EPISODES[0], EPISODES[2]])) == "INS-00010-agent"
    assert most_telling(episode_frame([EPISODES[0]])) == "INS-00000-agent"
    assert most_telling(episode_frame([])) is None
