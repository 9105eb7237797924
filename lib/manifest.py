"""``run.json``: what was judged and by what."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lib.errors import UserError
from lib.jsonl import BOM, Problem, loads

NAME = "run.json"
COLLECTIONS = "collections"


def read(folder: Path) -> dict[str, Any]:
    """The manifest of a run, whatever its shape. Raises UserError where it is not a JSON object."""
    path = folder / NAME
    try:
        value = loads(path.read_bytes().removeprefix(BOM))
    except Problem as problem:
        raise UserError(f"{path}: {problem}. Restore the file, for example from version control.") from problem
    if not isinstance(value, dict):
        raise UserError(f"{path}: a JSON object is expected, not a {type(value).__name__}. Restore the file.")
    if not isinstance(value.get("judges", {}), dict):
        raise UserError(f"{path}, field judges: an object from judge id to settings is expected. Restore the file.")
    return value


def write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Replace the manifest in one step: a reader sees the old one or the new one, never half of either."""
    text = json.dumps(manifest, indent=2, allow_nan=False) + "\n"
    replace(folder / NAME, text.encode("ascii"))


def replace(path: Path, data: bytes) -> None:
    """Write a whole file in one step, safe against a kill or a power cut."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


def with_judge(
    manifest: Mapping[str, Any], judge_id: str, settings: Mapping[str, Any], collection: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The manifest with a judge recorded.

    Args:
        settings: what makes the judge's verdicts what they are (model, digest, decoding, checksums): compared.
        collection: when and where it ran (date, machine): appended to the judge's list, never compared.

    Raises:
        UserError: the id is recorded with other settings; each field that differs is named with both values.
    """
    new = json.loads(json.dumps(dict(settings), allow_nan=False))
    judges = dict(manifest.get("judges", {}))
    recorded = judges.get(judge_id, new)
    collections = list(recorded.get(COLLECTIONS, []))
    old = {key: value for key, value in recorded.items() if key != COLLECTIONS}
    changes = differences(old, new)
    if changes:
        raise UserError(
            f"Judge {judge_id} is recorded in {NAME} with other settings:\n"
            + "\n".join(f"  {line}" for line in changes)
            + "\nVerdicts of one judge must come from one setting: use the recorded settings, or collect into another"
            " run (a copy of the folder without this judge's verdicts, or a new one made with `python -m lib dataset`)."
        )
    if collection is not None:
        collections.append(json.loads(json.dumps(dict(collection), allow_nan=False)))
    judges[judge_id] = new | ({COLLECTIONS: collections} if collections else {})
    return {**manifest, "judges": judges}


def differences(old: Any, new: Any, field: str = "") -> list[str]:
    """Where two JSON values differ: one line a field, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        inside = [
            differences(old.get(key, _ABSENT), new.get(key, _ABSENT), f"{field}.{key}" if field else key)
            for key in dict.fromkeys([*old, *new])
        ]
        return [line for lines in inside for line in lines]
    if old == new and isinstance(old, bool) == isinstance(new, bool):
        return []
    return [f"{field}: recorded {_show(old)}, now {_show(new)}"]


_ABSENT = object()


def _show(value: Any) -> str:
    return "absent" if value is _ABSENT else json.dumps(value)
