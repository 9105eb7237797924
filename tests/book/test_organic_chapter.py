"""Chapter 6 says how episodes went and ended, and where there are none, how to get some."""

from __future__ import annotations

from lib.analysis.episodes import episode_frame
from lib.book.chapters.organic import answer
from lib.records import Label, Observation, Step, ToolCall, Trajectory

CUT_OFF = Label(True, 9, "premature_stop", False)


def episode(i: int, tools: list[str], label: Label) -> Trajectory:
    steps = [Step(at, "", ToolCall(tool, {}), Observation(True, {})) for at, tool in enumerate(tools)]
    return Trajectory(f"INS-{i:05d}-agent", f"INS-{i:05d}", "goal", steps, "", label)


def text(*episodes: Trajectory, **manifest: object) -> str:
    return answer(episode_frame(episodes), "mine", manifest).markdown


LOOP = episode(0, ["get_customer"] * 10, CUT_OFF)
SILENT = episode(1, ["escalate", "reply"], Label(True, 0, "skipped_precondition", True))


def test_a_run_without_episodes_says_how_to_get_some():
    assert "`.venv/bin/python -m lib episodes --run mine --model MODEL` lets one play" in text()


def test_episodes_that_were_all_cut_off_are_said_to_be():
    said = text(LOOP)
    assert "1 of them are faulty (a share of 1.000 [0.03, 1.00]): 1 end with the wrong outcome" in said
    assert "No episode reached an end of its own: all were cut off at 10 steps, and 1 made one and the same call" in said


def test_the_commonest_fault_and_what_an_outcome_check_passes_are_counted():
    said = text(LOOP, LOOP, SILENT)
    assert "The commonest fault is `premature_stop`, 2 of the 3." in said
    assert "A check of the outcome passes 1 episodes, 1 of them faulty." in said
    assert "2 episodes were cut off at 10 steps" in said


def test_a_fault_that_only_the_outcome_tells_of_has_no_commonest_type():
    assert "commonest" not in text(episode(2, ["reply"], Label(True, None, None, False)))


def test_fewer_episodes_than_were_asked_for_are_said():
    assert "the first of 60 that were asked for" in text(LOOP, episodes={"collections": [{"limit": 60}]})
