"""Intervals hold the truth as often as they say: the published table, and one of its rows simulated anew."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib import REFERENCE
from lib.analysis.shares import shares


def test_no_row_of_the_published_table_is_under_the_aim() -> None:
    table = pd.read_csv(REFERENCE / "coverage.csv")
    assert len(table) >= 50
    assert (table["as here"] >= 0.93).all()
    shared = table["simulated"].str.startswith("text, p 0.33") & table["simulated"].str.contains("pooled|silent")
    assert (table.loc[shared, "rows resampled"] < 0.93).all()


def test_equal_verdicts_on_a_unit_of_four_are_covered_and_counted_as_rows_they_are_not() -> None:
    rng, n, simulations, p = np.random.default_rng(3), 160, 600, 0.3
    unit = np.arange(n) // 4
    flagged = np.repeat((rng.random((n // 4, simulations)) < p).astype(float), 4, axis=0)
    side, cell = np.ones((n, simulations)), np.zeros(n, int)
    by_unit, by_row = (shares(flagged, side, cell, units) for units in (unit, np.arange(n)))
    held = [((found.low <= p) & (p <= found.high)).mean() for found in (by_unit, by_row)]
    assert held[0] > 0.925
    assert held[1] < 0.8
