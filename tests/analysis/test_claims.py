"""Which claim an answer holds, and the miss that tells most."""

from __future__ import annotations

from lib.analysis.claims import OTHER, most_telling_miss, sentences_of
from lib.records import About, Label, Trajectory, Verdict

KINDS = {
    "outcome:m": About(kind="outcome", sees="outcome", model="m"),
    "step:n": About(kind="step", sees="step", model="n"),
    "step:m": About(kind="step", sees="step", model="m"),
    "selfcons3:m": About(kind="selfcons", sees="step", model="m", members=3),
}


def trajectory(name: str, answer: str, kind: str | None = "unsupported_claim") -> Trajectory:
    label = Label(faulty=kind is not None, failure_step=None, failure_type=kind, outcome_correct=True)
    return Trajectory(name, "INS-00000", "Refund.", [], answer, label)


RUNS = {
    t.trajectory_id: t
    for t in (
        trajectory("a", "Done. A courier comes."),
        trajectory("b", "Done. A voucher is yours."),
        trajectory("d", "Done. The moon is full."),
        trajectory("clean", "Done. A courier comes.", None),
    )
}
NAMES = {"A courier comes.": "a courier", "A voucher is yours.": "a voucher"}


def test_claim_of_each_faulty_answer_is_found():
    assert sentences_of(RUNS.values(), NAMES) == {"a": "a courier", "b": "a voucher", "d": OTHER}


def verdict(name: str, judge: str = "step:m", confidence: float = 0.9, **fields) -> Verdict:
    given = {"faulty": False, "rationale": "Fine."} | fields
    return Verdict(trajectory_id=name, judge_id=judge, confidence=confidence, **given)


def test_most_telling_miss_is_the_most_confident_one_by_a_judge_that_read_the_steps():
    no_miss = [
        verdict("clean", confidence=1.0),
        verdict("a", confidence=1.0, faulty=True),
        verdict("a", "outcome:m", 1.0),
        verdict("a", "selfcons3:m", 1.0),
        verdict("a", confidence=1.0, rationale=" "),
        verdict("a", confidence=1.0, status="truncated"),
    ]
    assert most_telling_miss(no_miss, RUNS, KINDS) is None
    best = verdict("b", confidence=0.95)
    assert most_telling_miss([*no_miss, verdict("a"), best], RUNS, KINDS) is best


def test_ties_go_to_the_first_judge_of_the_run_then_to_the_first_trajectory():
    said = [verdict("a"), verdict("b", "step:n"), verdict("a", "step:n")]
    assert most_telling_miss(said, RUNS, KINDS) is said[2]
    assert most_telling_miss(said, RUNS, dict(reversed(KINDS.items()))) is said[0]
