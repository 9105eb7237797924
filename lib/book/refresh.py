"""``python -m lib.book.refresh [NOTEBOOK …]``: execute notebooks in place; without names, all of them.

The README's answer and figure follow those of the first page.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lib.book import readme
from lib.book.notebooks import NOTEBOOKS, Page, execute_all
from lib.errors import UserError
from lib.released import WITHOUT


def main() -> None:
    """Store what the notebooks show that are named on the command line, two executed at once."""
    os.environ[WITHOUT] = "1"
    chosen = [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb"))
    try:
        execute_all([Page(notebook, notebook) for notebook in chosen])
        readme.write()
    except UserError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
