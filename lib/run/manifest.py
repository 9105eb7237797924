"""``run.json``: what was judged and by what."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lib.errors import COMMAND, UserError
from lib.records import judge_id_fault
from lib.run.lines import BOM, Problem, loads, writing

NAME = "run.json"
COLLECTIONS = "collections"


def read(folder: Path) -> dict[str, Any]:
    """The manifest of a run, whatever its shape. Raises UserError where it is not a JSON object."""
    path = folder / NAME
    try:
        value = loads(path.read_bytes().removeprefix(BOM))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}).") from error
    except Problem as problem:
        raise UserError(f"{path}: {problem}. Restore the file, for example from version control.") from problem
    if not isinstance(value, dict):
        raise UserError(f"{path}: a JSON object is expected, not a {type(value).__name__}. Restore the file.")
    for field, expected in _shapes(value):
        raise UserError(f"{path}, field {field}: {expected} is expected. Restore the file.")
    for judge in value.get("judges", {}):
        if fault := judge_id_fault(judge):
            raise UserError(f"{path}, field judges: the id {fault}. Correct the file.")
    return value


def _shapes(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is not of the shape that is read from it: the field, and what is expected there."""
    judges = value.get("judges", {})
    if not isinstance(judges, dict) or not all(isinstance(settings, dict) for settings in judges.values()):
        yield "judges", "an object from judge id to settings"
        return
    if not isinstance(value.get("dataset", {}), dict):
        yield "dataset", "an object with the seed and size of the data set"
    if not isinstance(value.get("episodes", {}), dict):
        yield "episodes", "an object with the agent's settings"
    entries = {f"judges.{judge}": entry for judge, entry in judges.items()} | {"episodes": value.get("episodes", {})}
    for name, entry in entries.items():
        collections = entry.get(COLLECTIONS, []) if isinstance(entry, dict) else []
        if not isinstance(collections, list) or not all(isinstance(one, dict) for one in collections):
            yield f"{name}.{COLLECTIONS}", "a list of objects"


def write(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Replace the manifest in one step: a reader sees the old one or the new one, never half of either.

    Raises UserError when the disk refuses it.
    """
    text = json.dumps(manifest, indent=2, allow_nan=False) + "\n"
    with writing(folder / NAME):
        replace(folder / NAME, text.encode("ascii"))


def replace(path: Path, data: bytes) -> None:
    """Write a whole file in one step, safe against a kill or a power cut. Raises OSError, and leaves nothing behind."""
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def registered(
    recorded: Mapping[str, Any] | None, settings: Mapping[str, Any], collection: Mapping[str, Any] | None, who: str
) -> dict[str, Any]:
    """The entry of a judge (or of the episodes' agent) with one more collection.

    Args:
        recorded: its entry so far, None if it is new.
        settings: what makes its output what it is (model, digest, decoding, checksums): compared.
        collection: when and where this collection runs (date, machine): appended to ``collections``, never compared.
        who: its name in an error.

    Raises:
        UserError: recorded with other settings; each field that differs is named with both values.
    """
    new = _plain(settings)
    old = new if recorded is None else {key: value for key, value in recorded.items() if key != COLLECTIONS}
    if changes := differences(old, new):
        raise UserError(
            f"{who} is recorded in {NAME} with other settings:\n"
            + "\n".join(f"  {line}" for line in changes)
            + "\nWhat one judge gives must come from one setting: use the recorded settings, or collect into another"
            f" run (make one with `{COMMAND} dataset --out DIR`)."
        )
    collections = [*(recorded or {}).get(COLLECTIONS, []), *([] if collection is None else [_plain(collection)])]
    return old | ({COLLECTIONS: collections} if collections else {})


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


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    return plain


def _show(value: Any) -> str:
    return "absent" if value is _ABSENT else json.dumps(value)
