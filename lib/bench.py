"""A run put on the bench: its verdicts, the truth, and what each fault changes of what a judge is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lib.analysis.bench import Bench
from lib.analysis.tidy import chosen, tidy
from lib.desk.parents import changed_views, seed_of
from lib.errors import UserError
from lib.run.folder import Run


def open(run: str | Path | Run, judges: Sequence[str] | None = None, reps: int = 10_000, seed: int = 0) -> Bench:
    """The judges of a run, by its name or folder.

    Args:
        judges: ids, all when None; reps, seed: of the bootstrap.

    Raises:
        UserError: no such run, a broken file, a judge that it does not have.
    """
    for name, number, least in (("reps", reps, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or number < least:
            raise UserError(f"{name} must be a whole number from {least} on, not {number!r}")
    opened = run if isinstance(run, Run) else Run.open(str(run))
    trajectories, verdicts = opened.frames(text=False)
    abouts = opened.judges(verdicts)
    present = {judge: about for judge, about in abouts.items() if (verdicts["judge_id"] == judge).any()}
    own = {judge: present[judge] for judge in chosen(present, judges)}
    changed = changed_views(opened.trajectories().values(), seed_of(opened.manifest))
    frame = tidy(trajectories, verdicts, own, changed)
    return Bench(frame, own, opened.name, opened.verdict_checksum(), reps, seed)


def members(run: str | Path | Run) -> dict[tuple[str, str], list[tuple[bool, float]]]:
    """What the members of ensembles said, by (judge, trajectory): flagged, and stated confidence; where kept."""
    opened = run if isinstance(run, Run) else Run.open(run)
    return {
        (verdict.judge_id, verdict.trajectory_id): [(member.faulty, member.confidence) for member in verdict.members]
        for verdict in opened.verdicts()
        if verdict.members
    }
