"""Judges of plans on the bench: a run of part II as one tidy frame, with the metrics of part II."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lib.analysis.bench import Bench
from lib.analysis.metrics import Metric, Registry, Sums, ratio
from lib.analysis.shares import Floats
from lib.analysis.tidy import chosen
from lib.errors import UserError
from lib.plans.frames import verdicts_beside_truth
from lib.plans.measures import NullPolicy, alignment, bias, binned, ceiling, floor, skill
from lib.plans.published import read_judged
from lib.plans.records import LEVELS, METRICS
from lib.plans.study import PLANS, RECORDS
from lib.records import About
from lib.run.folder import Run

LABELS = dict(zip(METRICS, ("tools", "parameters", "sequence", "coverage"), strict=True))


def open(
    run: str | Path | Run,
    judges: Sequence[str] | None = None,
    reps: int = 10_000,
    seed: int = 0,
    nulls: NullPolicy = "exclude",
) -> Bench:
    """The judges of a run of plans, by its name or folder: records are what is resampled, in topologies and tiers.

    Args:
        judges: ids, all when None; reps, seed: of the bootstrap; nulls: what a reply that was not read counts as.

    Raises UserError for no such run, a broken file, or a judge that it does not have.
    """
    if reps < 1:
        raise UserError(f"reps must be at least 1, not {reps}")
    opened = run if isinstance(run, Run) else Run.open(run, PLANS)
    said = opened.verdicts()
    present = {v.judge_id for v in said}
    about = {judge: told for judge, told in opened.judges().items() if judge in present}
    own = {judge: about[judge] for judge in chosen(about, judges)}
    records, plans = opened.records(RECORDS).values(), opened.records(PLANS.items).values()
    frame = verdicts_beside_truth([*records], [*plans], said, own, opened.manifest["dataset"]["seed"])
    return Bench(_measured(frame, nulls), own, opened.name, opened.verdict_checksum(), reps, seed, PLAN_METRICS)


def published(folder: str | Path, reps: int = 10_000, seed: int = 0, nulls: NullPolicy = "exclude") -> Bench:
    """The judged rows of AgentJudgeBench's code in a folder (see ``lib.plans.published``); judges are ``with:model``.

    A judge's own run folder stands behind its id (``with:model/c3``). Raises UserError.
    """
    frame = read_judged(Path(folder))
    text = {
        name: frame[name].astype(object) for name in ("kind", "model", "run", "tier", "topology", "metric", "planner")
    }
    frame["judge"] = (text["kind"] + ":" + text["model"] + "/" + text["run"]).str.rstrip("/")
    frame["cell"] = text["topology"] + "/" + text["tier"]
    frame["trajectory"] = text["planner"] + "/" + text["tier"] + "/" + frame["instance"] + "/" + text["metric"]
    frame["unread"] = frame["level"].isna()
    frame = frame.sort_values(["judge", "cell", "trajectory"], ignore_index=True)
    judges = frame[["judge", "kind", "model"]].drop_duplicates().astype(str)
    about = {row.judge: About(kind=row.kind, model=row.model) for row in judges.itertuples()}
    return Bench(_measured(frame, nulls), about, Path(folder).name, "", reps, seed, PLAN_METRICS)


def _measured(frame: pd.DataFrame, nulls: NullPolicy) -> pd.DataFrame:
    truth, level = frame["truth"], frame["level"]
    return frame.assign(
        aligned=alignment(truth, level, nulls), floor=floor(truth), ceiling=ceiling(truth), bias=bias(truth, level)
    )


def _columns(rows: pd.DataFrame) -> dict[str, Floats]:
    """Quantities of one judge, one a row (verdict and metric); those of a verdict that is not counted are 0."""
    given = rows["aligned"].notna().to_numpy()
    said, right = binned(rows["level"]), rows["truth"].ge(1).to_numpy()
    found = {
        "rows": np.ones(len(rows)),
        "unread": rows["unread"].to_numpy(float),
        "given": given,
        "read": rows["bias"].notna().to_numpy(),
        "credited": rows["bias"].fillna(0).to_numpy(),
        **{name: rows[name].where(given, 0).to_numpy() for name in ("aligned", "floor", "ceiling")},
    }
    for metric in METRICS:
        own = rows["metric"].eq(metric).to_numpy()
        found |= {f"aligned.{metric}": found["aligned"] * own, f"given.{metric}": given & own}
        for level in LEVELS:
            at = own & (said == level)
            found |= {f"right.{metric}.{level}": at & right, f"wrong.{metric}.{level}": at & ~right}
    return {name: np.asarray(values, float) for name, values in found.items()}


def _skill(sums: Sums) -> Floats:
    return skill(*(sums[name] for name in ("aligned", "floor", "ceiling")))


def _area(metric: str, sums: Sums) -> Floats:
    """Area under the curve from counts by level: pairs of a wrong and a right plan in order, ties half."""
    right, wrong = ([np.asarray(sums[f"{side}.{metric}.{level}"]) for level in LEVELS] for side in ("right", "wrong"))
    pairs = sum(
        (w * r * (0.5 if i == j else 1.0) for i, w in enumerate(wrong) for j, r in enumerate(right) if i <= j),
        start=np.zeros_like(right[0]),
    )
    return ratio(pairs, sum(right, start=np.zeros_like(pairs)) * sum(wrong, start=np.zeros_like(pairs)))


def _registry() -> Registry:
    metrics = [
        Metric("alignment", "Alignment", 1, 3, "mean", "given", above="aligned"),
        Metric("floor", "Alignment of always 1", 0, 3, "mean", "given", above="floor"),
        Metric("ceiling", "Best alignment on the scale", 0, 3, "mean", "given", above="ceiling"),
        Metric("skill", "Skill", 1, 2, "resampled", "given", of=_skill, columns=("aligned", "floor", "ceiling")),
        Metric("bias", "Credit beyond the truth", 0, 3, "mean", "read", above="credited"),
        Metric("unread", "Replies not read", -1, 3, "share", "rows", above="unread"),
    ]
    for metric, label in LABELS.items():
        sides = tuple(f"{side}.{metric}.{level}" for side in ("right", "wrong") for level in LEVELS)
        name, area = f"alignment.{metric}", partial(_area, metric)
        metrics += [
            Metric(name, f"Alignment: {label}", 1, 3, "mean", f"given.{metric}", above=f"aligned.{metric}"),
            Metric(f"area.{metric}", f"Area: {label}", 1, 2, "resampled", f"given.{metric}", of=area, columns=sides),
        ]
    return Registry({metric.name: metric for metric in metrics}, _columns, "grades of plans")


PLAN_METRICS = _registry()
"""Alignment with its floor, ceiling and skill, and for each of the four metrics its alignment and area."""
