"""How often 95 % intervals hold the truth, with the functions that the book uses: before (rows resampled) and after.

    python benchmarks/coverage.py

writes data/reference/coverage.csv, which the methods page shows.
Judges are simulated on the paper's 400 trajectories. In the outcome view equal texts get equal verdicts (241 different
texts); in the step view every trajectory is a text of its own. The recall of each design cell is set, so that the truth
is known. ``before`` is the percentile bootstrap of rows within cells, with exact bounds where no replicate moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from lib import REFERENCE, RUNS
from lib.analysis.resample import percentile_interval, replicates
from lib.analysis.shares import Floats, codes, shares
from lib.run.folder import Run

SIMULATIONS, BEFORE, REPS = 1_000, 100, 300
AT_ONCE = 50
AIM = 0.93
TABLE = REFERENCE / "coverage.csv"
COLUMNS = ["simulated", "rows resampled", "as here", "mean width"]


@dataclass(frozen=True)
class Design:
    """Trajectories: sides (faults, silent, loud, clean as columns), cell, instance, and text in the outcome view."""

    sides: Floats
    cell: np.ndarray
    instance: np.ndarray
    text: np.ndarray

    def first(self, n: int) -> Design:
        return Design(self.sides[:n], codes(self.cell[:n]), codes(self.instance[:n]), codes(self.text[:n]))


def paper() -> Design:
    run = Run.open(RUNS / "paper")
    labels, texts = run.frames(text=False).trajectories, run.trajectories()
    faulty, correct = labels["faulty"].to_numpy(bool), labels["outcome_correct"].to_numpy(bool)
    sides = np.column_stack([faulty, faulty & correct, faulty & ~correct, ~faulty]).astype(float)
    shown = [f"{texts[name].goal}\n{texts[name].final_answer}" for name in labels["trajectory_id"]]
    return Design(sides, codes(labels["cell"]), codes(labels["instance_id"]), codes(shown))


Flags = Callable[[np.random.Generator], Floats]


def by_text(design: Design, p: float) -> Flags:
    """A judge that flags each text with chance p."""
    return lambda rng: (rng.random(design.text.max() + 1) < p)[design.text].astype(float)


def by_row(design: Design, p: float | Floats) -> Flags:
    """A judge that flags each trajectory with its own chance."""
    return lambda rng: (rng.random(len(design.text)) < p).astype(float)


def half_by_row(design: Design, p: float) -> Flags:
    """A judge that follows the text half the time, and the trajectory otherwise."""

    def draw(rng: np.random.Generator) -> Floats:
        rows, texts = rng.random(len(design.text)) < p, (rng.random(design.text.max() + 1) < p)[design.text]
        return np.where(rng.random(len(design.text)) < 0.5, rows, texts).astype(float)

    return draw


def coverage(
    design: Design, judges: list[Flags], weights: list[list[float]], truth: float
) -> tuple[float, float, float]:
    """Shares of simulations whose interval holds the truth, before and after, and the mean width after.

    Args:
        weights: of recall, silent and loud recall and false-alarm rate, for each judge.
    """
    weight = np.concatenate(weights)
    used = weight != 0
    below = np.tile(design.sides, len(judges))[:, used]
    held, held_before, width = 0, 0, 0.0
    for start in range(0, SIMULATIONS, AT_ONCE):
        drawn = [_drawn(design, judges, start + number)[:, used] for number in range(AT_ONCE)]
        found = shares(np.hstack(drawn), np.tile(below, AT_ONCE), design.cell, design.instance)
        for number, above in enumerate(drawn):
            own = np.zeros(AT_ONCE * used.sum())
            own[number * used.sum() : (number + 1) * used.sum()] = weight[used]
            _, low, high = found.combination(own)
            held += low - 1e-9 <= truth <= high + 1e-9
            width += high - low
            if start + number < BEFORE:
                low, high = rows_resampled(design, above, below, weight[used], start + number)
                held_before += low - 1e-9 <= truth <= high + 1e-9
    return held_before / BEFORE, held / SIMULATIONS, width / SIMULATIONS


def _drawn(design: Design, judges: list[Flags], number: int) -> Floats:
    rng = np.random.default_rng([7, number])
    return np.column_stack([design.sides * judge(rng)[:, None] for judge in judges])


def rows_resampled(design: Design, above: Floats, below: Floats, weight: Floats, seed: int) -> tuple[float, float]:
    n = below.sum(axis=0)
    rows = np.arange(len(design.text))
    drawn = replicates(above.T, design.cell, rows, lambda sums: (weight / n @ sums)[None], REPS, seed)
    low, high = percentile_interval(drawn)
    if np.ptp(drawn) < 1e-12 and n.size == 1:
        low, high = proportion_confint(above.sum(axis=0), n, method="beta")
    return float(low[0]), float(high[0])


POOLED, SILENT, LOUD, CLEAN = np.eye(4).tolist()
NOTHING = [0.0] * 4
GAP, J = [0, -1, 1, 0], [1, 0, 0, -1]


def minus(weights: list[float]) -> list[float]:
    return [-weight for weight in weights]


def cells_at(design: Design, low: float, high: float) -> Floats:
    """A chance for each design cell, spread from low to high."""
    return np.linspace(low, high, design.cell.max() + 1)[design.cell]


def main() -> None:
    whole = paper()
    part = whole.first(200)
    lots = cells_at(whole, 0.96, 0.98)
    true_loud = float(lots[whole.sides[:, 2] > 0].mean())
    never = by_row(part, 0.0)
    step, text = by_row(whole, 0.33), by_text(whole, 0.33)
    scenes = [
        ("text, p 0.33: pooled recall", whole, [text], [POOLED], 0.33),
        ("text, p 0.33: silent recall", whole, [text], [SILENT], 0.33),
        ("text, p 0.33: loud recall", whole, [text], [LOUD], 0.33),
        ("text, p 0.33: false-alarm rate", whole, [text], [CLEAN], 0.33),
        ("text, p 0.33: gap loud − silent", whole, [text], [GAP], 0.0),
        ("text, p 0.33: Youden's J", whole, [text], [J], 0.0),
        ("views, p 0.33: difference, silent", whole, [step, text], [SILENT, minus(SILENT)], 0.0),
        ("views, p 0.33: difference of J", whole, [step, text], [J, minus(J)], 0.0),
        ("half text, p 0.33: silent recall", whole, [half_by_row(whole, 0.33)], [SILENT], 0.33),
        ("rows, n 152, p 0.02: pooled recall", part, [by_row(part, 0.02)], [POOLED], 0.02),
        ("rows, n 66, p 0.05: loud recall", part, [by_row(part, 0.05)], [LOUD], 0.05),
        ("rows, n 125, cells 0.96–0.98: loud recall", whole, [by_row(whole, lots)], [LOUD], true_loud),
        ("rows, one side never: difference of J", part, [by_row(part, 0.05), never], [J, minus(J)], 0.0),
        ("rows, one side never: difference, p 0.2", part, [by_row(part, 0.2), never], [J, minus(J)], 0.0),
        *(
            (f"{name}, p {p}: {what} recall", whole, [kind(whole, p)], [weights], p)
            for name, kind in (("text", by_text), ("rows", by_row))
            for p in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
            for what, weights in (("pooled", POOLED), ("silent", SILENT), ("loud", LOUD))
        ),
    ]
    table = []
    for name, design, judges, weights, truth in scenes:
        table.append([name, *(f"{share:.3f}" for share in coverage(design, judges, weights, truth))])
        print("  ".join([f"{name:45}", *table[-1][1:]]), flush=True)
    missed = [row[0] for row in table if float(row[2]) < AIM]
    print(f"under {AIM}: {'; '.join(missed) or 'none'}")
    pd.DataFrame(table, columns=COLUMNS).to_csv(TABLE, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
