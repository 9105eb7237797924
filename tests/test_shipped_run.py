"""The run we ship is what the landed code makes: same trajectories, same prompts, verdicts on a prefix."""

import pytest

from lib import RUNS
from lib.desk.environment import Instances
from lib.desk.injector import JudgedSet
from lib.judging import agent
from lib.judging.prompts import RUBRICS, checksum
from lib.judging.roster import MODEL_FREE
from lib.records import view_of
from lib.run.folder import Run

LOCAL = Run(RUNS / "local")
MODEL_JUDGES = [judge for judge in LOCAL.manifest["judges"] if judge not in MODEL_FREE]


def test_trajectories_are_regenerated_to_the_byte(tmp_path):
    about = LOCAL.manifest["dataset"]
    again = Run.create(tmp_path / "again", {}, JudgedSet(about["n"], about["seed"]))
    assert again.manifest["dataset"]["sha256"] == about["sha256"]
    assert (again.folder / "trajectories.jsonl").read_bytes() == (LOCAL.folder / "trajectories.jsonl").read_bytes()


@pytest.mark.parametrize("judge", MODEL_JUDGES)
def test_prompt_and_schema_of_every_model_judge_are_todays(judge):
    recorded = LOCAL.manifest["judges"][judge]
    kind = judge.partition(":")[0]
    kind = kind if kind in RUBRICS else recorded["about"]["sees"]  # an ensemble asks the judge of its view
    assert {key: recorded[key] for key in ("prompt_sha256", "schema_sha256")} == RUBRICS[kind].checksums()


def test_agent_prompt_and_schema_are_todays():
    recorded = LOCAL.manifest["episodes"]
    assert recorded["prompt_sha256"] == checksum(agent._INSTRUCTIONS)
    assert recorded["schema_sha256"] == checksum(agent.ACTION_SCHEMA)


def test_episodes_are_of_the_first_60_instances_and_labelled_as_today():
    instances = Instances(LOCAL.manifest["dataset"]["seed"], 60)
    episodes = LOCAL.episodes()
    assert sorted(episodes) == [f"{instance.instance_id}-agent" for instance in instances]
    for instance in instances:
        episode = episodes[f"{instance.instance_id}-agent"]
        assert episode.goal == instance.goal
        assert episode.label == agent.label_episode(instance, episode.steps)


def test_every_judge_judged_a_prefix():
    order = list(LOCAL.trajectories())
    judged: dict[str, set[str]] = {}
    for verdict in LOCAL.verdicts():
        judged.setdefault(verdict.judge_id, set()).add(verdict.trajectory_id)
    for judge, ids in judged.items():
        assert ids == set(order[: len(ids)]), judge
        assert len(ids) == len(order) or LOCAL.manifest["judges"][judge]["collections"][-1]["limit"] >= len(ids)


def test_rules_and_baselines_judge_again_as_they_did():
    judges = {name: make() for name, make in MODEL_FREE.items()}
    trajectories = LOCAL.trajectories()
    for verdict in LOCAL.verdicts():
        if verdict.judge_id in judges:
            judge = judges[verdict.judge_id]
            again = judge.judge(view_of(trajectories[verdict.trajectory_id], steps=judge.about.sees == "step"))
            got = (again.faulty, again.failure_step, again.failure_type, again.confidence, again.rationale)
            assert got == (
                *(verdict.faulty, verdict.failure_step, verdict.failure_type),
                *(verdict.confidence, verdict.rationale),
            )
