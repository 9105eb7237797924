"""What a run holds, counted: the answer to ``python -m lib check``."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from lib.records import STRATA
from lib.run.folder import Run, checksum
from lib.run.manifest import NAME


class JudgeCounts(NamedTuple):
    """A judge's verdicts in a run: how many, how many are missing, and of which status."""

    judge_id: str
    n: int
    missing: int
    statuses: dict[str, int]
    recorded: bool


class Inspection(NamedTuple):
    """A sound run in numbers; ``notes`` are what a reader should know, in words."""

    folder: str
    n_trajectories: int
    cells: dict[str, int]
    strata: dict[str, int]
    judges: list[JudgeCounts]
    n_episodes: int
    n_failures: int
    checksums: dict[str, str]
    notes: list[str]

    def __str__(self) -> str:
        """Lines for a terminal."""
        return "\n".join(
            [
                f"run {self.folder}: {self.n_trajectories} trajectories",
                *_block("cells", self.cells),
                *_block("strata", self.strata),
                "judges" if self.judges else "judges: none yet",
                *(f"  {_judge_line(judge)}" for judge in self.judges),
                f"episodes: {self.n_episodes}",
                f"transport failures: {self.n_failures}",
                *_block("SHA-256", self.checksums),
                *(f"note: {note}" for note in self.notes),
            ]
        )


def check(run: Run) -> Inspection:
    """Validate every file of a run and count what is in it. Raises UserError naming what is broken."""
    trajectories, verdicts = run.frames(text=False)
    files = [path for path in sorted(run.folder.glob("*.jsonl")) if path.is_file()]
    checksums = {path.name: checksum(path) for path in [run.folder / NAME, *files]}
    judges = [
        _count(judge, verdicts[verdicts["judge_id"] == judge], len(trajectories), settings is not None)
        for judge, settings in run.judges(verdicts).items()
    ]
    notes = [f"{judge.judge_id} has no settings in {NAME}" for judge in judges if not judge.recorded]
    if run.altered:
        notes.append(f"trajectories.jsonl is not, byte for byte, the file that {NAME} records")
    return Inspection(
        folder=str(run.folder),
        n_trajectories=len(trajectories),
        cells=trajectories["cell"].value_counts().sort_index().to_dict(),
        strata=_strata(trajectories),
        judges=judges,
        n_episodes=len(run.episodes()),
        n_failures=len(run.failures()),
        checksums=checksums,
        notes=notes,
    )


def _count(judge_id: str, verdicts: pd.DataFrame, n_trajectories: int, recorded: bool) -> JudgeCounts:
    statuses = verdicts["status"].value_counts().to_dict()
    return JudgeCounts(judge_id, len(verdicts), n_trajectories - len(verdicts), statuses, recorded)


def _strata(trajectories: pd.DataFrame) -> dict[str, int]:
    counts = trajectories["stratum"].value_counts()
    unknown = int(trajectories["stratum"].isna().sum())
    known = {stratum: int(counts[stratum]) for stratum in STRATA if stratum in counts}
    return known | ({"(of another making)": unknown} if unknown else {})


def _block(title: str, values: dict[str, int] | dict[str, str]) -> list[str]:
    return [title, *(f"  {name}: {value}" for name, value in values.items())]


def _judge_line(judge: JudgeCounts) -> str:
    other = [f"{count} {status}" for status, count in judge.statuses.items() if status != "ok"]
    missing = [f"{judge.missing} missing"] if judge.missing else []
    settings = [] if judge.recorded else ["no settings recorded"]
    return f"{judge.judge_id}: {', '.join([f'{judge.n} verdicts', *other, *missing, *settings])}"
