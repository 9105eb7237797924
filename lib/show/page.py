"""How a notebook begins and ends: whose verdicts it shows, and where they come from."""

from __future__ import annotations

import ast
from html import escape
from itertools import pairwise
from typing import Any

from IPython import get_ipython

from lib.errors import UserError
from lib.show.sentence import Said, say
from lib.show.style import judges
from lib.show.trajectory import Html

INJECTED = "# Parameters\n"  # how papermill begins the cell of the parameters that it was given


def page(bench: Any) -> Said:
    """Say whose verdicts this notebook shows, and give each judge its colour in all of its charts.

    Args:
        bench: what ``bench.open`` gave.

    Raises:
        UserError: papermill was given a parameter that the notebook does not have.
    """
    shell = get_ipython()
    refuse_unknown(shell.user_ns.get("In", []) if shell else [])
    judges(bench.about)
    models = list(dict.fromkeys(about.model for about in bench.about.values() if about.model))
    return say(
        "Verdicts on {n:n} {unit}, from the run {run:code}: {who:code}.",
        n=bench.verdicts["trajectory"].nunique(),
        unit=bench.registry.unit,
        run=bench.name,
        who=models or list(bench.about),
    )


def refuse_unknown(cells: list[str]) -> None:
    """Refuse a parameter that papermill put into a cell of its own, and the cell before it does not set.

    Args:
        cells: the sources of the cells that have run, in their order.
    """
    for before, cell in pairwise(cells):
        if cell.startswith(INJECTED):
            known = _names(before)
            if unknown := [name for name in _names(cell) if name not in known]:
                raise UserError(f"There is no parameter {', '.join(unknown)} here. There are: {', '.join(known)}.")


def source(bench: Any) -> Html:
    """One folded line: the run, and the SHA-256 of the verdicts that this page was computed from."""
    told = f"The run {bench.name}: verdicts.jsonl has SHA-256 {bench.checksum}"
    html = (
        f'<details class="provenance"><summary>Where these numbers come from</summary><p>{escape(told)}</p></details>'
    )
    return Html(html, told)


def _names(cell: str) -> list[str]:
    targets = [target for node in ast.parse(cell).body if isinstance(node, ast.Assign) for target in node.targets]
    return [target.id for target in targets if isinstance(target, ast.Name)]
