"""Published figures beside ours: is each reproduced, to the digits that were printed?

The paper resamples rows within its design cells. So does this comparison, and nothing else in the book.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from lib.analysis.bench import Bench
from lib.analysis.estimates import Estimate
from lib.analysis.resample import percentile_interval, replicates
from lib.analysis.shares import LEVEL, Floats, codes
from lib.errors import UserError

BOUND_TOLERANCE = 0.015
"""Two bootstraps of one quantity differ by chance: how far their bounds may lie apart."""

EPISODES = "episodes:"
FIELDS = ["judge", "metric", "part", "ours", "published", "digits", "reproduced", "where"]


def published_comparison(
    bench: Bench, figures: pd.DataFrame, episodes: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Our value for every published figure whose judge (pair, or episodes) is in the run.

    Args:
        figures: ``data/reference/trajectory_judge_figures.csv`` read as text (``dtype=str``), since the printed
            digits are what is compared.
        episodes: values of the run's episodes by metric; None leaves their rows out.

    Returns:
        Frame judge, metric, part (value, low, high), ours, published (as printed), digits, reproduced, where.
        A value is reproduced when it rounds to the printed one, a bound when it is within BOUND_TOLERANCE or one
        step of that proportion's grid (1/n), whichever is larger.

    Raises:
        UserError: figures that were not read as text.
    """
    if figures["value"].map(type).ne(str).any():
        raise UserError("published figures must be read as text: pandas.read_csv(path, dtype=str)")
    drawn = _Drawn(bench)
    rows = []
    for figure in figures.to_dict("records"):
        judge, metric = str(figure["judge"]), str(figure["metric"])
        if judge.startswith(EPISODES):
            if episodes is None:
                continue
            ours = Estimate(float(episodes[metric]), n=int(episodes["episodes"]))
        else:
            a, _, b = judge.partition(" minus ")
            if not {a, b or a} <= set(bench.about):
                continue
            ours = drawn.estimate(metric, a, b)
        tolerance = max(BOUND_TOLERANCE, 1 / ours.n if ours.n else 0.0) + 1e-9
        for part in ("value", "low", "high"):
            printed = figure[part]
            if not isinstance(printed, str) or not printed:
                continue
            digits = len(printed.partition(".")[2])
            off = abs(getattr(ours, part) - float(printed))
            close = off <= (0.5 * 10.0**-digits + 1e-9 if part == "value" else tolerance)
            rows.append([judge, metric, part, getattr(ours, part), printed, digits, bool(close), figure["where"]])
    return pd.DataFrame(rows, columns=FIELDS)


def is_papers_run(bench: Bench, figures: pd.DataFrame) -> bool:
    """Whether a run has every judge that the paper reports; only then are its figures to come out again."""
    single = {judge for judge in figures["judge"] if not judge.startswith(EPISODES) and " minus " not in judge}
    return single <= set(bench.about)


class _Drawn:
    """Every metric of each judge by the paper's method: replicates of rows within cells, drawn when asked for."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.known: dict[str, tuple[dict[str, Floats], dict[str, Floats], dict[str, Floats]]] = {}

    def estimate(self, metric: str, a: str, b: str = "") -> Estimate:
        """A metric of ``a``, or that of ``a`` minus that of ``b``."""
        values, drawn, sums = self._judge(a)
        entry = self.bench.registry.metrics[metric]
        n = int(sums[entry.below].item())
        value, own = float(values[metric].item()), drawn[metric]
        if b:
            other_values, other_drawn, _ = self._judge(b)
            value, own = value - float(other_values[metric].item()), own - other_drawn[metric]
        elif entry.kind == "share" and np.ptp(own) == 0:
            low, high = proportion_confint(sums[entry.above].item(), n, alpha=1 - LEVEL, method="beta")
            return Estimate(value, float(low), float(high), n)
        low, high = percentile_interval(own)
        return Estimate(value, float(low), float(high), n)

    def _judge(self, judge: str) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, Floats]]:
        if judge not in self.known:
            bench = self.bench
            rows = bench.verdicts[bench.verdicts["judge"] == judge]
            columns = bench.registry.columns(rows)
            table = np.array(list(columns.values()))

            def statistic(sums: Floats) -> Floats:
                return np.array(list(bench.registry.values(dict(zip(columns, sums, strict=True))).values()))

            design = codes(rows["cell"]), codes(rows["instance"])
            drawn = replicates(table, *design, statistic, bench.reps, bench.seed, within_cells=True)
            sums = dict(zip(columns, table.sum(axis=1, keepdims=True), strict=True))
            values = bench.registry.values(sums)
            self.known[judge] = values, dict(zip(values, drawn, strict=True)), sums
        return self.known[judge]
