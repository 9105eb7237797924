"""A model plays the desk: how an episode goes, how it ends, and how it is labelled and kept."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lib.desk.environment import TOOLS, Instances
from lib.desk.injector import JudgedSet
from lib.desk.oracle import solve
from lib.errors import UserError
from lib.judging.agent import ACTION_SCHEMA, episodes, play, prompt, read_action
from lib.judging.clients import Decoding, TransportError
from lib.judging.collect import Collected, Collector
from lib.judging.prompts import DESK
from lib.judging.reply import LONGEST_REPLY
from lib.records import Label, ToolCall, Trajectory
from lib.run.folder import Run
from tests.judging.fakes import Script, acts

HAPPY, EXPIRED = Instances(7, 3)[0], Instances(7, 3)[2]
DECODING = Decoding(max_tokens=64)


def rightly(index: int) -> list[str]:
    """The oracle's actions on an instance, as a model would write them."""
    steps = solve(Instances(7, 6)[index]).steps
    return [acts(step.call.tool, **renamed(step.call.args)) for step in steps]


def renamed(args: dict[str, Any]) -> dict[str, Any]:
    return {"text" if name == "reason" else name: value for name, value in args.items()}


def played(*replies: str, index: int = 0) -> Trajectory:
    return play(Instances(7, 6)[index], Script([*replies]), DECODING)


@pytest.mark.parametrize("index", range(6))
def test_an_agent_that_acts_like_the_oracle_gets_a_clean_label(index: int) -> None:
    episode, oracle = played(*rightly(index), index=index), solve(Instances(7, 6)[index])
    assert [(s.call, s.observation) for s in episode.steps] == [(s.call, s.observation) for s in oracle.steps]
    assert (episode.final_answer, episode.label) == (oracle.final_answer, oracle.label)
    assert episode.trajectory_id == f"INS-{index:05d}-agent"
    assert episode.steps[0].thought == "I choose get_customer."


def test_an_episode_ends_at_the_reply() -> None:
    client = Script([acts("reply", text="No."), acts("escalate", text="x")])
    episode = play(HAPPY, client, DECODING)
    assert len(client.asked) == len(episode.steps) == 1
    assert episode.final_answer == "No."
    assert episode.label == Label(True, 0, "premature_stop", False)


def test_a_reply_without_text_is_a_failed_call_and_no_end() -> None:
    episode = played(acts("reply"), acts("reply", text="Hello."))
    assert [step.observation.ok for step in episode.steps] == [False, True]
    assert episode.final_answer == "Hello."


@pytest.mark.parametrize(
    "reply", ["", "I refund it.", '{"tool": "repl', "[]", '{"tool": 3}', '{"reasoning": "x"}', "9" * 5000]
)
def test_an_action_that_cannot_be_read_ends_the_episode(reply: str) -> None:
    episode = played(rightly(0)[0], reply)
    assert len(episode.steps) == 1
    assert episode.final_answer == ""
    assert episode.label == Label(True, 0, "premature_stop", False)


def test_an_episode_without_a_step_has_a_label_without_a_step() -> None:
    assert played("no idea").label == Label(True, None, "premature_stop", False)


def test_an_unknown_tool_is_a_failed_step_not_an_end() -> None:
    episode = played(acts("sell"), *rightly(0))
    assert [step.observation.ok for step in episode.steps] == [False, *[True] * 6]
    assert episode.steps[0].call == ToolCall("sell", {})


def test_ten_steps_without_a_reply_are_the_end() -> None:
    client = Script([rightly(0)[0]] * 11)
    episode = play(HAPPY, client, DECODING)
    assert len(episode.steps) == len(client.asked) == 10
    assert episode.label == Label(True, 9, "premature_stop", False)


def test_only_a_tools_own_fields_are_used() -> None:
    everything = {"email": "a@b.example", "order_id": "ORD-1", "sku": "SKU-1", "amount_eur": 5.0, "text": "because"}
    own = {
        "get_customer": {"email": "a@b.example"},
        "lookup_order": {"order_id": "ORD-1"},
        "get_policy": {"sku": "SKU-1"},
        "check_eligibility": {"order_id": "ORD-1"},
        "issue_refund": {"order_id": "ORD-1", "amount_eur": 5.0},
        "escalate": {"reason": "because"},
        "reply": {"text": "because"},
    }
    assert own.keys() == TOOLS.keys()
    for tool, args in own.items():
        assert read_action(acts(tool, **everything)) == (f"I choose {tool}.", ToolCall(tool, args))
    assert list(ACTION_SCHEMA["properties"]) == ["reasoning", "tool", "email", "order_id", "sku", "amount_eur", "text"]
    assert ACTION_SCHEMA["required"] == list(ACTION_SCHEMA["properties"])


def test_an_action_of_boundless_length_is_none() -> None:
    assert read_action(acts("reply", text="x" * LONGEST_REPLY)) is None


def test_the_agent_is_told_the_judges_procedure_the_goal_and_what_it_did() -> None:
    client = Script(rightly(0))
    episode = play(HAPPY, client, DECODING)
    texts = [text for text, _, _ in client.asked]
    assert all(DESK.procedure in text and HAPPY.goal in text for text in texts)
    assert texts[3] == prompt(HAPPY.goal, episode.steps[:3])
    fixed = texts[0].split("none yet")[0]
    assert all(text.startswith(fixed) for text in texts)
    assert [text.count("observation:") for text in texts] == list(range(6))
    assert {schema["properties"]["tool"]["enum"][0] for _, schema, _ in client.asked} == {"get_customer"}


def test_a_label_is_a_lower_bound() -> None:
    """What no rule sees and no outcome shows goes unnoticed; a wrong outcome alone is faulty without step or type."""
    [verify, look, _, check, refund, reply] = rightly(0)
    unread = played(verify, look, check, refund, acts("reply", text="Your voucher is in the post."))
    assert unread.label == Label(False, None, None, True)
    needless = played(verify, look, check, acts("escalate", text="not sure"), reply)
    assert needless.label == Label(True, None, None, False)
    silent = played(verify, look, refund, reply)
    assert silent.label == Label(True, 2, "skipped_precondition", True)


def test_a_thought_with_a_lone_surrogate_reaches_no_client() -> None:
    client = Script([r'{"reasoning": "\ud800", "tool": "sell"}', acts("reply", text="x")])
    play(HAPPY, client, DECODING)
    client.asked[1][0].encode("utf-8")


# The collection of episodes.


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", {"dataset": {"seed": 7, "n": 8}}, JudgedSet(8, 7))


def collect(run: Run, client: Script, n: int, decoding: Decoding = DECODING) -> Collected:
    with ThreadPoolExecutor(1) as threads:
        return Collector(threads).make(run, episodes(run, client, decoding, n))


def test_every_kind_of_episode_is_kept_and_read_again(run: Run) -> None:
    """Also those that only the outcome tells of, without a step, or with a number that JSON cannot hold."""
    odd = '{"reasoning": "r", "tool": "issue_refund", "order_id": "ORD-20002", "amount_eur": %s}'
    replies = [
        *(*rightly(0)[:4], acts("escalate", text="not sure"), rightly(0)[5]),
        "no idea",
        *(odd % "1e999", odd % "NaN", odd % ("1" * 400), acts("reply", text=r"\ud800")),
        *rightly(3),
    ]
    assert collect(run, Script(replies), 4) == Collected(kept=4)
    labels = [episode.label for episode in run.episodes().values()]
    assert labels[:2] == [Label(True, None, None, False), Label(True, None, "premature_stop", False)]
    assert [label.faulty for label in labels] == [True, True, True, False]
    assert [step.observation.ok for step in list(run.episodes().values())[2].steps] == [False, False, False, True]
    for line in (run.folder / "episodes.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=pytest.fail)


def test_a_second_start_plays_only_what_is_missing_and_retries_what_failed(run: Run) -> None:
    assert collect(run, Script([*rightly(0), TransportError("gone"), *rightly(2)]), 3).failures == 1
    assert list(run.episodes()) == ["INS-00000-agent", "INS-00002-agent"]
    [failure] = run.failures()
    assert (failure["trajectory_id"], failure["judge_id"]) == ("INS-00001-agent", "agent:m")
    again = Script([*rightly(1), *rightly(3)])
    assert collect(run, again, 4) == Collected(kept=2)
    assert sorted(run.episodes()) == [f"INS-{index:05d}-agent" for index in range(4)]
    assert again.replies == []
    assert run.verdicts() == []


def test_run_json_says_how_the_episodes_were_made_and_other_settings_are_refused(run: Run) -> None:
    collect(run, Script(rightly(0)), 1)
    about = run.manifest["episodes"]
    assert (about["model"], about["most_steps"], about["decoding"]["temperature"]) == ("m", 10, 0.0)
    assert "timeout" not in about["decoding"]
    assert {len(about[name]) for name in ("prompt_sha256", "schema_sha256")} == {64}
    with pytest.raises(UserError, match=r"The entry episodes is recorded in run\.json with other settings"):
        collect(run, Script([]), 2, Decoding(max_tokens=65))
    with pytest.raises(UserError, match='model: recorded "m", now "n"'):
        collect(run, Script([], model="n"), 2)
    assert len(run.episodes()) == 1


def test_a_run_that_does_not_tell_its_seed_has_no_instances_to_play(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "other", {}, JudgedSet(8, 7))
    with pytest.raises(UserError, match=r"run\.json has no dataset\.seed"):
        collect(run, Script([]), 1)


def test_escalated_instances_are_expected_to_be_escalated() -> None:
    assert EXPIRED.stratum == "expired"
    [verify, look, policy, check, escalate, reply] = rightly(2)
    assert '"escalate"' in escalate
    assert played(verify, look, policy, check, reply, index=2).label == Label(True, 4, "premature_stop", False)
