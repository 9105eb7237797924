"""``python -m lib.book.refresh [NOTEBOOK …]``: execute notebooks in place, two at once; without names, all of them."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from lib import ROOT
from lib.book.publish import publish
from lib.errors import UserError


def refresh(notebook: Path) -> Path:
    """Execute a notebook with its own parameters and store what it shows."""
    publish(notebook, notebook, {})
    return notebook


def committed() -> list[Path]:
    """Every notebook of the repository."""
    return sorted((ROOT / "notebooks").rglob("*.ipynb"))


def main() -> None:
    """Refresh the notebooks that are named on the command line."""
    chosen = [Path(name) for name in sys.argv[1:]] or committed()
    try:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            for done in pool.map(refresh, chosen):
                print(done)
    except UserError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
