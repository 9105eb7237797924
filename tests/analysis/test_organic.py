"""Agent episodes beside the injected faults."""

from __future__ import annotations

import pytest
from test_episode_frames import EPISODES, episode

from lib.analysis.episodes import episode_frame
from lib.analysis.organic import against_injected, asked_for, is_papers_agent, most_telling
from lib.records import Label


def test_the_mix_has_every_type_of_either_source_for_both(labels):
    wrong_only = episode("INS-00002", ["issue_refund", "reply"], Label(True, None, None, False))
    mix = against_injected(episode_frame([*EPISODES, wrong_only]), labels).set_index(["failure_type", "source"])
    assert mix.loc[("premature_stop", "organic"), ["silent", "loud", "n"]].tolist() == [1, 1, 2]
    assert mix.loc[("untyped", "organic"), "share"] == pytest.approx(1 / 3)
    assert mix.loc[("untyped", "injected"), "n"] == 0
    assert mix.loc[("wrong_tool", "injected"), "cell"] == "2 + 0 = 2 (0.33)"


def test_the_episode_shown_is_the_longest_silent_fault_then_loud_then_any():
    assert most_telling(episode_frame(EPISODES)) == "INS-00004-agent"
    assert most_telling(episode_frame([EPISODES[0], EPISODES[2]])) == "INS-00010-agent"
    assert most_telling(episode_frame([EPISODES[0]])) == "INS-00000-agent"
    assert most_telling(episode_frame([])) is None


def test_the_papers_agent_is_known_by_its_model_or_by_the_released_runs_shape():
    assert is_papers_agent({"runs": []})
    assert is_papers_agent({"episodes": {"model": "qwen2.5:14b"}})
    assert not is_papers_agent({"episodes": {"model": "another"}, "runs": []})
    assert not is_papers_agent({"judges": {}})


@pytest.mark.parametrize(
    ("manifest", "n"),
    [
        ({"episodes": {"collections": [{"limit": 20}, {"limit": 60}]}}, 60),
        ({"episodes": {"collections": [{"limit": None}]}}, None),
        ({"episodes": {"model": "m"}}, None),
        ({}, None),
    ],
)
def test_how_many_episodes_were_asked_for(manifest, n):
    assert asked_for(manifest) == n
