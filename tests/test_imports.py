"""Rooms import in one direction: the hall by all, a run on disk without any study, worlds without judges, and so on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lib import ROOT

HALL = {"lib", "lib.errors", "lib.records", "lib.trajectories", "lib.visible"}
# What each room may import besides the hall and itself.
ROOMS: dict[str, set[str]] = {
    "lib.run": set(),
    "lib.desk": set(),
    "lib.plans": {"lib.run", "lib.analysis"},
    "lib.judging": {"lib.run", "lib.desk", "lib.plans"},
    "lib.analysis": {"lib.run"},
    "lib.show": set(),
}


def room_of(name: str) -> str:
    return ".".join(name.split(".")[:2])


def imported(path: Path) -> Iterator[str]:
    """Modules of ours that a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if room_of(alias.name).startswith("lib"))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lib":
            whole = node.module == "lib"
            yield from (f"lib.{alias.name}" if whole and is_room(alias.name) else node.module for alias in node.names)


def is_room(name: str) -> bool:
    return (ROOT / "lib" / name).is_dir() or (ROOT / "lib" / f"{name}.py").is_file()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    allowed = ROOMS[room] | {room}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((ROOT / room.replace(".", "/")).rglob("*.py"))
        for name in imported(path)
        if name not in HALL and room_of(name) not in allowed
    ]
    assert not wrong


def test_the_hall_imports_no_room_but_the_run_whose_files_it_describes() -> None:
    for name in HALL - {"lib"}:
        path = ROOT / f"{name.replace('.', '/')}.py"
        assert {room_of(found) for found in imported(path)} <= {*HALL, "lib.run"}, name
