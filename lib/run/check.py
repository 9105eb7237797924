"""What a run holds, counted: the answer to ``python -m lib check``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lib.run import manifest
from lib.run.folder import Run, checksum


class Inspection(NamedTuple):
    """A sound run in numbers.

    Attributes:
        counts: by column of the items, how many have each value.
        judges: by judge, its verdicts by status, with those that are ``missing``.
        records: how many of each other kind of record.
        checksums: SHA-256 by file; ``notes``: what a reader should know, in words.
    """

    folder: str
    study: str
    n_items: int
    counts: dict[str, dict[str, int]]
    judges: dict[str, dict[str, int]]
    records: dict[str, int]
    checksums: dict[str, str]
    notes: list[str]

    def __str__(self) -> str:
        """Lines for a terminal."""
        judges = {judge: _listed(statuses) for judge, statuses in self.judges.items()}
        blocks: dict[str, Mapping[str, Any]] = {
            **{f"by {name}": counts for name, counts in self.counts.items()},
            "judges": judges,
            "SHA-256": self.checksums,
        }
        return "\n".join(
            [
                f"run {self.folder}: {self.n_items} {self.study}",
                *(f"{name}: {n}" for name, n in self.records.items()),
                *(line for title, values in blocks.items() for line in _block(title, values)),
                *(f"note: {note}" for note in self.notes),
            ]
        )


def check(run: Run) -> Inspection:
    """Validate every file of a run and count what is in it. Raises UserError naming what is broken."""
    items, verdicts = run.frames(text=False)
    recorded = run.manifest.get("judges", {})
    # Where a judge may say several things of an item, how many are missing is not the folder's to know.
    expected = len(items) if len(run.study.verdicts.key) == 2 else 0
    judges = {judge: _statuses(verdicts[verdicts["judge_id"] == judge], expected) for judge in run.judges(verdicts)}
    files = [manifest.NAME, *sorted(path.name for path in run.folder.glob("*.jsonl"))]
    notes = [f"{judge} has no settings in {manifest.NAME}" for judge in judges if judge not in recorded]
    notes += [f"{name} is not, byte for byte, the file that {manifest.NAME} records" for name in run.altered]
    others = {Path(kind.file).stem: len(run.records(kind)) for kind in run.study.others}
    return Inspection(
        folder=str(run.folder),
        study=run.study.name,
        n_items=len(items),
        counts={name: _counted(items[name], order) for name, order in run.study.counted.items()},
        judges=judges,
        records={**others, "failures": len(run.failures())},
        checksums={name: checksum(run.folder / name) for name in files},
        notes=notes,
    )


def _statuses(verdicts: pd.DataFrame, expected: int) -> dict[str, int]:
    counts = {str(status): int(n) for status, n in verdicts["status"].value_counts().items()}
    return counts | ({"missing": expected - len(verdicts)} if len(verdicts) < expected else {})


def _counted(values: pd.Series, order: Any) -> dict[str, int]:
    counts = {str(value): int(n) for value, n in values.value_counts().sort_index().items()}
    unknown = int(values.isna().sum())
    known = {value: counts[value] for value in order or counts if value in counts}
    return known | ({"(of another making)": unknown} if unknown else {})


def _block(title: str, values: Mapping[str, Any]) -> list[str]:
    return [title, *(f"  {name}: {value}" for name, value in values.items())] if values else [f"{title}: none yet"]


def _listed(statuses: Mapping[str, int]) -> str:
    n = sum(count for status, count in statuses.items() if status != "missing")
    return ", ".join([f"{n} verdicts", *(f"{count} {status}" for status, count in statuses.items() if status != "ok")])
