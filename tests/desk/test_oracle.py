"""The oracle solves every instance without breaking a rule, and its reply asserts only what it observed."""

from __future__ import annotations

import pytest
from reply_support import unsupported

from lib.desk.checker import check
from lib.desk.environment import Instances
from lib.desk.faults import UNSUPPORTED_SENTENCES
from lib.desk.oracle import solve
from lib.records import STRATA, Trajectory
from lib.run.folder import Run

SEEDS = (0, 1, 7, 42, 2026)
MANY = 180


@pytest.fixture(scope="module")
def solved() -> list[Trajectory]:
    return [solve(instance) for seed in SEEDS for instance in Instances(seed, MANY)]


def test_no_rule_fires_and_the_expected_outcome_is_reached(solved: list[Trajectory]) -> None:
    assert len(solved) == 900
    for trajectory in solved:
        assert check(trajectory.goal, trajectory.steps) == []
        assert (trajectory.label.faulty, trajectory.label.outcome_correct) == (False, True)


def test_six_steps_in_the_procedures_order(solved: list[Trajectory]) -> None:
    for index, trajectory in enumerate(solved):
        due = STRATA[index % MANY % 6] in ("happy", "restocking")
        assert [step.call.tool for step in trajectory.steps] == [
            "get_customer",
            "lookup_order",
            "get_policy",
            "check_eligibility",
            "issue_refund" if due else "escalate",
            "reply",
        ]
        assert all(step.observation.ok for step in trajectory.steps)
        assert [step.index for step in trajectory.steps] == list(range(6))


def test_every_later_argument_is_read_from_an_observation(solved: list[Trajectory]) -> None:
    for trajectory in solved:
        steps = trajectory.steps
        assert steps[2].call.args == {"sku": steps[1].observation.data["sku"]}
        allowed = steps[3].observation.data
        if allowed["eligible"]:
            assert steps[4].call.args["amount_eur"] == allowed["max_refund_eur"]
        else:
            assert steps[4].call.args == {"reason": allowed["reason"]}


def test_every_reply_names_the_case_and_nothing_that_was_not_observed(solved: list[Trajectory]) -> None:
    for trajectory in solved:
        reply, data = trajectory.final_answer, [step.observation.data for step in trajectory.steps]
        assert reply == trajectory.steps[5].call.args["text"]
        assert data[0]["name"] in reply
        assert data[1]["order_id"] in reply
        told = f"EUR {data[4]['refunded_eur']:.2f}" if data[3]["eligible"] else data[3]["reason"]
        assert told in reply
        assert unsupported(reply, trajectory.steps, trajectory.goal) == []


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        (UNSUPPORTED_SENTENCES[0], "Tuesday"),
        (UNSUPPORTED_SENTENCES[1], "subscription"),
        (UNSUPPORTED_SENTENCES[2], "10"),
        (UNSUPPORTED_SENTENCES[3], "courier"),
        ("You will see it within five working days.", "days"),
        ("A specialist will contact you.", "contact"),
        ("I have refunded EUR 12.34 for order ORD-20000.", "12.34"),
        ("I have escalated your request.", "escalated"),
        ("I have not refunded order ORD-20000.", "refunded"),
        ("Hi Hugo Novak", "Hugo"),
        ("order ORD-20001", "20001"),
    ],
)
def test_the_reading_of_replies_finds_what_no_observation_supports(claim: str, found: str) -> None:
    trajectory = solve(Instances(1, 1)[0])  # a refund, to another customer, of another amount
    assert "Hugo" not in trajectory.final_answer
    words = unsupported(f"{trajectory.final_answer} {claim}", trajectory.steps, trajectory.goal)
    assert found in words


def test_the_released_oracles_replies_would_not_pass(published: Run) -> None:
    clean = [item for item in published.trajectories().values() if not item.label.faulty]
    promised = [unsupported(item.final_answer, item.steps, item.goal) for item in clean]
    assert len(promised) == 100
    assert all({"days"} <= {*words} or {"contact"} <= {*words} for words in promised)
