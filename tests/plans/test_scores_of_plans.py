"""The reference scorer, equation by equation, and what the corrected scores change."""

import pytest
from msgspec.structs import astuple, replace

from lib.desk.injector import JudgedSet
from lib.plans.frames import trajectories_as_plans
from lib.plans.records import METRICS, Parameter, Record, Tool
from lib.plans.score import corrected, schema_check, score
from lib.records import ToolCall


def call(tool, *keys, **args):
    return ToolCall(tool, dict.fromkeys(keys, "v") | args)


A, B, C, D = (call(name, "x") for name in "abcd")


def scores(predicted, expected=(A, B, C), **mode):
    return astuple(score(predicted, expected, **mode))


@pytest.mark.parametrize("released_code", [False, True])
@pytest.mark.parametrize(
    ("claim", "predicted", "expected", "value"),
    [
        ("the reference itself", [A, B, C], [A, B, C], (1, 1, 1, 1)),
        ("both empty", [], [], (1, 1, 1, 1)),
        ("nothing predicted", [], [A, B], (0, 1, 0, 0)),
        ("nothing expected", [A], [], (0, 0, 1, 1)),
        ("trailing duplicate", [A, B, C, C], [A, B, C], (1, 1, 1, 1)),
        ("prepended call", [D, A, B, C], [A, B, C], (2 / 3, 0.75, 0, 1)),
        ("left-out call does not lower param", [A, B], [A, B, C], (2 / 3, 1, 2 / 3, 2 / 3)),
        ("only extra keys", [call("a", "x", "y")], [A], (1, 0.5, 1, 1)),
        ("missing key", [call("a")], [A], (1, 0, 1, 1)),
        ("extra and missing key", [call("a", "y")], [A], (1, 0, 1, 1)),
        ("values are never looked at", [call("a", x=3)], [A], (1, 1, 1, 1)),
        ("reversed", [C, B, A], [A, B, C], (1, 1, 1 / 3, 1)),
        ("tool never falls below zero", [call(n) for n in "defg"], [A], (0, 0, 0, 0)),
    ],
)
def test_equations_on_the_cases_of_the_specification(claim, predicted, expected, value, released_code):
    tolerance = 5e-5 if released_code else 1e-12
    assert scores(predicted, expected, released_code=released_code) == pytest.approx(value, abs=tolerance), claim


def test_a_key_that_is_optional_in_the_schema_still_counts_as_missing():
    assert scores([call("a", "x")], [call("a", "x", "note")])[1] == 0


def test_released_code_holds_a_repeated_tool_to_its_last_keys():
    expected = [call("a", "x", "y"), call("a", "x")]
    assert scores(expected, expected) == (1, 1, 1, 1)
    assert scores(expected, expected, released_code=True) == (1, 0.75, 1, 1)
    narrow_first = [call("a", "x"), call("a", "x"), call("a", "x", "y")]
    assert scores(narrow_first, narrow_first, released_code=True)[1] == round(1 / 3, 4)


def test_released_code_rounds_to_four_places():
    assert scores([A, B], released_code=True)[0] == 0.6667
    assert scores([A, B])[0] == pytest.approx(2 / 3, abs=1e-12)


# Corrected scores: a root that two middle calls use, and a sink.


def tool(name):
    return Tool(name, "", [Parameter("x", "string", "", True), Parameter("y", "string", "", False)])


@pytest.fixture
def record():
    return Record(
        record_id="r",
        domain="d",
        topology="diamond",
        tools=[tool(n) for n in "abcde"],
        expected=[A, B, call("c", "x", "y"), D],
        edges=[(0, 1), (0, 2), (1, 3), (2, 3)],
        requests={},
    )


@pytest.mark.parametrize(
    ("claim", "predicted", "value"),
    [
        ("any topological order is right", [A, C, B, D], (1, 1, 1, 1)),
        ("a call before what it depends on is not", [B, A, C, D], (1, 1, 0.75, 1)),
        ("reversed leaves only what depends on nothing", [D, C, B, A], (1, 1, 0.25, 1)),
        ("a valid extra key is none", [call("a", "x", "y"), B, C, D], (1, 1, 1, 1)),
        ("a left-out optional key is none", [A, B, call("c", "x"), D], (1, 1, 1, 1)),
        ("an unknown key is one", [call("a", "x", "z"), B, C, D], (1, 0.875, 1, 1)),
        ("a missing required key is one", [call("a", "y"), B, C, D], (1, 0.75, 1, 1)),
        ("an extra call does not move the others", [call("e", "x"), A, B, C, D], (0.75, 0.8, 1, 1)),
        ("a duplicate is surplus", [A, A, B, C, D], (0.75, 0.8, 1, 1)),
        ("a left-out call counts once in each", [B, C, D], (0.75, 1, 0.75, 0.75)),
        ("nothing", [], (0, 1, 0, 0)),
    ],
)
def test_corrected_scores_penalise_faults_only(record, claim, predicted, value):
    assert astuple(corrected(predicted, record)) == pytest.approx(value), claim


def test_corrected_scores_count_repeated_calls(record):
    loop = replace(record, topology="loop_like", expected=[A, B, B], edges=[(0, 1), (0, 2)])
    assert astuple(corrected([A, B], loop)) == pytest.approx((2 / 3, 1, 2 / 3, 2 / 3))
    assert astuple(score([A, B], loop.expected)) == (1, 1, 2 / 3, 1)


def test_rounds_of_a_chain_are_told_apart_by_their_arguments(record):
    first, second = call("b", x="1"), call("b", x="$2.b")
    chain = replace(record, topology="loop_like", expected=[A, first, second], edges=[(0, 1), (1, 2)])
    assert corrected([A, second, first], chain).sequence == pytest.approx(2 / 3)
    assert corrected([A, first, second], chain).sequence == 1


def test_schema_checker_sees_what_needs_no_reference(record):
    right = [call("a", "x"), call("b", x="$1.r")]
    assert astuple(schema_check(right, record.tools)) == (1, 1, 1, 1)
    odd = [call("b", x="$2.r"), call("nope"), call("a", "x", "z")]
    assert astuple(schema_check(odd, record.tools)) == pytest.approx((2 / 3, 0.5, 2 / 3, 1))


def test_generated_references_score_one_by_every_scorer(records):
    for record in records:
        assert astuple(score(record.expected, record.expected)) == (1, 1, 1, 1)
        assert astuple(corrected(record.expected, record)) == (1, 1, 1, 1)
        assert astuple(schema_check(record.expected, record.tools)) == (1, 1, 1, 1)


def test_three_of_the_six_faults_of_part_one_are_invisible_to_all_four_metrics():
    judged = list(JudgedSet(400, 7))
    parents = {t.instance_id: t for t in judged if not t.label.faulty}
    frame = trajectories_as_plans(judged, parents)
    table = frame.groupby("fault")[list(METRICS)].mean().round(3)
    assert len(frame) == 251
    assert frame.groupby("fault").size().to_dict() == {
        "hallucinated_argument": 50,
        "ignored_observation": 17,
        "unsupported_claim": 50,
        "wrong_tool": 50,
        "skipped_precondition": 34,
        "premature_stop": 50,
    }
    assert {fault: tuple(row) for fault, row in table.iterrows()} == {
        "hallucinated_argument": (1, 1, 1, 1),
        "ignored_observation": (1, 1, 1, 1),
        "unsupported_claim": (1, 1, 1, 1),
        "wrong_tool": (0.833, 1, 0.833, 0.833),
        "skipped_precondition": (0.833, 1, 0.5, 0.833),
        "premature_stop": (0.667, 1, 0.667, 0.667),
    }
    invisible = frame[frame[list(METRICS)].eq(1).all(axis=1)].fault.unique()
    assert set(invisible) == {"hallucinated_argument", "ignored_observation", "unsupported_claim"}
