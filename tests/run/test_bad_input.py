"""Damaged files: what can be read without a guess loads, everything else names file, line, field and remedy."""

from __future__ import annotations

import errno
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from run_builders import CLEAN, FAULTY, line, make_run, two_trajectories

from lib.errors import UserError
from lib.records import Trajectory, stratum_of
from lib.run import check as inspection
from lib.run import lines as jsonl
from lib.run.folder import Run
from lib.trajectories import ITEMS

OTHER = line(trajectory_id=CLEAN, faulty=False, failure_step=None, failure_type=None)


def error_of(run: Run) -> str:
    """The one error that every way of reading the verdicts gives."""
    with pytest.raises(UserError) as listed:
        run.verdicts()
    with pytest.raises(UserError) as tabled:
        run.frames(text=False)
    assert str(listed.value) == str(tabled.value)
    return str(listed.value)


@pytest.mark.parametrize("cut", [1, 20, len(OTHER) // 2, len(OTHER) - 1])
def test_a_torn_last_line_is_dropped_with_a_notice(tmp_path: Path, caplog: pytest.LogCaptureFixture, cut: int) -> None:
    run = make_run(tmp_path, line() + b"\n" + OTHER[:-cut])
    with caplog.at_level(logging.WARNING):
        assert [item.trajectory_id for item in run.verdicts()] == [FAULTY]
    assert f"{tmp_path / 'verdicts.jsonl'}, line 2: cut short" in caplog.text
    assert len(run.frames().verdicts) == 1
    assert (tmp_path / "verdicts.jsonl").read_bytes() == line() + b"\n" + OTHER[:-cut], "reading changes no file"


@pytest.mark.parametrize(
    "tail",
    [OTHER[:40] + b"\n", OTHER[:40] + b"\r\n\n", b"\x00" * 50, '{"rationale": "\u2028'.encode()[:-1], b'{"faulty": tr'],
    ids=["cut, then ended", "cut, then blank lines", "zeros of a power cut", "inside a character", "inside a word"],
)
def test_other_torn_last_lines_are_dropped_too(tmp_path: Path, tail: bytes) -> None:
    assert len(make_run(tmp_path, line() + b"\n" + tail).verdicts()) == 1


def test_a_whole_last_line_without_its_end_counts(tmp_path: Path) -> None:
    assert len(make_run(tmp_path, line() + b"\n" + OTHER).verdicts()) == 2


@pytest.mark.parametrize("broken", [OTHER[:40], OTHER + b"}", b"not json", b"\x00\x00"])
def test_a_broken_middle_line_is_an_error_with_file_line_and_remedy(tmp_path: Path, broken: bytes) -> None:
    message = error_of(make_run(tmp_path, line() + b"\n" + broken + b"\n" + OTHER + b"\n"))
    assert f"{tmp_path / 'verdicts.jsonl'}, line 2: not JSON: " in message
    assert "Correct these lines, or remove them: what is removed from verdicts.jsonl is collected again" in message


def test_a_last_line_that_is_whole_but_wrong_is_an_error_not_a_torn_one(tmp_path: Path) -> None:
    for wrong in (line(confidence=92), line(confidence=float("nan")), b"[1, 2]"):
        assert ", line 2: " in error_of(make_run(tmp_path / str(len(wrong)), line() + b"\n" + wrong))


def test_mark_of_byte_order_and_windows_line_ends_load(tmp_path: Path) -> None:
    run = make_run(tmp_path, b"\xef\xbb\xbf" + line() + b"\r\n" + OTHER + b"\r\n")
    for name in ("trajectories.jsonl", "run.json"):
        path = tmp_path / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(run.verdicts()) == 2
    assert len(run.trajectories()) == 2
    assert run.manifest["dataset"]["n"] == 2


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029b\x85c", "form\x0cfeed", "\x1e"])
def test_lines_end_at_a_line_feed_only(tmp_path: Path, text: str) -> None:
    raw = json.dumps(json.loads(line()) | {"rationale": text}, ensure_ascii=False).encode()
    assert make_run(tmp_path, raw + b"\n" + OTHER + b"\n").verdicts()[0].rationale == text


def test_lone_surrogates_load_and_are_written_back_as_they_were(tmp_path: Path) -> None:
    text = "cut \ud83d and \udc00 \U0001f600"
    run = make_run(tmp_path / "a", line(rationale=text) + b"\n")
    copy = make_run(tmp_path / "b")
    with copy.collecting() as store:
        store.add_verdict(run.verdicts()[0])
    assert copy.verdicts()[0].rationale == run.verdicts()[0].rationale == run.frames().verdicts["rationale"][0] == text
    written = (tmp_path / "b" / "verdicts.jsonl").read_bytes()
    assert written.isascii()
    assert b"\\ud83d and \\udc00 \\ud83d\\ude00" in written


@pytest.mark.parametrize("field", ["rationale", "raw_reply", "trajectory_id", "note"])
def test_bytes_that_are_not_text_are_an_error(tmp_path: Path, field: str) -> None:
    raw = line(**{field: "QQ"}).replace(b"QQ", b"\xff\xfe")
    assert ", line 1: not UTF-8 text (byte " in error_of(make_run(tmp_path, raw + b"\n" + OTHER + b"\n"))


def test_identical_duplicates_load_once_also_in_another_spelling(tmp_path: Path) -> None:
    spelled = json.dumps(dict(reversed(json.loads(line()).items())), indent=None, separators=(",", ":")).encode()
    run = make_run(tmp_path, b"\n".join([line(), OTHER, line(), spelled]) + b"\n")
    assert [item.trajectory_id for item in run.verdicts()] == [FAULTY, CLEAN]
    assert run.frames().verdicts["trajectory_id"].tolist() == [FAULTY, CLEAN]
    assert run.frames().verdicts.index.tolist() == [0, 1]


def test_contradicting_duplicates_are_an_error_that_shows_both(tmp_path: Path) -> None:
    message = error_of(make_run(tmp_path, b"\n".join([line(), OTHER, line(confidence=0.6)]) + b"\n"))
    assert (
        f"line 3: step:m of {FAULTY} was given on line 1 already, and differently (confidence 0.9 and 0.6)" in message
    )


def test_contradicting_text_alone_is_an_error_also_for_the_frame_without_text(tmp_path: Path) -> None:
    message = error_of(make_run(tmp_path, line() + b"\n" + line(rationale="another") + b"\n"))
    assert "rationale 'looked the order up twice' and 'another'" in message


def test_the_released_name_of_the_rule_engine_and_ours_are_one_judge(tmp_path: Path) -> None:
    run = make_run(tmp_path, line(judge_id="programmatic") + b"\n" + line(judge_id="rules", confidence=0.6) + b"\n")
    assert "rules of" in error_of(run)


def test_an_unknown_trajectory_is_an_error(tmp_path: Path) -> None:
    message = error_of(make_run(tmp_path, line(trajectory_id="INS-00009-clean") + b"\n" + OTHER + b"\n"))
    assert "line 1: field trajectory_id: INS-00009-clean is not in trajectories.jsonl of this run" in message


WRONG_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"confidence": 92}, "field confidence: 92 is not valid; valid is: a number from 0.5 to 1"),
    ({"confidence": 0.3}, "field confidence: 0.3 is not valid"),
    ({"confidence": True}, "field confidence: true is not valid"),
    ({"confidence": "0.9"}, 'field confidence: "0.9" is not valid'),
    ({"confidence": None}, "field confidence: null is not valid"),
    ({"confidence": ...}, "field confidence: missing"),
    ({"confidence": float("nan")}, "not JSON that can be read: NaN is no number that JSON knows"),
    ({"latency_s": float("inf")}, "not JSON that can be read: Infinity is no number that JSON knows"),
    ({"judge_id": "a\x1b[31m"}, "field judge_id: 'a\\x1b[31m' has blanks around it or characters that cannot be shown"),
    ({"judge_id": "a\u202e"}, "field judge_id: 'a\\u202e' has blanks around it or characters that cannot be shown"),
    ({"judge_id": "toString"}, "field judge_id: toString is a name that JavaScript objects have"),
    ({"latency_s": -1.0}, "field latency_s: -1.0 is not valid; valid is: seconds, from zero to a billion"),
    ({"latency_s": 1e308}, "field latency_s: 1e+308 is not valid; valid is: seconds, from zero to a billion"),
    ({"prompt_tokens": -5}, "field prompt_tokens: -5 is not valid"),
    ({"prompt_tokens": 1.5}, "field prompt_tokens: 1.5 is not valid"),
    ({"prompt_tokens": True}, "field prompt_tokens: true is not valid"),
    ({"faulty": 1}, "field faulty: 1 is not valid; valid is: true or false"),
    ({"faulty": "false"}, 'field faulty: "false" is not valid'),
    ({"failure_type": "typo"}, 'field failure_type: "typo" is not valid; valid is: null or one of wrong_tool, hall'),
    ({"failure_type": "none"}, 'field failure_type: "none" is not valid'),
    ({"failure_step": -1}, "field failure_step: -1 is not valid"),
    ({"failure_step": True}, "field failure_step: true is not valid"),
    ({"failure_step": "2"}, 'field failure_step: "2" is not valid'),
    ({"failure_step": 3}, "field failure_step: 3 is outside the 3 steps (0 is the first)"),
    ({"faulty": False, "failure_type": None}, "field failure_step: 2 on a verdict that is not faulty"),
    ({"faulty": False, "failure_step": None}, "field failure_type: wrong_tool on a verdict that is not faulty"),
    ({"status": "timeout"}, 'field status: "timeout" is not valid; valid is: one of ok, unparseable, truncated'),
    ({"rationale": None}, "field rationale: null is not valid; valid is: expected `str`, got `null`"),
    ({"judge_id": 7}, "field judge_id: 7 is not valid"),
    ({"judge_id": ...}, "field judge_id: missing"),
    ({"trajectory_id": ...}, "field trajectory_id: missing"),
    ({"members": [{"faulty": True, "confidence": 3}]}, "field members[0].confidence: 3 is not valid"),
]


@pytest.mark.parametrize(("fields", "expected"), WRONG_FIELDS, ids=[repr(fields)[:50] for fields, _ in WRONG_FIELDS])
def test_a_wrong_field_is_named_with_its_line_and_what_is_valid(
    tmp_path: Path, fields: dict[str, Any], expected: str
) -> None:
    message = error_of(make_run(tmp_path, OTHER + b"\n" + line(**fields) + b"\n"))
    assert f"{tmp_path / 'verdicts.jsonl'}, line 2: {expected}" in message
    assert message.count("\n") == 1, "one line for the problem, one for the remedy"


def test_a_number_too_large_for_a_number_is_refused(tmp_path: Path) -> None:
    assert "line 1: " in error_of(make_run(tmp_path, line().replace(b"1.5", b"1e999") + b"\n" + OTHER + b"\n"))


def test_a_line_nested_without_end_is_an_error_not_a_crash(tmp_path: Path) -> None:
    deep = line()[:-1] + b', "raw_step": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert "line 1: not JSON that can be read" in error_of(make_run(tmp_path, deep + b"\n" + OTHER + b"\n"))


def test_fields_that_nobody_knows_are_refused(tmp_path: Path) -> None:
    message = error_of(make_run(tmp_path, line(note="mine") + b"\n" + OTHER + b"\n"))
    assert "line 1: field note: is no field of such a record; take it out" in message


def test_several_wrong_lines_are_reported_at_once_up_to_ten(tmp_path: Path) -> None:
    message = error_of(make_run(tmp_path / "two", line(confidence=2) + b"\n" + OTHER + b"\n" + line(faulty=3) + b"\n"))
    assert ", line 1: field confidence" in message
    assert ", line 3: field faulty" in message
    many = error_of(make_run(tmp_path / "many", (line(confidence=2) + b"\n") * 50))
    assert ", line 10:" in many
    assert ", line 11:" not in many
    assert "(and perhaps more" in many


@pytest.mark.parametrize("empty", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_of_verdicts_is_an_error_with_a_remedy(tmp_path: Path, empty: bytes) -> None:
    run = make_run(tmp_path, empty)
    assert "verdicts.jsonl: is empty. Restore it, or collect" in error_of(run)
    with run.collecting() as store:
        assert store.done == set()
    assert run.verdicts() == []


@pytest.mark.parametrize("empty", [b"", b"\n\n"])
def test_an_empty_file_of_trajectories_is_an_error(tmp_path: Path, empty: bytes) -> None:
    run = make_run(tmp_path)
    (tmp_path / "trajectories.jsonl").write_bytes(empty)
    with pytest.raises(UserError, match=r"trajectories\.jsonl: is empty\. Move it away"):
        run.trajectories()
    with pytest.raises(UserError, match="is empty"):
        run.frames()


def with_trajectories(folder: Path, *values: dict[str, Any] | bytes) -> Run:
    run = make_run(folder)
    raw = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    (folder / "trajectories.jsonl").write_bytes(b"".join(item + b"\n" for item in raw))
    return run


def plain(trajectory: Trajectory, **label: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(ITEMS.spelling.encode(trajectory))
    value["label"] |= label
    return value


WRONG_LABELS: list[tuple[dict[str, Any], str]] = [
    ({"failure_step": None}, "field label.failure_step: missing on a faulty trajectory"),
    ({"failure_type": None}, "field label.failure_type: missing on a faulty trajectory"),
    ({"faulty": False, "failure_type": None}, "field label.failure_step: 2 on a trajectory that is not faulty"),
    ({"faulty": False, "failure_step": None}, "field label.failure_type: wrong_tool on a trajectory that is not fau"),
    ({"failure_step": 3}, "field label.failure_step: 3 is outside the 3 steps (0 is the first)"),
    ({"failure_type": "typo"}, 'field label.failure_type: "typo" is not valid; valid is: null or one of wrong_tool'),
    ({"outcome_correct": None}, "field label.outcome_correct: null is not valid"),
]


@pytest.mark.parametrize(("label", "expected"), WRONG_LABELS, ids=[repr(label)[:50] for label, _ in WRONG_LABELS])
def test_a_label_that_contradicts_itself_is_an_error(tmp_path: Path, label: dict[str, Any], expected: str) -> None:
    faulty, clean = two_trajectories()
    run = with_trajectories(tmp_path, plain(clean), plain(faulty, **label))
    with pytest.raises(UserError) as wrong:
        run.frames()
    assert f"{tmp_path / 'trajectories.jsonl'}, line 2: {expected}" in str(wrong.value)


def test_steps_that_are_not_counted_from_zero_are_an_error(tmp_path: Path) -> None:
    value = plain(two_trajectories()[0])
    value["steps"][1]["index"] = 2
    with pytest.raises(UserError, match=r"line 1: field steps\[1\]\.index: 2 where 1 is expected"):
        with_trajectories(tmp_path, value).trajectories()


def test_trajectory_ids_are_given_once_or_identically(tmp_path: Path) -> None:
    faulty, clean = two_trajectories()
    same = with_trajectories(tmp_path / "same", plain(faulty), plain(clean), plain(faulty))
    assert list(same.trajectories()) == [FAULTY, CLEAN]
    other = with_trajectories(tmp_path / "other", plain(faulty), plain(clean), plain(faulty, outcome_correct=False))
    with pytest.raises(UserError, match=rf"line 3: {FAULTY} was given on line 1 already, and differently"):
        other.trajectories()


def test_a_torn_file_of_trajectories_is_an_error_since_nothing_would_write_them_again(tmp_path: Path) -> None:
    faulty, clean = two_trajectories()
    run = with_trajectories(tmp_path, plain(faulty), json.dumps(plain(clean)).encode()[:-30])
    with pytest.raises(UserError, match=r"line 2: not JSON.*\nCorrect the file, or move it away"):
        run.trajectories()


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (b"", "not JSON"),
        (b'{"judges": ', "not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"judges": []}', "field judges"),
        (b'{"judges": {"a": 3}}', "field judges"),
        (b'{"n": NaN}', "NaN is no number"),
    ],
)
def test_a_broken_manifest_is_an_error(tmp_path: Path, about: bytes, expected: str) -> None:
    run = make_run(tmp_path)
    (tmp_path / "run.json").write_bytes(about)
    with pytest.raises(UserError, match=expected) as broken:
        run.judges()
    assert str(tmp_path / "run.json") in str(broken.value)


def test_failures_load_in_order_and_a_broken_one_is_an_error(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    path = tmp_path / "failures.jsonl"
    path.write_bytes(b'{"error": "refused"}\n{"error": "timed out"}\n{"err')
    assert [failure["error"] for failure in run.failures()] == ["refused", "timed out"]
    path.write_bytes(b'{"error": "refused"}\n3\n{"error": "timed out"}\n')
    with pytest.raises(UserError, match=r"failures\.jsonl, line 2: Expected `object`, got `int`"):
        run.failures()


WHOLE = line() + b"\n" + OTHER + b"\n"
FOREIGN = {
    "line ends of old": WHOLE.replace(b"\n", b"\r"),
    "array": b"[" + line() + b"," + OTHER + b"]",
    "array cut": b"[" + line() + b"," + OTHER[:40],
    "one line": line() + OTHER,
    "one line cut": line() + OTHER[:40],
    "binary": b"\x80\x02}q\x00(X\x05",
    "binary in a brace": b'{"\xff\xfe\x00',
    "gzip": b"\x1f\x8b\x08\x00" + bytes(range(256)),
    "wide text": WHOLE.decode().encode("utf-16"),
    "nested": b"[" * 100_000,
    "nested in a brace": b'{"a":' + b"[" * 100_000,
    "broken middle, torn end": line() + b"\nnot json\n" + OTHER[:40],
    "word": b"not json",
    "unquoted": b"{faulty: tr",
}


@pytest.mark.parametrize("name", ["verdicts.jsonl", "failures.jsonl", "episodes.jsonl"])
@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
def test_bytes_that_no_collection_wrote_are_an_error_and_stay_where_they_are(
    tmp_path: Path, foreign: bytes, name: str
) -> None:
    run = make_run(tmp_path)
    (tmp_path / name).write_bytes(foreign)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(UserError, match=rf"{name}, line \d+: "), run.collecting():
        pass
    before["collector.lock"] = b""
    assert {path.name for path in tmp_path.iterdir()} <= before.keys()
    assert (tmp_path / name).read_bytes() == foreign


def test_a_torn_line_stays_where_another_file_of_the_run_is_broken(tmp_path: Path) -> None:
    run = make_run(tmp_path, line() + b"\n" + OTHER[:40])
    (tmp_path / "failures.jsonl").write_bytes(b"not json\n{}\n")
    with pytest.raises(UserError, match=r"failures\.jsonl, line 1"), run.collecting():
        pass
    assert (tmp_path / "verdicts.jsonl").read_bytes() == line() + b"\n" + OTHER[:40]


def test_every_cut_of_a_line_is_a_torn_one(tmp_path: Path) -> None:
    record = {"a": -1.5e-7, "b": [True, None, {"c": "x\n\\ud800"}], "d": "\u00e9\ud83d", "e": "\U0001f600", "f": 10}
    spelled = [json.dumps(record).encode(), json.dumps(record | {"d": "\u00e9\u2028"}, ensure_ascii=False).encode()]
    for whole in spelled:
        assert [cut for cut in range(1, len(whole)) if not jsonl.is_torn(whole[:cut])] == []
        assert not jsonl.is_torn(whole)


@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens"])
@pytest.mark.parametrize("count", [10**12 + 1, 2**63, 2**64, 10**30])
def test_a_count_whose_sums_could_overflow_is_an_error(tmp_path: Path, field: str, count: int) -> None:
    message = error_of(make_run(tmp_path, line(**{field: count}) + b"\n" + OTHER + b"\n"))
    assert (
        f"line 1: field {field}: {count} is not valid; valid is: null or a whole number, from zero to a trillion"
        in (message)
    )


def test_the_largest_count_loads(tmp_path: Path) -> None:
    run = make_run(tmp_path, line(prompt_tokens=10**12) + b"\n")
    assert run.frames().verdicts["prompt_tokens"].tolist() == [10**12]


@pytest.mark.parametrize("field", ["faulty", "failure_step", "failure_type", "confidence", "status", "members"])
def test_a_lone_surrogate_in_a_field_of_another_type_is_an_error_that_names_it(tmp_path: Path, field: str) -> None:
    message = error_of(make_run(tmp_path, line(**{field: "x\ud800"}) + b"\n" + OTHER + b"\n"))
    assert f'line 1: field {field}: "x\\ud800" is not valid' in message


RUN_SHAPES: list[tuple[dict[str, Any], str]] = [
    *(({"dataset": wrong}, "dataset") for wrong in (None, [], "x", 5)),
    *(({"episodes": wrong}, "episodes") for wrong in (None, [1], "x", 5)),
    *(({"judges": {"coin": {"collections": wrong}}}, "judges.coin: field collections") for wrong in (None, 5, "x", {})),
    ({"episodes": {"collections": 5}}, "episodes.collections"),
    ({"episodes": {"collections": ["x"]}}, r"episodes.collections\[0\]"),
    ({"judges": {"coin": {"about": {"kind": "own", "members": 0}}}}, "judges.coin: field about.members"),
]


@pytest.mark.parametrize(("entry", "field"), RUN_SHAPES)
def test_an_entry_of_run_json_of_another_shape_is_an_error_that_names_it(
    tmp_path: Path, entry: dict[str, Any], field: str
) -> None:
    run = make_run(tmp_path)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entry))
    with pytest.raises(UserError, match=rf"run\.json: field {field}: .*(is not valid|Expected)"):
        _ = run.manifest
    with pytest.raises(UserError, match=r"is not valid|Expected"), run.collecting():
        pass


@pytest.mark.parametrize(
    ("instance_id", "stratum"),
    [("INS-00007", "restocking"), ("INS-" + "0" * 18, "happy"), ("INS-" + "1" * 5000, None), ("INS-\u0661" * 5, None)],
)
def test_an_instance_id_of_any_length_has_a_stratum_or_none(instance_id: str, stratum: str | None) -> None:
    assert stratum_of(instance_id) == stratum


@pytest.mark.parametrize("again", [b'"faulty": false', b'"faulty" : true', b'"f\\u0061ulty": false'])
def test_a_key_that_comes_twice_is_an_error(tmp_path: Path, again: bytes) -> None:
    twice = line()[:-1] + b", " + again + b"}"
    message = error_of(make_run(tmp_path, twice + b"\n" + OTHER + b"\n"))
    assert 'line 1: not JSON that can be read: the key "faulty" comes twice in one object' in message


def test_a_key_that_comes_twice_inside_a_record_is_an_error_and_one_inside_a_text_is_none(tmp_path: Path) -> None:
    quoting = line(rationale='{"faulty": true, "faulty": false}', raw_step={"faulty": 1, "a": {"faulty": 2}})
    assert len(make_run(tmp_path / "a", quoting + b"\n").verdicts()) == 1
    nested = line(raw_step=0).replace(b'"raw_step": 0', b'"raw_step": {"a": 1, "a": 2}')
    assert 'the key "a" comes twice' in error_of(make_run(tmp_path / "b", nested + b"\n" + OTHER + b"\n"))
    run = make_run(tmp_path / "c")
    for name, old, new in (
        ("trajectories.jsonl", b'"ok":true', b'"ok":false,"ok":true'),
        ("run.json", b'"seed": 7', b'"seed": 8, "seed": 7'),
    ):
        path = run.folder / name
        before = path.read_bytes()
        path.write_bytes(before.replace(old, new, 1))
        with pytest.raises(UserError, match=f"{name}.*comes twice in one object"):
            run.trajectories() and run.manifest
        path.write_bytes(before)


@pytest.mark.parametrize("name", ["verdicts.jsonl", "failures.jsonl", "episodes.jsonl"])
@pytest.mark.parametrize("target", ["nowhere", "itself"])
def test_a_link_that_leads_nowhere_is_an_error_not_an_absent_file(tmp_path: Path, name: str, target: str) -> None:
    run = make_run(tmp_path)
    (tmp_path / name).symlink_to(name if target == "itself" else "gone.jsonl")
    with pytest.raises(UserError, match=f"{name}: cannot be read"):
        inspection.check(run)
    with pytest.raises(UserError, match=f"{name}: cannot be read"), run.collecting():
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes in the file system")
@pytest.mark.parametrize("name", ["trajectories.jsonl", "verdicts.jsonl", "failures.jsonl", "episodes.jsonl"])
def test_a_pipe_or_device_in_place_of_a_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    run = make_run(tmp_path, line() + b"\n")
    for make in (os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero")):
        (tmp_path / name).unlink(missing_ok=True)
        make(tmp_path / name)
        for reading in (lambda: inspection.check(Run.open(tmp_path)), lambda: run.collecting().__enter__()):
            with pytest.raises(UserError, match=r"no regular file|is missing"):
                reading()


@pytest.mark.parametrize("name", ["run.json.partial", "holder.lock", "verdicts.jsonl.torn"])
def test_a_pipe_beside_the_files_holds_nothing_up(tmp_path: Path, name: str) -> None:
    run = make_run(tmp_path, line() + b"\n" + OTHER[:40])
    os.mkfifo(tmp_path / name)
    try:
        with run.collecting() as store:
            store.register_judge("coin", {})
    except UserError as error:
        assert "verdicts.jsonl.torn" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[" + line() + b"," + OTHER + b"]", "a JSON array; one object a line is expected (JSON Lines)"),
        (b"[\n" + line() + b",\n" + OTHER + b"\n]\n", "a JSON array; one object a line is expected (JSON Lines)"),
        (json.dumps(json.loads(line()), indent=2).encode(), "spread over several lines; one object a line"),
        (json.dumps([json.loads(line())] * 20, indent=1).encode(), "a JSON array; one object a line is expected"),
    ],
    ids=["array", "array in lines", "pretty", "pretty array"],
)
def test_another_layout_of_json_is_said_in_one_sentence(tmp_path: Path, content: bytes, told: str) -> None:
    message = error_of(make_run(tmp_path, content))
    assert told in message
    assert message.count("\n") == 1


@pytest.mark.parametrize("name", ["x" * 5000, "x/" * 3000])
def test_a_name_too_long_for_a_folder_is_an_error(name: str) -> None:
    with pytest.raises(UserError, match=r"x/?: no run can be read there"):
        Run.open(name)


def test_a_run_that_may_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path)

    def denied(*_: object, **__: object) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    for read in ("is_file", "open"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, read, denied)
            with pytest.raises(UserError, match=r"read.*\(Permission denied\)"):
                _ = Run.open(run.folder).manifest


@pytest.mark.parametrize("judge_id", ["", "  "])
def test_an_empty_judge_id_is_an_error(tmp_path: Path, judge_id: str) -> None:
    message = error_of(make_run(tmp_path, line(judge_id=judge_id) + b"\n" + OTHER + b"\n"))
    assert "line 1: field judge_id: is empty" in message
