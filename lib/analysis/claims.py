"""Claims in the reply that no observation supports: which sentence an answer holds, and the most telling miss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lib.analysis.attention import reasons
from lib.records import About, FaultType, Trajectory, Verdict

KIND: FaultType = "unsupported_claim"
OTHER = "another sentence"


def sentences_of(trajectories: Iterable[Trajectory], names: Mapping[str, str]) -> dict[str, str]:
    """Which claim the answer of each trajectory with such a fault holds.

    Args:
        names: short names of claims, by their sentence.

    Returns:
        Name by trajectory id; OTHER where it is none of ``names``.
    """
    return {
        t.trajectory_id: next((name for claim, name in names.items() if claim in t.final_answer), OTHER)
        for t in trajectories
        if t.label.failure_type == KIND
    }


def most_telling_miss(
    verdicts: Iterable[Verdict], trajectories: Mapping[str, Trajectory], abouts: Mapping[str, About]
) -> Verdict | None:
    """The claim that was passed with the highest confidence, by a judge that read the steps and said why.

    Only verdicts that could be read count, of judges whose rationale is a model's own words. Ties go to the judge
    that comes first in ``abouts``, then to the trajectory that does. None where nothing was missed that way.
    """
    rank = {judge: place for place, judge in enumerate(abouts)}
    place = {name: number for number, name in enumerate(trajectories)}
    missed = [
        verdict
        for verdict in verdicts
        if verdict.judge_id in rank and not verdict.faulty and verdict.status == "ok" and verdict.rationale.strip()
        if trajectories[verdict.trajectory_id].label.failure_type == KIND
        if reasons(abouts[verdict.judge_id]) and abouts[verdict.judge_id].sees == "step"
    ]
    return min(missed, key=lambda v: (-v.confidence, rank[v.judge_id], place[v.trajectory_id]), default=None)
