"""Part II as a study: what its files hold, and what keeps a plan or a verdict on it from being sound."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from msgspec.structs import asdict

from lib.errors import COMMAND
from lib.plans.prompts import CONDITIONS, donors, reference_shown
from lib.plans.records import METRICS, TIERS, Levels, Plan, PlanVerdict, PlanView, Record, Tier, view_of
from lib.records import About, judge_id_fault
from lib.run.lines import Problem, Spelling
from lib.run.study import Case, ColumnType, Kind, Known, Study


def _check_record(record: Record, _: Known) -> Record:
    if wrong := [edge for edge in record.edges if not 0 <= edge[0] < edge[1] < len(record.expected)]:
        raise Problem("edges", f"{list(wrong[0])} does not lead from a call to a later one")
    return record


def _check_plan(plan: Plan, records: Known) -> Plan:
    if (plan.status == "ok") != bool(plan.calls):
        raise Problem("calls", f"{'none' if not plan.calls else 'given'} where status is {plan.status}")
    if plan.record_id not in records:
        raise Problem("record_id", f"{plan.record_id} is not in records.jsonl of this run")
    return plan


def _check_verdict(verdict: PlanVerdict, tiers: Known) -> PlanVerdict:
    if fault := judge_id_fault(verdict.judge_id):
        raise Problem("judge_id", fault)
    if verdict.plan_id not in tiers:
        raise Problem("plan_id", f"{verdict.plan_id} is not in plans.jsonl of this run")
    if tiers[verdict.plan_id] not in (None, verdict.tier):
        raise Problem("tier", f"{verdict.tier} on a plan for the {tiers[verdict.plan_id]} request")
    if (verdict.levels is not None) != (verdict.status == "ok"):
        raise Problem("levels", f"{'missing' if verdict.levels is None else 'given'} where status is {verdict.status}")
    for metric, level in _values(verdict.levels).items():
        if level is not None and not 0 <= level <= 1:
            raise Problem(f"levels.{metric}", f"{level} is not valid; valid is: a number from 0 to 1")
    return verdict


def _cases(run: Any) -> list[Case]:
    """Every plan that was read, for every request that it answers.

    They are alike by record, tier and plan; records in the run's order, so that half a collection holds all topologies.
    """
    records = run.records(RECORDS)
    place = {name: i for i, name in enumerate(records)}
    seed = run.manifest.get("dataset", {}).get("seed")
    donor = donors([*records.values()], seed)

    def case(plan: Plan, tier: Tier) -> Case:
        record = records[plan.record_id]

        def view(about: About) -> PlanView:
            asked = CONDITIONS.get(about.kind)
            shown = reference_shown(asked, record, plan, donor[plan.record_id], seed) if asked else None
            return view_of(record, plan, tier, shown)

        return Case((plan.plan_id, tier), (place[record.record_id], TIERS.index(tier), plan.plan_id), view)

    plans = [plan for plan in run.records(ITEMS).values() if plan.status == "ok"]
    return [case(plan, tier) for plan in plans for tier in TIERS if plan.tier in (None, tier)]


def _values(levels: Levels | None) -> dict[Any, float | None]:
    return asdict(levels) if levels else dict.fromkeys(METRICS)


def _verdict_row(verdict: PlanVerdict) -> tuple[Any, ...]:
    odds = (verdict.log_odds.get(metric) for metric in METRICS)
    key = verdict.plan_id, verdict.tier, verdict.judge_id
    told = verdict.latency_s, verdict.server_s, verdict.prompt_tokens, verdict.completion_tokens, verdict.cost
    said = verdict.status, verdict.reason, verdict.overall, verdict.raw_reply
    return *key, *_values(verdict.levels).values(), *odds, *told, *said


_RECORD: dict[str, ColumnType] = {"record_id": "word", "domain": "word", "topology": "word", "n_expected": "int"}
_PLAN: dict[str, ColumnType] = {
    "plan_id": "word",
    "record_id": "word",
    "planner": "word",
    "tier": "word",
    "fault": "word",
    "rate": "float",
    "n_calls": "int",
    "status": "word",
}
_LEVELS: dict[str, ColumnType] = dict.fromkeys((*METRICS, *(f"{metric}_log_odds" for metric in METRICS)), "float")
_VERDICT: dict[str, ColumnType] = {
    "plan_id": "word",
    "tier": "word",
    "judge_id": "word",
    **_LEVELS,
    "latency_s": "float",
    "server_s": "float",
    "prompt_tokens": "count",
    "completion_tokens": "count",
    "cost": "float",
    "status": "word",
    "reason": "word",
    "overall": "text",
    "raw_reply": "text",
}

RECORDS = Kind(
    "records.jsonl",
    Spelling(Record),
    ("record_id",),
    _RECORD,
    lambda record: (record.record_id, record.domain, record.topology, len(record.expected)),
    _check_record,
)
ITEMS = Kind(
    "plans.jsonl",
    Spelling(Plan),
    ("plan_id",),
    _PLAN,
    lambda plan: (*attrgetter(*list(_PLAN)[:6])(plan), len(plan.calls), plan.status),
    _check_plan,
    appended=True,
    parent=RECORDS,
    known="topology",
)
VERDICTS = Kind(
    "verdicts.jsonl",
    Spelling(PlanVerdict, first=("plan_id", "tier", "judge_id")),
    ("plan_id", "tier", "judge_id"),
    _VERDICT,
    _verdict_row,
    _check_verdict,
    appended=True,
    parent=ITEMS,
    known="tier",
)
PLANS = Study(
    "plans",
    ITEMS,
    VERDICTS,
    (RECORDS,),
    _cases,
    make=f"{COMMAND} plans --out DIR",
    counted={"planner": None, "fault": None, "status": None},
)
