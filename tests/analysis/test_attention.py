"""What a rationale speaks of, sorted by hand."""

from __future__ import annotations

import pytest

from lib.analysis.attention import (
    PARTS,
    attention,
    attention_shares,
    sentences,
    speaks_of,
    telling_stems,
)
from lib.records import About, Label, Observation, Step, ToolCall, Trajectory, Verdict

CLAIM = "I have also cancelled the subscription linked to this order."
ANSWER = "I have refunded order ORD-1."
CLAIMS = (CLAIM, "A courier will collect the item tomorrow morning.")


def trajectory(name: str, answer: str) -> Trajectory:
    calls = [ToolCall("lookup_order", {"order_id": "ORD-1"}), ToolCall("reply", {"text": answer})]
    seen = Observation(ok=True, data={"status": "delivered"})
    steps = [Step(i, "Look at the order.", call, seen) for i, call in enumerate(calls)]
    label = Label(faulty=True, failure_step=1, failure_type="unsupported_claim", outcome_correct=True)
    return Trajectory(name, "INS-00000", "Refund order ORD-1.", steps, answer, label)


ABOUTS = {
    "rules": About(kind="rules", fixed=True),
    "selfcons3:m": About(kind="selfcons", model="m", members=3),
    **{f"{kind}:m": About(kind=kind, model="m") for kind in ("outcome", "step")},
    "step:silent": About(kind="step", model="silent"),
}
RUNS = {"u": trajectory("u", f"{ANSWER} {CLAIM}"), "c": trajectory("c", ANSWER)}


def verdict(rationale: str, name: str = "u", judge: str = "step:m", *, faulty: bool = False) -> Verdict:
    return Verdict(trajectory_id=name, judge_id=judge, faulty=faulty, confidence=0.9, rationale=rationale)


def test_sentences_end_at_lines_and_stops_and_lose_their_list_markers():
    text = 'All is well:\n1. The fee of 5.5 % is right. So is the sum!\n- "It is sent." Good\n\n---\n'
    found = ["All is well:", "The fee of 5.5 % is right.", "So is the sum!", '"It is sent.', "Good"]
    assert sentences(text) == found
    assert sentences("") == []


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("The agent verified the customer.", "steps only"),
        ("It called get_customer first.", "steps only"),
        ("The message promises too much.", "reply only"),
        ("The reply follows from the observations.", "both"),
        ("All is well.", "neither"),
        ("It recalled a stepson.", "neither"),  # no word of either list, only parts of words
    ],
)
def test_sentence_is_sorted_by_the_words_it_has(sentence, part):
    assert speaks_of(sentence) == part


def test_tools_are_steps_but_the_reply_tool_is_the_reply():
    assert speaks_of("Then issue_refund.", {"issue_refund", "reply"}) == "steps only"
    assert speaks_of("Then reply(text).", {"issue_refund", "reply"}) == "reply only"


def test_naming_the_step_of_the_reply_is_speaking_of_the_reply():
    assert speaks_of("Step 5 is fine.") == "steps only"
    assert speaks_of("Step 5 is fine.", reply_step=5) == "reply only"
    assert speaks_of("Step 15 is fine.", reply_step=5) == "steps only"


def test_telling_stems_are_those_of_long_words_that_stand_nowhere_else():
    assert telling_stems(CLAIM, "this order was cancelling") == {"subscr", "linked"}


def test_claim_is_named_by_two_words_of_its_own_in_any_form():
    said = [
        verdict("The reply tells of cancelling a subscription."),
        verdict("A subscription is mentioned."),
        verdict("The order was refunded."),
    ]
    assert attention(said, RUNS, ABOUTS, CLAIMS)["names_claim"].tolist() == [True, False, False]


def test_on_a_clean_answer_any_of_the_claims_would_count():
    said = [verdict("A courier comes in the morning.", "c"), verdict("The order was refunded.", "c")]
    assert attention(said, RUNS, ABOUTS, CLAIMS)["names_claim"].tolist() == [True, False]


def test_only_words_of_a_model_are_counted():
    judges = ("rules", "selfcons3:m", "outcome:m")
    found = attention([verdict("The reply is fine.", judge=judge) for judge in judges], RUNS, ABOUTS, CLAIMS)
    assert found["judge"].tolist() == ["outcome:m"]
    assert attention([verdict(" ")], RUNS, ABOUTS, CLAIMS).empty


def test_shares_are_of_all_sentences_of_a_judge_together():
    said = [verdict("It verified. All is well. The reply is fine."), verdict("The policy supports the answer.")]
    (row,) = attention_shares(attention(said, RUNS, ABOUTS, CLAIMS)).to_dict("records")
    assert [row[part] for part in PARTS] == [1 / 4] * 4
    assert (row["rationales"], row["sentences"], row["steps"], row["reply"]) == (2, 2, 1 / 2, 1 / 2)
    assert attention_shares(attention([], RUNS, ABOUTS)).empty
