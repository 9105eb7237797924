"""What the judges of a run were shown, the clean parent of every mutant beside it, and the ceiling that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import pandas as pd

from lib.analysis.ceiling import Ceiling, ceiling
from lib.desk.parents import Parents, clean_parents, seed_of
from lib.judging.prompts import render_view
from lib.records import Sees, Trajectory, cell_of, view_of
from lib.run.folder import Run

FIELDS = ("trajectory_id", "text", "faulty", "cell")


class Views(NamedTuple):
    """A run's trajectories with their parents.

    Attributes:
        runs: the run's trajectories by id.
        parents: the clean parents, and where they are from.
    """

    runs: dict[str, Trajectory]
    parents: Parents

    def ceiling(self, kind: Sees, judged: Collection[str] | None = None) -> Ceiling | None:
        """The ceiling of a view over the trajectories ``judged`` (all when None) with the parents of their mutants.

        None where a parent is not known: its mutant might have a twin that nobody sees.
        """
        shown = list(self.runs.values()) if judged is None else [self.runs[name] for name in judged]
        hosts = {t.instance_id for t in shown if t.label.faulty}
        if not hosts <= set(self.parents.by_instance):
            return None
        present = {t.trajectory_id for t in shown}
        parents = [self.parents.by_instance[host] for host in sorted(hosts)]
        return ceiling(_frame([*shown, *(p for p in parents if p.trajectory_id not in present)], kind))

    def provenance(self) -> str:
        """One sentence on where the parents are from."""
        own, made, told, missing = self.parents[1:5]
        parts = [f"{own} are clean trajectories of this run"] if own else []
        parts += [f"{made} are made anew by the oracle, whose words this run speaks"] if made else []
        if told:
            tested = f"{self.parents.matched} of {self.parents.checked} clean trajectories retold that way come out"
            parts.append(f"{told} are made anew and told in the words of this run ({tested} exactly as they stand)")
        parts += [f"{missing} are not known"] if missing else []
        return f"Of the parents of the {own + made + told + missing} mutants, {', '.join(parts) or 'there are none'}."


def views_of(run: Run) -> Views:
    """The views of a run."""
    runs = run.trajectories()
    return Views(runs, clean_parents(runs.values(), seed_of(run.manifest)))


def _frame(runs: Iterable[Trajectory], kind: Sees) -> pd.DataFrame:
    steps = kind == "step"
    rows = [(t.trajectory_id, render_view(view_of(t, steps=steps)), t.label.faulty, cell_of(t.label)) for t in runs]
    return pd.DataFrame(rows, columns=list(FIELDS))
