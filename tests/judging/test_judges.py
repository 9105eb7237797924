"""Judges: the baselines, the rules, a model behind a prompt, and the vote of an ensemble."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lib.desk.injector import JudgedSet
from lib.errors import UserError
from lib.judging.clients import CallFailed, Decoding, TokenLogprob, TransportError
from lib.judging.ensemble import Repeat, SelfConsistency, combine, member_seed
from lib.judging.judge import Coin, Constant, Judge
from lib.judging.llm import Direct, PromptJudge
from lib.judging.prompts import RUBRICS, reply_form
from lib.judging.reply import LONGEST_REPLY
from lib.judging.roster import make_judges, needs_model
from lib.judging.rules import Rules
from lib.records import About, Judgement, Label, Trajectory, View, view_of
from tests.judging.fakes import Script, says

DECODING = Decoding(max_tokens=64, timeout=5.0)


@pytest.fixture(scope="module")
def judged() -> list[Trajectory]:
    return list(JudgedSet(400, 7))


def views(trajectories: list[Trajectory], steps: bool = False) -> list[View]:
    return [view_of(trajectory, steps=steps) for trajectory in trajectories]


@pytest.mark.parametrize("faulty", [True, False])
def test_a_constant_says_the_same_of_all_without_step_or_type(faulty: bool, judged: list[Trajectory]) -> None:
    said = {repr(Constant("constant", faulty).judge(view)) for view in views(judged)}
    assert len(said) == 1
    one = Constant("constant", faulty).judge(views(judged)[0])
    assert (one.faulty, one.failure_step, one.failure_type, one.confidence) == (faulty, None, None, 0.5)
    assert (one.latency_s, one.prompt_tokens, one.completion_tokens, one.status) == (0.0, 0, 0, "ok")


def test_a_coin_falls_the_same_way_each_time_and_fairly(judged: list[Trajectory]) -> None:
    falls = [Coin().judge(view).faulty for view in views(judged)]
    assert falls == [Coin().judge(view).faulty for view in views(judged, steps=True)]
    assert 170 <= sum(falls) <= 230  # 200 expected, standard deviation 10
    one = Coin().judge(views(judged)[0])
    assert (one.failure_step, one.failure_type, one.confidence) == (None, None, 0.5)


def test_a_coin_does_not_depend_on_the_label(judged: list[Trajectory]) -> None:
    silent = [item for item in judged if item.label.faulty and item.label.outcome_correct]
    heads = sum(Coin().judge(view).faulty for view in views(silent))
    assert 65 <= heads <= 110  # of 175: 87.5 expected, standard deviation 6.6


def test_rules_report_the_first_violation_at_95_and_its_absence_at_60(judged: list[Trajectory]) -> None:
    seen = set()
    for item in judged:
        said, label = Rules().judge(view_of(item, steps=True)), item.label
        found = label.faulty and label.failure_type not in ("wrong_tool", "unsupported_claim")
        assert (said.faulty, said.confidence) == (found, 0.95 if found else 0.60)
        expected = (label.failure_step, label.failure_type) if found else (None, None)
        assert (said.failure_step, said.failure_type) == expected
        assert said.rationale == "no rule fired" or said.rationale.startswith("rule ")
        seen.add(said.rationale)
    assert len(seen) > 4


def test_rules_flag_a_trajectory_without_steps_and_name_no_step() -> None:
    said = Rules().judge(View("t", "goal", "answer", []))
    assert (said.faulty, said.failure_step, said.failure_type) == (True, None, "premature_stop")


def test_the_two_model_judges_send_one_prompt_with_their_own_view_and_schema(judged: list[Trajectory]) -> None:
    item = judged[0]
    for kind, steps in (("outcome", False), ("step", True)):
        client = Script([says()])
        judge = PromptJudge(RUBRICS[kind], client, DECODING)
        assert (judge.judge_id, judge.about.sees == "step") == (f"{kind}:m", steps)
        view = view_of(item, steps=steps)
        judge.judge(view)
        assert client.asked == [(RUBRICS[kind].prompt(view), RUBRICS[kind].schema, DECODING)]


def test_a_reply_becomes_a_judgement_with_its_cost_and_its_own_text(judged: list[Trajectory]) -> None:
    reply = says(faulty=True, failure_step=99, failure_type="wrong_tool", confidence="80%", reasoning="step 2")
    judge = PromptJudge(RUBRICS["step"], Script([reply], tokens=None), DECODING)
    said = judge.judge(view_of(judged[0], steps=True))
    assert (said.faulty, said.failure_step, said.raw_step, said.failure_type) == (True, None, 99, "wrong_tool")
    assert (said.confidence, said.rationale, said.status, said.raw_reply) == (0.8, "step 2", "ok", reply)
    assert (said.latency_s, said.load_s, said.prompt_tokens, said.completion_tokens) == (0.5, 0.25, None, None)
    assert len(said.coercions) == 2


def test_an_outcome_judge_names_no_step_whatever_it_says(judged: list[Trajectory]) -> None:
    judge = PromptJudge(RUBRICS["outcome"], Script([says(faulty=True, failure_step=2)]), DECODING)
    said = judge.judge(view_of(judged[0], steps=False))
    assert (said.faulty, said.failure_step) == (True, None)


def test_what_cannot_be_read_votes_clean_at_a_half(judged: list[Trajectory]) -> None:
    judge = PromptJudge(RUBRICS["outcome"], Script(["I think it is faulty."]), DECODING)
    said = judge.judge(view_of(judged[0], steps=False))
    assert (said.faulty, said.confidence, said.status) == (False, 0.5, "unparseable")
    assert said.raw_reply == "I think it is faulty."


def test_a_lone_surrogate_in_a_judged_text_reaches_no_client() -> None:
    client = Script([says()])
    PromptJudge(RUBRICS["outcome"], client, DECODING).judge(View("t", "goal", "bad \ud800 text", None))
    client.asked[0][0].encode("utf-8")
    assert "FINAL ANSWER: bad \ufffd text" in client.asked[0][0]


def test_settings_hold_all_that_changes_a_reply_and_nothing_else() -> None:
    judge = PromptJudge(RUBRICS["step"], Script([]), DECODING)
    about = judge.settings()
    assert about["decoding"].items() >= {"temperature": 0.0, "seed": 7, "num_ctx": 8192, "max_tokens": 64}.items()
    assert "timeout" not in about["decoding"]
    assert about.items() >= RUBRICS["step"].checksums().items()
    assert (about["model"], about["digest"]) == ("m", "d1g357")
    patient = PromptJudge(RUBRICS["step"], Script([]), Decoding(max_tokens=64, timeout=900.0))
    assert patient.settings() == about
    assert PromptJudge(RUBRICS["outcome"], Script([]), DECODING).settings() != about


def test_an_ensemble_asks_three_seeds_at_a_temperature_and_keeps_every_member(judged: list[Trajectory]) -> None:
    client = Script([says(faulty=True, failure_step=2, failure_type="wrong_tool"), says(), "nonsense"])
    judge = SelfConsistency(3, RUBRICS["step"], client, DECODING)
    said = judge.judge(view_of(judged[0], steps=True))
    assert judge.judge_id == "selfcons3:m"
    token = view_of(judged[0], steps=True).token
    seeds = [member_seed(7, token, member) for member in range(3)]
    assert [(asked.seed, asked.temperature) for _, _, asked in client.asked] == [(seed, 0.7) for seed in seeds]
    assert len({member_seed(7, each, member) for each in ("a", "b", "c") for member in range(100)}) == 300
    assert {text for text, _, _ in client.asked} == {RUBRICS["step"].prompt(view_of(judged[0], steps=True))}
    assert [member.status for member in said.members] == ["ok", "ok", "unparseable"]
    assert said.members[2].raw_reply == "nonsense"
    assert judge.settings()["decoding"] | {"max_tokens": 64} == judge.settings()["decoding"]
    assert judge.settings()["decoding"]["seed"] == "sha256 of 7, trajectory token and member"
    assert judge.settings()["prompt_sha256"] == RUBRICS["step"].checksums()["prompt_sha256"]


def test_an_ensemble_is_asked_beside_the_step_judge_whose_prompt_it_shares() -> None:
    client = Script([])
    step, ensemble = (
        PromptJudge(RUBRICS["step"], client, DECODING),
        SelfConsistency(3, RUBRICS["step"], client, DECODING),
    )
    assert step.batch == ensemble.batch != PromptJudge(RUBRICS["outcome"], client, DECODING).batch


def test_a_member_that_cannot_be_asked_fails_the_whole_vote(judged: list[Trajectory]) -> None:
    client = Script([says(), TransportError("gone"), says()])
    with pytest.raises(CallFailed, match="gone"):
        SelfConsistency(3, RUBRICS["step"], client, DECODING).judge(view_of(judged[0], steps=True))


def vote(faulty: bool, step: int | None = None, kind: Any = None, **fields: Any) -> Judgement:
    given = {"confidence": 0.9, "latency_s": 1.0, "prompt_tokens": 100, "completion_tokens": 10} | fields
    return Judgement(faulty=faulty, failure_step=step, failure_type=kind, **given)


CLEAN, UNREAD = vote(False), vote(False, status="unparseable", reason="prose", confidence=0.5)
CUT = vote(False, status="truncated", reason="cut", confidence=0.5)
TOOL, STOP = vote(True, 2, "wrong_tool"), vote(True, 4, "premature_stop")


@pytest.mark.parametrize(
    ("members", "faulty", "confidence", "step", "kind"),
    [
        ([TOOL, TOOL, CLEAN], True, 2 / 3, 2, "wrong_tool"),
        ([CLEAN, TOOL, CLEAN], False, 2 / 3, None, None),
        ([TOOL, STOP, STOP], True, 1.0, 4, "premature_stop"),
        ([TOOL, STOP, CLEAN], True, 2 / 3, 2, "wrong_tool"),  # one each: the first seen
        ([CLEAN, STOP, TOOL], True, 2 / 3, 4, "premature_stop"),
        ([vote(True), TOOL, vote(True)], True, 1.0, 2, "wrong_tool"),  # a step that is not given is no step
        ([vote(True, 2), vote(True, 4, "wrong_tool"), vote(True, 4)], True, 1.0, 4, "wrong_tool"),
        ([vote(True), vote(True), CLEAN], True, 2 / 3, None, None),
        ([TOOL, CLEAN], False, 0.5, None, None),  # a tie is clean
        ([TOOL, TOOL, CLEAN, CLEAN], False, 0.5, None, None),
        ([TOOL, TOOL, STOP, CLEAN], True, 0.75, 2, "wrong_tool"),
        ([UNREAD, UNREAD, UNREAD], False, 1.0, None, None),
    ],
)
def test_the_vote(members: list[Judgement], faulty: bool, confidence: float, step: int | None, kind: Any) -> None:
    said = combine(members)
    assert (said.faulty, said.failure_step, said.failure_type) == (faulty, step, kind)
    assert said.confidence == confidence
    assert said.members == members
    assert said.rationale == f"{sum(member.faulty for member in members)} of {len(members)} votes for faulty"


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ([CLEAN, CLEAN, UNREAD], "ok"),  # clean whatever the third had said
        ([TOOL, TOOL, UNREAD], "ok"),
        ([CLEAN, TOOL, UNREAD], "unparseable"),  # the third would have decided
        ([TOOL, CUT, UNREAD], "truncated"),
        ([CLEAN, UNREAD, CUT], "unparseable"),
        ([TOOL, CLEAN, CLEAN, UNREAD], "ok"),  # at best a tie, which is clean
        ([TOOL, TOOL, CLEAN, UNREAD], "unparseable"),
        ([CUT, CUT, CUT], "truncated"),
    ],
)
def test_a_vote_is_ok_when_what_was_read_settles_it(members: list[Judgement], status: str) -> None:
    said = combine(members)
    assert (said.status, said.reason) == (status, {"ok": None, "unparseable": "prose", "truncated": "cut"}[status])


def test_the_cost_of_a_vote_is_the_sum_and_unknown_if_a_part_is() -> None:
    known = combine([vote(False, latency_s=1.5, load_s=0.5), vote(True, load_s=0.0), vote(False, load_s=0.25)])
    assert (known.latency_s, known.prompt_tokens, known.completion_tokens, known.load_s) == (3.5, 300, 30, 0.75)
    unknown = combine([vote(False), vote(False, prompt_tokens=None, completion_tokens=None), vote(False)])
    assert (unknown.latency_s, unknown.prompt_tokens, unknown.completion_tokens) == (3.0, None, None)
    assert unknown.load_s is None


def told(said: str, *places: tuple[str, dict[str, float]]) -> Script:
    """A client that answers with log-probabilities: token by token, with the alternatives at each place."""
    tokens = tuple(TokenLogprob(token, top.get(token, -9.0), top) for token, top in places)
    return Script([said], logprobs=tokens)


def test_a_direct_judge_asks_for_one_word_behind_the_same_prompt_and_scores_it(judged: list[Trajectory]) -> None:
    for sees in ("outcome", "step"):
        top = {" true": math.log(0.6), " false": math.log(0.2), "true": math.log(0.05), " [": math.log(0.1)}
        client = told('{"faulty": true}', ('{"', {}), ('faulty":', {}), (" true", top), ("}", {}))
        judge = Direct(RUBRICS[f"direct-{sees}"], client, Decoding())
        assert (judge.judge_id, judge.about) == (
            f"direct-{sees}:m",
            About(kind="direct", sees=sees, model="m", scored=True),  # type: ignore[arg-type]
        )
        view = view_of(judged[0], steps=sees == "step")
        said = judge.judge(view)
        text, schema, decoding = client.asked[0]
        assert text.startswith(RUBRICS[sees].prompt(view))
        assert list(schema["properties"]) == ["faulty"]
        assert decoding.max_tokens <= 32
        assert judge.batch == PromptJudge(RUBRICS[sees], client, Decoding()).batch
        assert said.log_odds == pytest.approx(math.log(0.65 / 0.2))
        assert said.confidence == pytest.approx(0.65 / 0.85)
        assert (said.faulty, said.status, said.coercions) == (True, "ok", [])


def test_without_log_probabilities_a_direct_verdict_has_no_score_and_confidence_one_half() -> None:
    judge = Direct(RUBRICS["direct-outcome"], Script(['{"faulty": true}']), Decoding(logprobs=0))
    said = judge.judge(View("t", "goal", "answer", None))
    assert (said.faulty, said.log_odds, said.confidence, judge.about.scored) == (True, None, 0.5, False)


LOG = {word: math.log(share) for word, share in {"most": 0.8, "some": 0.1, "few": 0.05}.items()}
MOST, SOME, FEW = math.log(0.8), math.log(0.1), math.log(0.05)
ODDS = [
    ("a blank in front", [(" true", {" true": MOST, " false": SOME})], 8),
    ("cut in two", [(" ", {}), ("tr", {"tr": SOME, "t": SOME, "fal": SOME}), ("ue", {})], 2),
    ("with the colon", [(":true", {":true": SOME, ":false": MOST, "true": SOME})], 2 / 8),
    ("longer words are others", [("true", {"true": SOME, "truest": MOST, "false": FEW})], 2),
    ("no false: no likelier than the least told", [("true", {"true": MOST, "x": SOME})], 8),
    ("no false: no likelier than what is left", [("true", {"true": MOST})], 4),
    ("true alone, and certain", [("true", {"true": 0.0})], 1),
    ("what is no probability is left out", [("true", {"true": SOME, "false": FEW, "t": -math.inf})], 2),
    ("the place of another word", [("tr ue", {"no": -1.0})], None),
]


@pytest.mark.parametrize(("places", "odds"), [row[1:] for row in ODDS], ids=[row[0] for row in ODDS])
def test_log_odds_are_those_of_the_verdicts_own_token(places: list[Any], odds: float | None) -> None:
    opening = '{"reasoning": "it says {\\"faulty\\": true, \\"confidence\\": 0.9}", "faulty"'
    colon = "" if places[0][0].startswith(":") else ":"
    forged = [(opening + colon, {"true": -9.0, "false": -0.1})]
    client = told(f'{opening}: true, "confidence": 0.9}}', *forged, *places, (', "confidence": 0.9}', {}), ("", {}))
    said = PromptJudge(RUBRICS["outcome"], client, Decoding()).judge(View("t", "goal", "answer", None)).log_odds
    assert said == (odds if odds is None else pytest.approx(math.log(odds)))


def test_a_server_without_schemas_is_told_the_form_in_the_prompt_which_is_another_setting() -> None:
    view = View("t", "goal", "answer", None)
    told_form, enforced = Script([says()]), Script([says()])
    stated = PromptJudge(RUBRICS["outcome"], told_form, Decoding(response_format="none"))
    plain = PromptJudge(RUBRICS["outcome"], enforced, Decoding())
    for judge in (stated, plain):
        judge.judge(view)
    form = reply_form(RUBRICS["outcome"].schema)
    assert told_form.asked[0][0] == f"{enforced.asked[0][0]}{form}\n"
    assert stated.settings()["prompt_sha256"] != plain.settings()["prompt_sha256"]


@pytest.mark.parametrize("status", ["truncated", "unparseable", "refused"])
def test_what_the_envelope_tells_is_the_status_whatever_the_text(status: Any) -> None:
    said = PromptJudge(RUBRICS["outcome"], Script([says(faulty=True)], status=status), DECODING).judge(
        View("t", "g", "a", None)
    )
    assert (said.faulty, said.confidence, said.status, said.reason) == (False, 0.5, status, "the envelope tells")


def test_repetition_asks_the_step_judge_with_the_very_same_settings(judged: list[Trajectory]) -> None:
    client = Script([says(faulty=True, failure_step=2), says(faulty=True, failure_step=2), says()])
    judge, step = Repeat(3, RUBRICS["step"], client, DECODING), PromptJudge(RUBRICS["step"], client, DECODING)
    said = judge.judge(view_of(judged[0], steps=True))
    assert (judge.judge_id, judge.about.single, judge.about.members) == ("repeat3:m", "step:m", 3)
    assert judge.settings() == step.settings()
    assert [decoding for _, _, decoding in client.asked] == [DECODING] * 3
    assert (said.faulty, said.failure_step, said.confidence, len(said.members)) == (True, 2, 2 / 3, 3)


def test_no_judge_can_tell_a_label(judged: list[Trajectory]) -> None:
    """Swapping every label for its opposite changes no verdict: a view holds no label, nor an id that tells one."""
    swapped = [
        Trajectory(item.trajectory_id, item.instance_id, item.goal, item.steps, item.final_answer, other)
        for item in judged[:40]
        for other in [Label(True, 0, "wrong_tool", False) if not item.label.faulty else Label(False, None, None, True)]
    ]
    judges: list[Judge] = make_judges(["rules", "always-faulty", "always-clean", "coin"], None, DECODING, 3)
    for judge in judges:
        for item, other in zip(judged, swapped, strict=False):
            mine, theirs = (view_of(each, steps=judge.about.sees == "step") for each in (item, other))
            assert mine == theirs
            assert judge.judge(mine).faulty == judge.judge(theirs).faulty


def test_judges_are_made_by_name_in_their_order() -> None:
    names = ["coin", "selfcons", "rules", "outcome", "step", "direct-step", "always-clean", "repeat"]
    made = make_judges(names, Script([]), DECODING, 5)
    assert [judge.judge_id for judge in made] == [
        *("coin", "selfcons5:m", "rules", "outcome:m", "step:m", "direct-step:m", "always-clean", "repeat5:m")
    ]
    assert not needs_model(["coin", "rules"])
    assert needs_model(["coin", "step"])


@pytest.mark.parametrize(
    ("names", "k", "said"),
    [
        (["oracle"], 3, "no judge 'oracle' of trajectories; choose from rules, always-faulty"),
        (["rules", "rules"], 3, "named twice"),
        ([], 3, "Name at least one judge"),
        (["selfcons"], 1, "An ensemble has 2 to 100 members, not --k 1"),
        (["selfcons"], 1_000_000, "An ensemble has 2 to 100 members, not --k 1000000"),
    ],
)
def test_a_bench_that_cannot_be_made_says_why(names: list[str], k: int, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make_judges(names, Script([]), DECODING, k)


def test_a_model_judge_without_a_model_says_so() -> None:
    with pytest.raises(UserError, match="--model"):
        make_judges(["rules", "outcome"], None, DECODING, 3)


def test_an_endless_reply_is_read_whole_and_kept_in_part(judged: list[Trajectory]) -> None:
    reply = says(faulty=True, confidence=0.9, reasoning="x" * 300_000)
    judge = PromptJudge(RUBRICS["outcome"], Script([reply]), DECODING)
    said = judge.judge(view_of(judged[0], steps=False))
    assert (said.faulty, said.confidence, said.status) == (True, 0.9, "ok")
    assert said.raw_reply == reply[:LONGEST_REPLY]
    assert said.rationale == "x" * LONGEST_REPLY
    assert said.coercions == [
        "reasoning cut from 300000 characters to 100000",
        f"raw_reply cut from {len(reply)} characters to 100000",
    ]
