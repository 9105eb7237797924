"""What a notebook shows: of the stored outputs, or after an execution on another run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat

from lib.book.notebooks import NOTEBOOKS, executed

ALL = sorted(NOTEBOOKS.glob("*.ipynb"))


class Shown:
    """The outputs of a notebook."""

    def __init__(self, notebook: Any) -> None:
        self.outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]

    @property
    def values(self) -> dict[str, Any]:
        """What ``show.say`` put into its sentences, by the name of the field."""
        return {k: v for out in self.outputs for k, v in out.get("metadata", {}).get("values", {}).items()}

    @property
    def complaints(self) -> list[Any]:
        """Errors and warnings."""
        return [out for out in self.outputs if out.output_type == "error" or out.get("name") == "stderr"]

    @property
    def text(self) -> str:
        return "\n".join(out.get("text") or out.get("data", {}).get("text/plain", "") for out in self.outputs)


def stored(name: str) -> Shown:
    """What is committed of a notebook."""
    return Shown(nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4))


def run_on(source: Path, run: Path | str, **parameters: Any) -> Shown:
    """A notebook on a run; few replicates, since no interval is looked at."""
    return Shown(executed(source, {"run": str(run), "reps": 100, **parameters}))
