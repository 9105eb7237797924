"""Each fault is one edit of the oracle's calls at a known step; the judged set is deterministic and streamed."""

from __future__ import annotations

import re
import tracemalloc
from collections import Counter
from itertools import islice
from typing import get_args

import pytest

from lib.desk.environment import Instances, outcome_matches, replay
from lib.desk.faults import FAULTS, STOPPED_ANSWER, UNSUPPORTED_SENTENCES
from lib.desk.injector import JudgedSet, inject
from lib.desk.oracle import moves_of, solve
from lib.records import FAULT_TYPES, STRATA, FaultType, Trajectory, cell_of

SEED = 7
EVERYWHERE = set(STRATA)
# type: carriers, labelled step, number of steps, survival (None: at full price only)
TABLE: dict[FaultType, tuple[set[str], int, int, bool | None]] = {
    "wrong_tool": (EVERYWHERE, 2, 6, True),
    "hallucinated_argument": (EVERYWHERE, 2, 6, True),
    "skipped_precondition": ({"happy", "restocking"}, 3, 5, None),
    "ignored_observation": ({"restocking"}, 4, 6, False),
    "premature_stop": (EVERYWHERE, 3, 4, False),
    "unsupported_claim": (EVERYWHERE, 5, 6, True),
}


@pytest.fixture(scope="module")
def judged() -> list[Trajectory]:
    return list(JudgedSet(400, SEED))


def mutants(fault: FaultType, n: int = 60) -> list[tuple[Trajectory, Trajectory]]:
    """Parent and mutant of each instance that can carry the fault."""
    hosts = [instance for instance in Instances(SEED, n) if instance.stratum in TABLE[fault][0]]
    return [(solve(host), inject(host, fault, SEED)) for host in hosts]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_has_its_step_its_length_and_its_survival(fault: FaultType) -> None:
    _, step, length, survives = TABLE[fault]
    for parent, mutant in mutants(fault):
        full_price = parent.instance_id[-5:] in {f"{i:05d}" for i in range(0, 60, 6)}
        expected = full_price if survives is None else survives
        label = mutant.label
        assert (label.faulty, label.failure_step, label.failure_type) == (True, step, fault)
        assert label.outcome_correct is expected
        assert len(mutant.steps) == length
        assert mutant.trajectory_id == f"{parent.instance_id}-{fault}"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mutant_is_its_parent_up_to_the_labelled_step_and_differs_there(fault: FaultType) -> None:
    for parent, mutant in mutants(fault):
        step = mutant.label.failure_step
        assert step is not None
        same = step + 1 if fault == "premature_stop" else step  # a stop leaves its last step as it was
        assert mutant.steps[:same] == parent.steps[:same]
        assert [move.call for move in moves_of(mutant)] != [move.call for move in moves_of(parent)]
        assert mutant.goal == parent.goal


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mutant_replays_to_its_own_observations_and_survival(fault: FaultType) -> None:
    for _, mutant in mutants(fault):
        instance = Instances(SEED, 60)[int(mutant.instance_id[-5:])]
        assert replay(instance, moves_of(mutant)) == mutant.steps
        assert outcome_matches(instance, mutant.steps) is mutant.label.outcome_correct


def edited(parent: Trajectory, mutant: Trajectory) -> list[int]:
    """Steps of equal index whose call differs."""
    pairs = zip(parent.steps, mutant.steps, strict=True)
    return [mine.index for mine, other in pairs if mine.call != other.call]


def test_wrong_tool_is_a_second_lookup_of_the_given_order() -> None:
    for parent, mutant in mutants("wrong_tool"):
        assert edited(parent, mutant) == [2]
        assert mutant.steps[2].call == mutant.steps[1].call
        assert mutant.steps[2].observation.ok


def test_hallucinated_argument_is_an_invented_sku_that_fails() -> None:
    for parent, mutant in mutants("hallucinated_argument"):
        assert edited(parent, mutant) == [2]
        assert re.fullmatch(r"SKU-(BUNDLE|WARRANTY|GIFT)-[1-9]\d", mutant.steps[2].call.args["sku"])
        assert not mutant.steps[2].observation.ok
        assert mutant.steps[2].call.args["sku"] not in str(parent.steps)


def test_skipped_precondition_deletes_the_check_and_refunds_the_total() -> None:
    for parent, mutant in mutants("skipped_precondition"):
        tools = [step.call.tool for step in mutant.steps]
        assert tools == ["get_customer", "lookup_order", "get_policy", "issue_refund", "reply"]
        assert mutant.steps[3].call.args["amount_eur"] == parent.steps[1].observation.data["total_eur"]


def test_ignored_observation_refunds_the_total_after_less_was_authorised() -> None:
    for parent, mutant in mutants("ignored_observation"):
        assert edited(parent, mutant) == [4]
        paid, allowed = mutant.steps[4].call.args["amount_eur"], mutant.steps[3].observation.data["max_refund_eur"]
        assert paid == parent.steps[1].observation.data["total_eur"] > allowed
        assert mutant.steps[4].observation.ok


def test_premature_stop_is_cut_before_the_first_terminal_action() -> None:
    for parent, mutant in mutants("premature_stop"):
        assert mutant.steps == parent.steps[:4]
        assert mutant.final_answer == "I am looking into this and will get back to you." == STOPPED_ANSWER


def test_unsupported_claim_is_one_sentence_more_in_reply_and_answer() -> None:
    found = set()
    for parent, mutant in mutants("unsupported_claim"):
        assert edited(parent, mutant) == [5]
        sentence = mutant.final_answer.removeprefix(f"{parent.final_answer} ")
        assert sentence in UNSUPPORTED_SENTENCES
        assert mutant.steps[5].call.args["text"] == mutant.final_answer
        found.add(sentence)
    assert len(found) == 4


def test_the_other_faults_leave_the_reply_as_the_oracle_gave_it(judged: list[Trajectory]) -> None:
    kept = [item for item in judged if item.label.failure_type in FAULT_TYPES[:4]]
    parents = JudgedSet(400, SEED)
    assert all(item.final_answer == parents.parent(item).final_answer for item in kept)
    misnamed = [item for item in kept if (paid := amount_paid(item)) and f"EUR {paid:.2f}" not in item.final_answer]
    assert len(misnamed) == 75


def amount_paid(trajectory: Trajectory) -> float | None:
    return next((s.observation.data["refunded_eur"] for s in trajectory.steps if s.call.tool == "issue_refund"), None)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_where_it_does_not_fit(fault: FaultType) -> None:
    assert FAULTS[fault].carriers == TABLE[fault][0]
    for instance in Instances(SEED, 6):
        if instance.stratum in TABLE[fault][0]:
            inject(instance, fault, SEED)
        else:
            with pytest.raises(ValueError, match=f"{fault} does not fit {instance.instance_id}: stratum"):
                inject(instance, fault, SEED)


def test_a_fault_draws_from_a_stream_of_its_own() -> None:
    host = Instances(SEED, 1)[0]
    first, again, other = (inject(host, "hallucinated_argument", seed) for seed in (7, 7, 8))
    assert first == again
    assert first.steps[2].call != other.steps[2].call


def test_400_are_100_clean_175_silent_and_125_loud(judged: list[Trajectory]) -> None:
    assert Counter(cell_of(item.label) for item in judged) == {
        "clean": 100,
        "wrong_tool/silent": 50,
        "hallucinated_argument/silent": 50,
        "skipped_precondition/silent": 25,
        "skipped_precondition/loud": 25,
        "ignored_observation/loud": 50,
        "premature_stop/loud": 50,
        "unsupported_claim/silent": 50,
    }
    assert sum(item.label.faulty and item.label.outcome_correct for item in judged) == 175
    assert len({item.trajectory_id for item in judged}) == 400


def test_clean_ones_are_the_first_instances_and_faults_the_first_hosts(judged: list[Trajectory]) -> None:
    hosts = {
        kind: sorted(int(item.instance_id[-5:]) for item in judged if (item.label.failure_type or "clean") == kind)
        for kind in ("clean", *FAULT_TYPES)
    }
    assert hosts["clean"] == list(range(100))
    assert hosts["wrong_tool"] == hosts["premature_stop"] == hosts["unsupported_claim"] == list(range(50))
    assert hosts["skipped_precondition"] == [i for i in range(150) if i % 6 < 2]
    assert hosts["ignored_observation"] == list(range(1, 300, 6))


def test_the_order_is_fixed_by_the_seed_and_mixes_the_cells(judged: list[Trajectory]) -> None:
    assert [item.trajectory_id for item in islice(JudgedSet(400, SEED), 3)] == [
        "INS-00010-hallucinated_argument",
        "INS-00030-wrong_tool",
        "INS-00139-skipped_precondition",
    ]
    assert list(JudgedSet(400, SEED)) == judged
    assert [item.trajectory_id for item in JudgedSet(400, 8)] != [item.trajectory_id for item in judged]
    faults = Counter(item.label.failure_type for item in judged[:200])
    assert all(15 <= faults[kind] <= 35 for kind in FAULT_TYPES)
    assert 35 <= faults[None] <= 65


@pytest.mark.parametrize(
    ("n", "written", "shortfall"), [(3, 0, 3), (7, 7, 0), (10, 8, 2), (23, 23, 0), (400, 400, 0), (401, 400, 1)]
)
def test_what_does_not_divide_is_left_out_and_counted(n: int, written: int, shortfall: int) -> None:
    judged = JudgedSet(n, SEED)
    assert (len(judged), judged.shortfall) == (written, shortfall)
    assert len(list(judged)) == written


def test_the_parent_of_a_mutant_is_its_instances_clean_run(judged: list[Trajectory]) -> None:
    whole = JudgedSet(400, SEED)
    clean = {item.instance_id: item for item in judged if not item.label.faulty}
    for item in judged:
        if item.instance_id in clean:
            assert whole.parent(item) == clean[item.instance_id]


def test_the_order_of_a_large_set_takes_at_most_64_bytes_a_trajectory() -> None:
    n = 60_000
    tracemalloc.start()
    try:
        judged = JudgedSet(n, SEED)
        assert len(judged) == n
        assert tracemalloc.get_traced_memory()[1] <= 64 * n
    finally:
        tracemalloc.stop()


def test_iterating_holds_one_trajectory_at_a_time() -> None:
    judged = JudgedSet(800, SEED)
    tracemalloc.start()
    try:
        size = sum(len(item.final_answer) for item in judged)
        assert size > 50_000
        assert tracemalloc.get_traced_memory()[1] < 50_000
    finally:
        tracemalloc.stop()


def test_the_catalogue_has_one_entry_a_type_in_the_order_of_every_table() -> None:
    assert tuple(FAULTS)[:6] == FAULT_TYPES
    assert set(FAULTS) == set(get_args(FaultType)) == set(TABLE)
    assert all(entry.words.endswith(".") and entry.carriers <= EVERYWHERE for entry in FAULTS.values())


def test_a_judged_set_may_hold_chosen_faults_only() -> None:
    chosen = JudgedSet(40, SEED, ["premature_stop", "wrong_tool"])
    assert Counter(cell_of(item.label) for item in chosen) == {
        "clean": 10,
        "premature_stop/loud": 15,
        "wrong_tool/silent": 15,
    }
