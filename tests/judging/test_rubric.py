"""A rubric and a brief of one's own: what the files must hold, what is recorded of them, and whose traces need one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from lib.desk.injector import JudgedSet
from lib.errors import UserError
from lib.judging.clients import Decoding
from lib.judging.prompts import CONFIDENCE, DESK, RUBRICS, render_view, reply_form, reply_schema
from lib.judging.roster import make_judges
from lib.judging.rubric import chosen, read_brief, read_rubric, refuse_foreign
from lib.records import About, Observation, Sees, Step, ToolCall, Trajectory, View, view_of
from tests.judging.fakes import Script, says

PROMPT = 'Be strict.\n{procedure}\n\nThe record:\n{view}\n\n{reply form}\nAs in {"faulty": true, …}.\n'
BRIEF = """\
The agent books flights. It must {view} the fare before it books.

Failure types:
- skipped_precondition: booked without a look at the fare.
- unsupported_claim: promised what no observation shows.
"""


def file(folder: Path, text: str | bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture(scope="module")
def item() -> Trajectory:
    return JudgedSet(8, 7).__iter__().__next__()


@pytest.mark.parametrize("sees", ["outcome", "step"])
def test_a_rubric_is_the_file_with_its_places_filled(sees: Sees, item: Trajectory, tmp_path: Path) -> None:
    path, client = file(tmp_path, PROMPT), Script([says(faulty=True)])
    [judge] = make_judges(["rubric"], client, Decoding(), 3, chosen(["rubric"], path, "strict", sees, None))
    view = view_of(item, steps=sees == "step")
    assert judge.judge(view).faulty
    assert judge.judge_id == "strict:m"
    assert judge.batch != make_judges([sees], client, Decoding(), 3)[0].batch
    assert judge.about == About(kind="rubric", sees=sees, model="m", scored=True)
    schema = RUBRICS[sees].schema
    assert client.asked[0][:2] == (
        f"Be strict.\n{DESK.procedure}\n\nFailure types:\n{DESK.taxonomy()}\n\nThe record:\n--- BEGIN ---\n"
        f"{render_view(view)}\n--- END ---\n\n{reply_form(schema)}\n{CONFIDENCE}\n"
        'As in {"faulty": true, …}.\n',
        schema,
    )
    assert judge.settings()["rubric_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_rubric_states_its_form_once_whatever_the_server_enforces(tmp_path: Path) -> None:
    rubric = read_rubric(file(tmp_path, PROMPT), "strict", "step", DESK)
    assert rubric.stated() == rubric
    assert rubric.checksums() != read_rubric(file(tmp_path, PROMPT + "!"), "strict", "step", DESK).checksums()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PROMPT.replace("{procedure}", ""), r"\{procedure\} has to stand there once, not 0 times"),
        (PROMPT.replace("{view}", "view"), r"\{view\} has to stand there once, not 0"),
        (PROMPT.replace("{reply form}", ""), r"\{reply form\} has to stand there once"),
        (PROMPT + "{view}", r"\{view\} has to stand there once, not 2"),
        (PROMPT + "{label}", r"\{label\} is no place that is known; there are \{procedure\}, \{view\}, \{reply form\}"),
        (PROMPT.replace("{reply form}", "{reply_form}"), r"\{reply_form\} is no place"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("{view}" + "x" * 200_000, "longer than 100000 bytes"),
        (b"\xff{view}", r"no UTF-8 text \(byte 1\)"),
    ],
)
def test_a_prompt_that_is_none_is_refused_with_the_reason(text: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said) as raised:
        read_rubric(file(tmp_path, text), "strict", "step", DESK)
    assert str(tmp_path / "file.txt") in str(raised.value)


@pytest.mark.parametrize("name", ["step", "rules", "a:b", "", " a", "a\n", "__proto__"])
def test_a_rubrics_name_is_no_judges_name_and_can_be_shown(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--name"):
        read_rubric(file(tmp_path, PROMPT), name, "step", DESK)


def test_a_rubric_needs_prompt_and_name_and_they_need_a_rubric(tmp_path: Path) -> None:
    path = file(tmp_path, PROMPT)
    for prompt, name in ((path, None), (None, "strict"), (None, None)):
        with pytest.raises(UserError, match="--prompt FILE and --name NAME"):
            chosen(["rubric"], prompt, name, "step", None)
    with pytest.raises(UserError, match="of --judge rubric"):
        chosen(["step"], path, None, "step", None)
    with pytest.raises(UserError, match="cannot be read"):
        chosen(["rubric"], tmp_path / "absent", "strict", "step", None)
    assert chosen(["step"], None, None, "step", None) == RUBRICS


def test_a_brief_replaces_procedure_and_fault_types_of_every_model_judge(tmp_path: Path, item: Trajectory) -> None:
    brief, prompt = file(tmp_path, BRIEF, "brief.txt"), file(tmp_path, PROMPT)
    names = ["outcome", "step", "direct-outcome", "direct-step", "selfcons", "repeat", "rubric"]
    client = Script([says()] * 11)
    plain = {judge.judge_id: judge for judge in make_judges(names[:6], client, Decoding(), 3)}
    for judge in make_judges(names, client, Decoding(), 3, chosen(names, prompt, "strict", "step", brief)):
        client.asked.clear()
        judge.judge(view_of(item, steps=judge.about.sees == "step"))
        [text] = {asked for asked, _, _ in client.asked}
        told = text.replace(render_view(view_of(item, steps=judge.about.sees == "step")), "")
        assert "It must {view} the fare before it books." in told
        assert "- skipped_precondition: booked without a look at the fare.\n" in told
        assert "- none: " in told
        assert not any(word in told for word in ("refund", "customer", "wrong_tool", "retailer"))
        assert judge.settings()["brief_sha256"] == hashlib.sha256(brief.read_bytes()).hexdigest()
        if judge.judge_id in plain:
            assert judge.settings()["prompt_sha256"] != plain[judge.judge_id].settings()["prompt_sha256"]
        enum = client.asked[0][1]["properties"].get("failure_type", {}).get("enum")
        assert enum in (None, ["skipped_precondition", "unsupported_claim", "none"])
    assert reply_schema("step", DESK.types) == RUBRICS["step"].schema


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It must look.\n", "one line 'Failure types:'"),
        (BRIEF.partition("\n\n")[2], "a procedure is expected"),
        (BRIEF.partition("- ")[0], "no failure type stands after"),
        (BRIEF + "- late_refund: came late.", "'- late_refund: came late.' is not one of wrong_tool, "),
        (BRIEF + "- unsupported_claim: again.", "each at most once"),
        (BRIEF + "and so on", "'and so on' is not one of"),
        (BRIEF + "Failure types:\n", "one line 'Failure types:'"),
    ],
)
def test_a_brief_that_lacks_a_part_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        read_brief(file(tmp_path, text))


def test_traces_of_another_making_are_not_held_to_the_desks_procedure(item: Trajectory) -> None:
    flight = Step(0, "t", ToolCall("book_flight", {}), Observation(True, {}))
    for foreign, why in (
        (replace(item, steps=[flight]), "it calls 'book_flight'"),
        (replace(item, instance_id="flight-7"), "its instance is 'flight-7'"),
    ):
        for name in ("outcome", "step", "direct-step", "selfcons", "repeat", "rubric"):
            with pytest.raises(UserError, match=f"{why}.*{name} would hold it.*--brief FILE"):
                refuse_foreign([name], [item, foreign], brief=False)
            refuse_foreign([name], [item, foreign], brief=True)
        for brief in (False, True):
            with pytest.raises(UserError, match="rules would hold it"):
                refuse_foreign(["coin", "rules"], [foreign], brief)
        refuse_foreign(["coin", "always-faulty"], [foreign], brief=False)
    refuse_foreign(["rules", "step", "rubric"], JudgedSet(40, 7), brief=False)


def test_a_view_that_holds_a_place_is_left_as_it_is(tmp_path: Path) -> None:
    rubric = read_rubric(file(tmp_path, PROMPT), "strict", "outcome", DESK)
    assert "GOAL: {procedure} {reply form}\n" in rubric.prompt(View("t", "{procedure} {reply form}", "a", None))
