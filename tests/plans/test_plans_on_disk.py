"""The same run folder stores plans and what judges say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lib.errors import UserError
from lib.plans.faults import plans
from lib.plans.frames import truths
from lib.plans.records import METRICS, Levels, Plan, PlanVerdict, Record
from lib.plans.study import PLANS, RECORDS
from lib.run.check import check
from lib.run.folder import Run

RIGHT = Levels(1.0, 1.0, 0.5, 1.0)


def run_of(folder: Path, records: list[Record]) -> Run:
    return Run.create(folder, {}, [plan for one in records for plan in plans(one, 7)], PLANS, {RECORDS.file: records})


def said(plan_id: str, **fields: Any) -> PlanVerdict:
    return PlanVerdict(**{"plan_id": plan_id, "tier": "easy", "judge_id": "with:m", "levels": RIGHT} | fields)


def test_what_is_written_is_what_loads(tmp_path: Path, records: list[Record]) -> None:
    run = run_of(tmp_path, records[:6])
    items = run.records(PLANS.items)
    assert run.records(RECORDS) == {record.record_id: record for record in records[:6]}
    first, second = list(items)[:2]
    unread = said(second, levels=None, status="unparseable", reason="no JSON")
    with run.collecting() as store:
        store.register_judge("with:m", {"about": {"kind": "reference", "model": "m"}})
        store.add_verdict(said(first, log_odds={METRICS[0]: 1.5}))
        store.add_verdict(said(first, tier="hard"))
        store.add_verdict(unread)
        with pytest.raises(ValueError, match="is there already"):
            store.add_verdict(said(first))
    assert run.verdicts()[2] == unread
    plans_of, verdicts = run.frames(text=False)
    assert len(plans_of) == len(items)
    assert verdicts["tier"].tolist() == ["easy", "hard", "easy"]
    assert verdicts[METRICS[2]].tolist()[:2] == [0.5, 0.5]
    assert verdicts[METRICS[2]].isna().tolist() == [False, False, True]
    assert verdicts[f"{METRICS[0]}_log_odds"].iloc[0] == 1.5
    assert check(run).judges == {"with:m": {"ok": 2, "unparseable": 1}}
    assert Run.open(tmp_path, PLANS).judges()["with:m"].model == "m"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"plan_id": "x"}, "field plan_id: x is not in plans.jsonl"),
        ({"levels": None}, "field levels: missing where status is ok"),
        ({"status": "refused"}, "field levels: given where status is refused"),
        ({"levels": Levels(2.0, 1.0, 1.0, 1.0)}, "field levels.tool_selection: 2.0 is not valid"),
        ({"judge_id": " "}, "field judge_id: is empty"),
    ],
)
def test_a_verdict_that_contradicts_itself_is_refused(
    tmp_path: Path, records: list[Record], fields: dict[str, Any], expected: str
) -> None:
    run = run_of(tmp_path, records[:1])
    with run.collecting() as store, pytest.raises(ValueError, match=expected):
        store.add_verdict(said(**{"plan_id": next(iter(run.records(PLANS.items)))} | fields))
    (tmp_path / "verdicts.jsonl").write_bytes(
        PLANS.verdicts.spelling.encode(said(**{"plan_id": next(iter(run.records(PLANS.items)))} | fields))
    )
    with pytest.raises(UserError, match=expected):
        run.verdicts()


def test_records_are_guarded_like_plans(tmp_path: Path, records: list[Record]) -> None:
    run = run_of(tmp_path, records[:2])
    path = tmp_path / RECORDS.file
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert run.altered == [RECORDS.file]
    with pytest.raises(UserError, match=r"field record_id: .* is not in records\.jsonl"):
        run.frames()


def test_a_run_is_opened_as_what_it_is(tmp_path: Path, records: list[Record]) -> None:
    run_of(tmp_path, records[:1])
    with pytest.raises(UserError, match="is a run of 'plans'; one of trajectories is needed here"):
        Run.open(tmp_path)


def test_a_plan_that_was_not_read_is_kept_with_its_reason(tmp_path: Path, records: list[Record]) -> None:
    unread = Plan(
        plan_id="m/hard/x",
        record_id=records[0].record_id,
        planner="m",
        tier="hard",
        fault=None,
        rate=None,
        calls=[],
        status="unparseable",
        reason="no JSON",
        raw_reply="well",
    )
    run = Run.create(tmp_path / "run", {}, [unread], PLANS, {RECORDS.file: records[:1]})
    assert run.records(PLANS.items) == {unread.plan_id: unread}
    assert truths(records, [unread]).empty
    again = Run.create(tmp_path / "again", {}, [replace(unread, status="ok")], PLANS, {RECORDS.file: records[:1]})
    with pytest.raises(UserError, match="field calls: none where status is ok"):
        again.records(PLANS.items)
