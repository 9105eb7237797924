"""Which files of this package a piece of code depends on, so that a notebook is executed again only for its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from lib import ROOT


def files_behind(code: str, root: Path = ROOT) -> list[Path]:
    """The package's files that ``code`` imports, directly or through others, sorted."""
    found: set[Path] = set()
    waiting = [code]
    while waiting:
        for path in _imported(waiting.pop(), root):
            if path not in found:
                found.add(path)
                waiting.append(path.read_text(encoding="utf-8"))
    return sorted(found)


def _imported(code: str, root: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "lib":
                yield from _files(name, root)


def _files(module: str, root: Path) -> Iterator[Path]:
    """A module's file and those of the packages around it; nothing for a name that is not a module."""
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:depth])
        yield from (path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file())
