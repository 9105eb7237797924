"""Part I seen with the eyes of part II: a trajectory's calls as a plan, scored against those of its clean parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
from msgspec.structs import asdict

from lib.plans.score import score
from lib.records import Trajectory


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
