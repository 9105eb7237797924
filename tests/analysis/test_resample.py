"""The bootstrap: units drawn together, cells kept, the same replicates whatever else is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lib.analysis.resample import distinct_units, percentile_interval, replicates, unit_weights
from lib.analysis.shares import shares

RNG = np.random.default_rng(5)
CELL = np.repeat([0, 1], [30, 20])
UNIT = np.concatenate([np.arange(30) // 2, np.arange(20) // 2])
COLUMNS = np.vstack([(RNG.random(50) < 0.4)[None], np.ones((1, 50)), RNG.random((1, 50))]).astype(float)


def itself(sums):
    return sums


def test_cells_keep_their_sizes_in_every_replicate():
    drawn = replicates(COLUMNS, CELL, UNIT, itself, 300, 0)
    assert drawn.shape == (3, 300)
    assert drawn[1] == pytest.approx(50)
    assert drawn[0].std() > 0


def test_replicates_are_the_same_whatever_their_number_and_another_seed_gives_others():
    whole, part = (replicates(COLUMNS, CELL, UNIT, itself, reps, 3) for reps in (20_000, 100))
    assert (whole[:, :100] == part).all()
    assert not (replicates(COLUMNS, CELL, UNIT, itself, 100, 4) == part).all()


def test_a_replicate_is_the_weighted_sum_of_its_units():
    units = distinct_units(COLUMNS, CELL, UNIT)
    weights = next(unit_weights(units.of, None, 40, 0))[units.of]
    expected = np.zeros((3, 40))
    for cell in (0, 1):
        own = weights[UNIT[cell == CELL]]
        expected += (COLUMNS[:, cell == CELL] @ own) * (np.sum(cell == CELL) / own.sum(axis=0))
    assert replicates(COLUMNS, CELL, UNIT, itself, 40, 0) == pytest.approx(expected)


def test_rows_within_cells_have_the_spread_of_scipys_bootstrap():
    drawn = replicates(COLUMNS, CELL, UNIT, itself, 4_000, 0, within_cells=True)[0]
    parts = tuple(COLUMNS[0, cell == CELL] for cell in (0, 1))
    theirs = stats.bootstrap(
        parts, lambda a, b, axis: a.sum(axis=axis) + b.sum(axis=axis), n_resamples=4_000, method="percentile", rng=0
    )
    assert drawn.std() == pytest.approx(theirs.standard_error, rel=0.06)
    assert percentile_interval(drawn)[0] == pytest.approx(theirs.confidence_interval.low, abs=1)


def test_many_equal_units_are_drawn_in_one_and_have_the_same_spread():
    cell, unit = np.zeros(4_000, int), np.arange(4_000)
    hit = (unit % 4 == 0)[None].astype(float)
    assert distinct_units(hit, cell, unit).table.shape[1] == 2
    drawn = replicates(hit, cell, unit, itself, 2_000, 0)
    assert drawn.std() == pytest.approx(np.sqrt(4_000 * 0.25 * 0.75), rel=0.06)


def test_the_spread_of_a_share_is_that_of_its_replicates():
    side = np.ones((50, 1))
    found = shares(COLUMNS[:1].T, side, CELL, UNIT)
    drawn = replicates(COLUMNS[:1], CELL, UNIT, itself, 8_000, 0)[0] / 50
    assert np.sqrt(found.covariance[0, 0]) == pytest.approx(drawn.std(), rel=0.1)


def test_a_share_of_independent_rows_has_nearly_wilsons_interval():
    flagged = (np.arange(200) < 60)[:, None].astype(float)
    found = shares(flagged, np.ones((200, 1)), np.zeros(200, int), np.arange(200))
    exact = stats.binomtest(60, 200).proportion_ci(method="wilson")
    assert (found.low[0], found.high[0]) == (pytest.approx(exact.low, abs=0.003), pytest.approx(exact.high, abs=0.003))


def test_no_hits_have_an_interval_and_nothing_jumps():
    side, cell, unit = np.ones((66, 1)), np.zeros(66, int), np.arange(66)
    highs = [shares((np.arange(66) < k)[:, None].astype(float), side, cell, unit).high[0] for k in range(67)]
    assert 0.05 < highs[0] < 0.07
    assert (np.diff(highs) > 0).all()
    assert np.diff(highs).max() < 0.03


def test_a_difference_from_a_side_that_never_moves_is_as_wide_as_both():
    side = np.kron(np.eye(2), np.ones((40, 1)))
    flagged = side * np.concatenate([np.arange(40) < 8, np.zeros(40)])[:, None]
    found = shares(flagged, side, np.zeros(80, int), np.arange(80))
    value, low, high = found.combination([1, -1])
    assert value == pytest.approx(0.2)
    assert low == pytest.approx(0.2 - np.hypot(0.2 - found.low[0], found.high[1]), abs=0.01)
    assert low < 0.2 < high
