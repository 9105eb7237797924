"""``run.json``: what was judged and by what."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from lib.errors import COMMAND, UserError
from lib.records import About, judge_id_fault
from lib.run.lines import BOM, Problem, convert, loads, opened, writing

NAME = "run.json"
COLLECTIONS = "collections"


class _Entry(Struct):
    about: About | UnsetType = UNSET
    collections: list[dict[str, Any]] = []


class _Shape(Struct):
    """What is read of a manifest; whatever else is in it stays."""

    dataset: dict[str, Any] = {}
    judges: dict[str, dict[str, Any]] = {}
    episodes: _Entry | UnsetType = UNSET
    study: str | UnsetType = UNSET


def read(folder: Path) -> dict[str, Any]:
    """The manifest of a run. Raises UserError where it is not JSON, or a field that is read is of another shape."""
    path = folder / NAME
    with opened(path) as file:
        raw = file.read().removeprefix(BOM)
    try:
        value: dict[str, Any] = loads(raw)
        for judge, entry in convert(value, _Shape).judges.items():
            _check_judge(judge, entry)
    except Problem as problem:
        raise UserError(f"{path}: {problem}. Correct the file, or restore it from version control.") from problem
    return value


def _check_judge(judge: str, entry: dict[str, Any]) -> None:
    if fault := judge_id_fault(judge):
        raise Problem("judges", f"the id {fault}")
    try:
        convert(entry, _Entry)
    except Problem as problem:
        raise Problem(f"judges.{judge}", str(problem)) from problem


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
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:
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
    new = json.loads(json.dumps(dict(settings), allow_nan=False))
    old = new if recorded is None else {key: value for key, value in recorded.items() if key != COLLECTIONS}
    if changes := differences(old, new):
        raise UserError(
            f"{who} is recorded in {NAME} with other settings:\n"
            + "\n".join(f"  {line}" for line in changes)
            + "\nWhat one judge gives must come from one setting: use the recorded settings, or collect into another"
            f" run (make one with `{COMMAND} dataset --out DIR`)."
        )
    starts = [*(recorded or {}).get(COLLECTIONS, []), *([] if collection is None else [collection])]
    return {**old, COLLECTIONS: starts} if starts else dict(old)


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
