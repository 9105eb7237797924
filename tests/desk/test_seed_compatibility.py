"""At the paper's seed our judged set is the released one, trajectory by trajectory."""

from __future__ import annotations

import pytest

from lib.desk.checker import check
from lib.desk.environment import Instances
from lib.desk.injector import JudgedSet
from lib.judging.agent import label_episode
from lib.records import Step, ToolCall, Trajectory
from lib.run.folder import Run

SEED = 7


@pytest.fixture(scope="module")
def released(published: Run) -> list[Trajectory]:
    return list(published.trajectories().values())


def without_prose(steps: list[Step]) -> list[tuple[ToolCall, object]]:
    """Calls and observations; thoughts and the wording of replies are each side's own."""
    return [
        (ToolCall(step.call.tool, {} if step.call.tool == "reply" else step.call.args), step.observation)
        for step in steps
    ]


def test_all_400_published_trajectories_equal_ours(released: list[Trajectory]) -> None:
    ours = list(JudgedSet(400, SEED))
    assert len(released) == 400
    assert [item.trajectory_id for item in ours] == [item.trajectory_id for item in released]
    for mine, theirs in zip(ours, released, strict=True):
        assert (mine.instance_id, mine.goal, mine.label) == (theirs.instance_id, theirs.goal, theirs.label)
        assert without_prose(mine.steps) == without_prose(theirs.steps), mine.trajectory_id


def test_the_checker_says_the_same_of_published_trajectories_as_of_ours(released: list[Trajectory]) -> None:
    for mine, theirs in zip(JudgedSet(400, SEED), released, strict=True):
        assert check(mine.goal, mine.steps) == check(theirs.goal, theirs.steps), mine.trajectory_id


def test_all_60_published_episodes_are_labelled_as_published(published: Run) -> None:
    episodes = list(published.episodes().values())
    assert len(episodes) == 60
    for instance, episode in zip(Instances(SEED, 60), episodes, strict=True):
        assert episode.instance_id == instance.instance_id
        assert label_episode(instance, episode.steps) == episode.label, episode.trajectory_id
