"""Clean parents of mutants: made anew, in whatever words the run speaks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lib import ROOT
from lib.desk.environment import Instances
from lib.desk.injector import JudgedSet
from lib.desk.oracle import solve
from lib.desk.parents import clean_parents, reword
from lib.records import ToolCall, Trajectory, stratum_of
from lib.run.folder import Run

PUBLISHED = ROOT.parent / "shared" / "published"


@pytest.fixture(scope="module")
def judged() -> list[Trajectory]:
    return list(JudgedSet(120, 7))


def politely(trajectory: Trajectory) -> Trajectory:
    """The trajectory as another maker would have worded it."""
    text = f"Good day. {trajectory.final_answer} Kind regards."
    steps = [replace(step, thought=f"Now: {step.thought}") for step in trajectory.steps]
    if steps[-1].call.tool == "reply":
        steps[-1] = replace(steps[-1], call=ToolCall("reply", {"text": text}))
    return replace(trajectory, steps=steps, final_answer=text)


def test_a_run_in_our_words_gets_our_oracles_parents(judged):
    found = clean_parents(judged, seed=7)
    mutants = [t for t in judged if t.label.faulty]
    assert found.own + found.regenerated == len(mutants) == 90
    assert found.missing == 0
    judged_set = JudgedSet(120, 7)
    assert all(found.by_instance[t.instance_id] == judged_set.parent(t) for t in mutants)


def test_a_run_in_other_words_gets_parents_in_those_words(judged):
    found = clean_parents([politely(t) for t in judged], seed=7)
    assert (found.matched, found.regenerated, found.missing) == (found.checked, 0, 0)
    assert found.reworded > 0
    judged_set = JudgedSet(120, 7)
    for mutant in judged:
        assert found.by_instance[mutant.instance_id] == politely(judged_set.parent(mutant))


def test_retelling_puts_in_the_own_name_amount_and_reason():
    instances = Instances(7, 36)
    for one, other in ((1, 7), (2, 8), (0, 30)):
        told = reword(solve(instances[one]), politely(solve(instances[other])))
        assert stratum_of(told.instance_id) == stratum_of(f"INS-{other:05d}")
        assert told == politely(solve(instances[one]))


def test_retelling_with_the_words_of_another_stratum_is_refused():
    with pytest.raises(ValueError, match="other calls"):
        reword(solve(Instances(7, 3)[0]), solve(Instances(7, 3)[2]))


def test_words_that_cannot_be_learned_leave_parents_unknown(judged):
    """Each clean reply says something that nothing in the trajectory tells, so no other can be told from it."""
    secret = [
        replace(t, final_answer=f"{t.final_answer} ({i})") if not t.label.faulty else t for i, t in enumerate(judged)
    ]
    found = clean_parents(secret, seed=7)
    assert found.matched < found.checked
    assert (found.regenerated, found.reworded) == (0, 0)
    assert found.missing == sum(t.label.faulty and t.instance_id not in own(judged) for t in judged) > 0


@pytest.mark.parametrize("seed", [8, None])
def test_with_another_seed_or_none_only_own_clean_trajectories_are_parents(judged, seed):
    found = clean_parents(judged, seed)
    assert set(found.by_instance) == own(judged)
    assert (found.regenerated, found.reworded) == (0, 0)


@pytest.mark.parametrize("name", ["INS-99999999999", "case-7"])
def test_ids_of_another_making_have_no_parent_and_cost_nothing(judged, name):
    stranger = replace(next(t for t in judged if t.label.faulty), trajectory_id="x", instance_id=name)
    found = clean_parents([*judged, stranger], seed=7)
    assert found.missing == 1
    assert name not in found.by_instance


def own(judged: list[Trajectory]) -> set[str]:
    return {t.instance_id for t in judged if not t.label.faulty}


def test_every_clean_trajectory_of_the_released_run_is_retold_exactly_from_another():
    if not PUBLISHED.is_dir():
        pytest.skip("the paper's released run is not beside the project (shared/published)")
    found = clean_parents(Run.open(PUBLISHED).trajectories().values(), seed=7)
    assert (found.checked, found.matched) == (100, 100)
    assert (found.own, found.reworded, found.missing) == (251, 49, 0)
