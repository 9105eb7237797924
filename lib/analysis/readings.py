"""Verdicts that are not ``ok``: how many, and what the metrics would be if each were right, or wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.analysis.quantities import METRICS, label_sums, verdict_columns
from lib.analysis.sample import Mask, Table, point_metrics

STATUSES = ("ok", "unparseable", "truncated")


def status_counts(table: Table) -> pd.DataFrame:
    """Frame judge_id, n, ok, unparseable, truncated."""
    rows = []
    for judge, own in table.verdicts.items():
        counts = own["status"].value_counts()
        rows.append({"judge_id": judge, "n": len(own), **{name: int(counts.get(name, 0)) for name in STATUSES}})
    return pd.DataFrame(rows, columns=["judge_id", "n", *STATUSES])


def readings(table: Table) -> pd.DataFrame:
    """Frame judge_id, metric, value, worst, best, for judges with at least one verdict that is not ``ok``."""
    frames = []
    for judge, own in table.verdicts.items():
        broken = (own["status"] != "ok").to_numpy(bool)
        if not broken.any():
            continue
        mask = table.judged[judge]
        labels = table.labels[mask]
        sizes = label_sums(labels)
        values = {"value": point_metrics(sizes, table.columns[judge][mask])[0]}
        for name, right in (("worst", False), ("best", True)):
            reread = verdict_columns(labels, read_as(own, labels, broken, right=right))
            values[name] = point_metrics(sizes, reread)[0]
        frames.append(pd.DataFrame({"judge_id": judge, "metric": METRICS, **values}))
    fields = ["judge_id", "metric", "value", "worst", "best"]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=fields)


def read_as(own: pd.DataFrame, labels: pd.DataFrame, broken: Mask, *, right: bool) -> pd.DataFrame:
    """Verdicts with each ``broken`` one read as right (the label itself) or wrong (its opposite, no step or type)."""
    faulty = labels["faulty"].to_numpy(bool)
    step = labels["failure_step"].to_numpy(dtype=float, na_value=np.nan)
    kind = labels["failure_type"].to_numpy(object)
    nothing = np.full(len(own), None, dtype=object)
    own_step = own["failure_step"].to_numpy(dtype=float, na_value=np.nan)
    return own.assign(
        faulty=np.where(broken, faulty == right, own["faulty"].to_numpy(bool)),
        failure_step=np.where(broken, step if right else np.nan, own_step),
        failure_type=np.where(broken, kind if right else nothing, own["failure_type"].to_numpy(object)),
    )
