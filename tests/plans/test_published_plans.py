"""The published data set's and released code's files, as the specification describes them; bad ones say what to do."""

import json

import pytest

from lib.errors import UserError
from lib.plans.bench import published
from lib.plans.published import read_judged, read_plans, read_records
from lib.plans.records import METRICS, Levels
from lib.plans.score import score


def call(name, **args):
    return {"function": {"name": name, "arguments": args}}


def data_row(**changes):
    tools = [
        {
            "name": name,
            "description": f"does {name}",
            "parameters": {
                "type": "dict",
                "properties": {"x": {"type": "string"}, "y": {"type": "float", "enum": [1, 2]}},
                "required": ["x"],
            },
        }
        for name in "abcd"
    ]
    messages = [
        {"role": "user", "content": "do"},
        {"role": "assistant", "tool_calls": json.dumps([call("a", x=1), call("b", x=2)])},
        {"role": "tool", "content": "done"},
        {"role": "assistant", "reasoning_content": "now", "tool_calls": [call("c", x=3, y=4)]},
        {"role": "assistant", "content": "all done"},
    ]
    return {
        "id": "fan_in_01",
        "dag_type": "fan-in",
        "user_message": "do it",
        "query_medium": "please do it",
        "query_hard": "do",
        "rewrite_hard_status": "OK",
        "available_tools": json.dumps(tools),
        "expected_responses": json.dumps(messages),
        "expected_tool_calls": json.dumps([{"name": n, "arguments": {}} for n in "abc"]),
    } | changes


def response(levels):
    return {f"{m}_accuracy": {"accuracy": v, "justification": "."} for m, v in zip(METRICS, levels, strict=True)}


def judged_row(**changes):
    return {
        "id": "fan_in_01",
        "dag_type": "fan_in",
        "user_message": "do it",
        "generated_tool_calls": [call("a", x=1)],
        "judge_response": response([1, 0.5, 0.7, 1]),
        "judge_response_no_gt": None,
        "programmatic_judge_response": response([0.3333, 1.0, 0.3333, 0.3333]),
    } | changes


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows)) + "\n"
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", ["data.json", "data.jsonl"])
def test_records_are_read_with_a_partial_order_from_the_turns(tmp_path, name):
    write(tmp_path / name, [data_row(), data_row()])
    (record,) = read_records(tmp_path)
    assert (record.record_id, record.topology) == ("fan_in_01", "fan_in")
    assert [c.tool for c in record.expected] == ["a", "b", "c"]
    assert record.edges == [(0, 2), (1, 2)]
    assert record.requests == {"easy": "do it", "medium": "please do it", "hard": "do"}
    assert [(p.name, p.type, p.required, p.choices) for p in record.tools[0].parameters] == [
        ("x", "string", True, []),
        ("y", "float", False, ["1", "2"]),
    ]


def test_plans_of_generators_are_read_and_scored_as_the_released_code_scores_them(tmp_path):
    rows = [
        {"id": "fan_in_01", "generated_tool_calls": [call("a", x=1)]},
        {"id": "fan_in_02", "generated_tool_calls": []},
        {"id": "fan_in_03", "generated_tool_calls": json.dumps([{"function": {"name": "a", "arguments": '{"x": 1}'}}])},
    ]
    write(tmp_path / "llama" / "hard.jsonl", rows)
    write(tmp_path / "llama" / "hard_corrupted_gt.jsonl", rows)
    first, third = read_plans(tmp_path)
    assert (first.plan_id, first.planner, first.tier, first.fault) == ("llama/hard/fan_in_01", "llama", "hard", None)
    assert third.calls == first.calls
    write(tmp_path / "records.json", [data_row()])
    (record,) = read_records(tmp_path)
    assert score(first.calls, record.expected, released_code=True) == Levels(0.3333, 1, 0.3333, 0.3333)


def test_judged_rows_become_one_row_a_verdict_and_metric(tmp_path):
    write(tmp_path / "llama" / "judged_by_gpt" / "judge_mistral_medium_gpt_hard_output_1.json", [judged_row()])
    frame = read_judged(tmp_path)
    assert len(frame) == 2 * 4
    assert frame[["planner", "model", "run", "tier"]].drop_duplicates().values.tolist() == [
        ["llama", "gpt", "", "hard"]
    ]
    seen = frame[frame.kind == "with"].set_index("metric")
    assert seen.level.to_dict() == dict(zip(METRICS, [1, 0.5, 0.7, 1], strict=True))
    assert seen.truth["sequence"] == 0.3333
    assert frame[frame.kind == "without"].level.isna().all()


def test_runs_under_one_judge_are_kept_apart_and_a_folder_may_be_of_one_generator(tmp_path):
    for run in ("c1_main", "c3_corrupted"):
        write(tmp_path / "llama" / "judged_by_gpt" / run / "easy.jsonl", [judged_row()])
    assert set(read_judged(tmp_path / "llama").run) == {"c1_main", "c3_corrupted"}
    assert set(read_judged(tmp_path / "llama").planner) == {"llama"}


def test_two_files_of_one_cell_are_refused_since_they_may_mix_conditions(tmp_path):
    for stamp in (1, 2):
        write(tmp_path / "llama" / "judged_by_gpt" / f"hard_{stamp}.json", [judged_row()])
    with pytest.raises(UserError, match=r"both hold llama gpt hard; perhaps of two conditions"):
        read_judged(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": None}, r"data.json, row 2, field id: a text is needed. Correct the row"),
        ({"dag_type": "star"}, r"row 2, field dag_type: star is none of linear"),
        ({"query_hard": " "}, r"row 2, field query_hard: a text is needed"),
        ({"available_tools": "[{"}, r"row 2, field available_tools: its text is no JSON"),
        ({"available_tools": "[{}]"}, r"row 2, field available_tools: a tool has no name"),
        ({"expected_responses": 3}, r"row 2, field expected_responses: a list is needed"),
        (
            {"expected_responses": [{"role": "assistant", "tool_calls": [{"function": {"name": "a"}}]}]},
            r"row 2, field expected_responses: a call has no tool's name or no arguments",
        ),
        ({"query_hard": "else"}, r"row 2, field id: fan_in_01 was given before, and differently"),
    ],
)
def test_a_bad_record_names_file_row_field_and_remedy(tmp_path, changes, message):
    write(tmp_path / "data.json", [data_row(), data_row(**changes)])
    with pytest.raises(UserError, match=message):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge_response": response([1, 1, 3, 1])}, r"row 1, field judge_response: sequence_accuracy is 3; valid is"),
        ({"judge_response": response([1, "1", 1, 1])}, r"field judge_response: parameter_structure_accuracy is '1'"),
        ({"judge_response": "{"}, r"field judge_response: its text is no JSON"),
        ({"programmatic_judge_response": {}}, r"programmatic_judge_response: tool_selection_accuracy is missing"),
    ],
)
def test_a_bad_judged_row_names_file_row_field_and_remedy(tmp_path, changes, message):
    write(tmp_path / "g" / "judged_by_j" / "easy.json", [judged_row(**changes)])
    with pytest.raises(UserError, match=message):
        read_judged(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("easy.jsonl", b'\n{"id"\n', r"easy.jsonl, line 2: not JSON"),
        ("easy.jsonl", b"\xff\xfe", r"easy.jsonl, line 1: not UTF-8 text"),
        ("easy.json", b"[", r"easy.json: not JSON"),
        ("easy.json", b'{"id": 1}', r"easy.json holds no list of rows"),
        ("easy.json", b"[1]", r"easy.json, row 1: it is no object"),
        ("easy.jsonl", b"\n", r"easy.jsonl holds no list of rows"),
        ("all.json", b"[]", r"its name must hold one of easy, medium, hard"),
    ],
)
def test_a_bad_file_is_named(tmp_path, name, content, message):
    path = tmp_path / "g" / "judged_by_j" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_judged(tmp_path)


def test_published_rows_get_floor_skill_and_areas_beside_their_alignment(tmp_path):
    right, wrong = [1.0] * 4, [0.5, 0.5, 0, 0.5]
    rows = [
        judged_row(
            id=f"r{i}",
            programmatic_judge_response=response(wrong if i % 4 == 0 else right),
            judge_response=response(wrong if i % 4 == 0 else right),
            judge_response_no_gt=response(right),
        )
        for i in range(40)
    ]
    write(tmp_path / "llama" / "judged_by_gpt" / "easy.json", rows)
    write(tmp_path / "llama" / "judged_by_gpt" / "c3" / "easy.json", rows[:20])
    opened = published(tmp_path, reps=50)
    assert opened.judges == ["with:gpt", "with:gpt/c3", "without:gpt", "without:gpt/c3"]
    blind, seeing = opened.judge("without:gpt"), opened.judge("with:gpt")
    assert blind.alignment.value == blind.floor.value == pytest.approx(1 - 0.25 * 2.5 / 4)
    assert (blind.skill.value, seeing.skill.value) == (0, 1)
    assert (blind.metrics["area.sequence"].value, seeing.metrics["area.sequence"].value) == (0.5, 1)
    lift = opened.paired("with:gpt", "without:gpt", ["alignment"]).iloc[0]
    assert lift.value == pytest.approx(0.25 * 2.5 / 4)


def test_an_empty_folder_is_named(tmp_path):
    for read in (read_records, read_plans, read_judged):
        with pytest.raises(UserError, match=r"holds no file .*Name the folder"):
            read(tmp_path)
