"""The resample: sizes of cells, blocks, and agreement with an independent way of computing the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from lib.analysis import bootstrap
from lib.analysis.bootstrap import cell_weights, distinct_rows, exact_interval, percentile_interval
from lib.analysis.sample import Table


def weights_of(sizes, reps, seed=0):
    return np.concatenate([weights for _, weights in cell_weights(sizes, reps, seed)], axis=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 50), st.integers(0, 9))
def test_every_replicate_keeps_the_size_of_every_cell(sizes, reps, seed):
    weights = weights_of(sizes, reps, seed)
    assert weights.shape == (sum(sizes), reps)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    assert (np.add.reduceat(weights, starts, axis=0) == np.array(sizes)[:, None]).all()


def test_weights_follow_the_multinomial_of_drawing_with_replacement():
    weights = weights_of([5, 20], 20_000)
    assert weights.mean(axis=1) == pytest.approx(np.ones(25), abs=0.03)
    assert weights[:5].var(axis=1) == pytest.approx(np.full(5, 4 / 5), abs=0.04)
    assert weights[5:].var(axis=1) == pytest.approx(np.full(20, 19 / 20), abs=0.05)


def test_more_replicates_extend_the_same_ones(monkeypatch):
    monkeypatch.setattr(bootstrap, "WEIGHTS_PER_BLOCK", 64)
    monkeypatch.setattr(bootstrap, "LEAST_WIDTH", 8)
    few, many = weights_of([4, 4], 11), weights_of([4, 4], 50)
    assert (few == many[:, :11]).all()
    assert len({column.tobytes() for column in many.T}) > 40


def test_replicate_of_weight_one_is_the_point_estimate(labels, verdicts, monkeypatch):
    def once(sizes, reps, seed):
        yield slice(0, reps), np.ones((sum(sizes), reps))

    monkeypatch.setattr(bootstrap, "cell_weights", once)
    table = Table.build(labels, verdicts, ["j"])
    sample = table.sample(["j"], table.judged["j"])
    point = sample.points()["j"][0]
    np.testing.assert_array_equal(sample.replicates(3, 0)["j"], np.repeat(point[:, None], 3, axis=1))


def test_replicates_equal_scoring_the_drawn_trajectories_themselves(labels, verdicts, monkeypatch):
    drawn = np.array([0, 0, 2, 3, 4, 5, 6, 6])  # rows of the sorted labels, cells kept

    def given_rows(sizes, reps, seed):
        yield slice(0, 1), np.bincount(drawn, minlength=8).astype(float)[:, None]

    monkeypatch.setattr(bootstrap, "cell_weights", given_rows)
    table = Table.build(labels, verdicts, ["j"])
    sample = table.sample(["j"], table.judged["j"])
    replicate = sample.replicates(1, 0)["j"][:, 0]
    ids = sample.labels["trajectory_id"].to_numpy()[drawn]
    fresh = [f"{name}#{place}" for place, name in enumerate(ids)]
    again = Table.build(
        labels.set_index("trajectory_id").loc[ids].reset_index().assign(trajectory_id=fresh),
        verdicts.set_index("trajectory_id").loc[ids].reset_index().assign(trajectory_id=fresh),
        ["j"],
    )
    expected = again.sample(["j"], again.judged["j"]).points()["j"][0]
    np.testing.assert_allclose(replicate, expected, rtol=1e-12)


def test_percentiles_are_those_of_numpy_and_skip_undefined_replicates():
    values = np.random.default_rng(0).normal(size=(3, 2, 501))
    low, high = percentile_interval(values)
    np.testing.assert_allclose([low, high], np.quantile(values, [0.025, 0.975], axis=-1), rtol=1e-12)
    values[0, 0, :100] = np.nan
    values[1, 1] = np.nan
    low, high = percentile_interval(values)
    assert (low[0, 0], high[0, 0]) == pytest.approx(np.quantile(values[0, 0, 100:], [0.025, 0.975]))
    assert np.isnan([low[1, 1], high[1, 1]]).all()


@pytest.mark.parametrize(("hits", "n"), [(0, 100), (100, 100), (3, 17), (1, 1)])
def test_exact_interval_is_clopper_pearson(hits, n):
    expected = binomtest(hits, n).proportion_ci(method="exact")
    low, high = exact_interval(hits, n)
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high))


def test_exact_interval_of_nothing_is_undefined():
    assert np.isnan(exact_interval(0, 0)).all()


def test_distinct_rows_rebuild_the_columns_of_all_tables():
    tables = [np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]), np.array([[1.0, 3.0], [2.0, 0.0]])]
    distinct, place = distinct_rows(tables)
    assert len(distinct) == 3
    np.testing.assert_array_equal(distinct[place].T, np.concatenate(tables, axis=1))
