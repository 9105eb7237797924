"""The tidy frames of part II: one row a verdict and metric, beside the truth; and part I seen as plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from msgspec.structs import asdict, astuple

from lib.plans.prompts import CONDITIONS, donors, reference_shown
from lib.plans.records import METRICS, TIERS, Plan, PlanVerdict, Record
from lib.plans.score import corrected, score
from lib.records import About, Trajectory

NONE = (float("nan"),) * len(METRICS)


def truths(records: Iterable[Record], plans: Iterable[Plan]) -> pd.DataFrame:
    """One row a plan and metric; plans that could not be read are left out.

    Columns: instance (the record), domain, topology, plan, planner, fault, rate, metric, truth (Eqs 1 to 3), corrected.
    """
    known = {record.record_id: record for record in records}
    rows = []
    for plan in (plan for plan in plans if plan.status == "ok"):
        record = known[plan.record_id]
        item = (record.record_id, record.domain, record.topology, plan.plan_id, plan.planner, plan.fault, plan.rate)
        scores = astuple(score(plan.calls, record.expected)), astuple(corrected(plan.calls, record))
        rows += [(*item, *both) for both in zip(METRICS, *scores, strict=True)]
    item_columns = ["instance", "domain", "topology", "plan", "planner", "fault", "rate"]
    return pd.DataFrame(rows, columns=[*item_columns, "metric", "truth", "corrected"])


def verdicts_beside_truth(
    records: Sequence[Record],
    plans: Sequence[Plan],
    verdicts: Iterable[PlanVerdict],
    about: Mapping[str, About],
    seed: int,
) -> pd.DataFrame:
    """One row a verdict and metric, judges in the order of ``about``: the columns of ``truths``, and what was said.

    Those are judge, kind (the condition under which it is asked), model, tier, shown (the plan's score against the
    reference that was shown, NaN where none was), level (NaN where the reply was not read), log_odds, status, unread,
    seconds; and for ``lib.analysis`` cell (topology and tier), trajectory (plan, tier and metric), stratum (topology),
    faulty (truth below 1) and score (minus the log-odds of 1, or minus the level where they are not known).

    Args:
        seed: that of the run, from which the wrong references follow.
    """
    known, made, donor = {r.record_id: r for r in records}, {p.plan_id: p for p in plans}, donors(records, seed)
    shown: dict[tuple[str, str], tuple[float, ...]] = {}
    rows = []
    for verdict in (verdict for verdict in verdicts if verdict.judge_id in about):
        judge, plan = about[verdict.judge_id], made[verdict.plan_id]
        key = (verdict.plan_id, judge.kind)
        if key not in shown:
            record = known[plan.record_id]
            shown[key] = _against_shown(judge.kind, record, plan, donor[plan.record_id], seed)
        levels = astuple(verdict.levels) if verdict.levels else NONE
        said = (verdict.judge_id, judge.kind, judge.model, verdict.tier, verdict.plan_id)
        rows += [
            (*said, metric, at, level, verdict.log_odds.get(metric, float("nan")), verdict.status, verdict.latency_s)
            for metric, at, level in zip(METRICS, shown[key], levels, strict=True)
        ]
    columns = ["judge", "kind", "model", "tier", "plan", "metric", "shown", "level", "log_odds", "status", "seconds"]
    frame = pd.DataFrame(rows, columns=columns).merge(truths(records, plans), on=["plan", "metric"], how="left")
    frame["unread"] = frame["status"].ne("ok")
    frame["faulty"], frame["stratum"] = frame["truth"] < 1, frame["topology"]
    frame["score"] = -frame["log_odds"].fillna(frame["level"])
    frame["cell"] = frame["topology"] + "/" + frame["tier"]
    frame["trajectory"] = frame["plan"] + "/" + frame["tier"] + "/" + frame["metric"]
    place = {judge: position for position, judge in enumerate(about)}
    by = {"judge": frame["judge"].map(place), "tier": frame["tier"].map(TIERS.index)}
    order = frame.assign(**by).sort_values(["judge", "tier", "topology", "trajectory"]).index
    return frame.loc[order].reset_index(drop=True)


def _against_shown(condition: str, record: Record, plan: Plan, donor: Record, seed: int) -> tuple[float, ...]:
    asked = CONDITIONS.get(condition)
    reference = reference_shown(asked, record, plan, donor, seed) if asked else None
    return NONE if reference is None else astuple(score(plan.calls, reference))


def trajectories_as_plans(trajectories: Iterable[Trajectory], parents: Mapping[str, Trajectory]) -> pd.DataFrame:
    """One row a mutant whose parent is known: trajectory, instance, fault, and the four scores of Eqs 1 to 3.

    Args:
        parents: clean trajectory by instance id.
    """
    rows = [
        {"trajectory": t.trajectory_id, "instance": t.instance_id, "fault": t.label.failure_type}
        | asdict(score([s.call for s in t.steps], [s.call for s in parents[t.instance_id].steps]))
        for t in trajectories
        if t.label.faulty and t.instance_id in parents
    ]
    return pd.DataFrame(rows)
