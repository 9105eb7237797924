"""Stratified bootstrap within design cells: one shared resample for all judges, so that differences are paired."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta
from threadpoolctl import threadpool_limits

from lib.analysis.quantities import METRICS, VERDICT_COLUMNS, Floats, complete, metrics_of

LEVEL = 0.95
WEIGHTS_PER_BLOCK = 1 << 19
LEAST_WIDTH = 32


def cell_weights(sizes: Sequence[int], reps: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Multinomial weights of rows that are sorted by cell, in blocks of replicates.

    Args:
        sizes: number of rows of each cell, in row order; every replicate keeps them.

    Yields:
        (replicates, weights): which replicates, and how often each row was drawn in them, shape rows × replicates.
        Replicate i is the same whatever ``reps`` is, and needs no memory beyond its block.
    """
    rows = sum(sizes)
    width = max(LEAST_WIDTH, WEIGHTS_PER_BLOCK // max(rows, 1))
    dtype = np.uint16 if rows < 1 << 16 else np.uint32
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    for block, start in enumerate(range(0, reps, width)):
        rng = np.random.default_rng([seed, block])
        drawn = np.empty((rows, width), dtype=np.intp)
        for low, high in itertools.pairwise(bounds):
            drawn[low:high] = rng.integers(low, high, (high - low, width), dtype=dtype)
        drawn *= width
        drawn += np.arange(width)
        counts = np.bincount(drawn.ravel(), minlength=rows * width).reshape(rows, width)
        wanted = min(width, reps - start)
        yield slice(start, start + wanted), counts[:, :wanted].astype(np.float64)


def replicate_metrics(
    columns: Sequence[Floats], sizes: dict[str, float], cells: Sequence[int], reps: int, seed: int
) -> Floats:
    """Metrics of each judge in each replicate, shape judges × metrics × reps.

    Args:
        columns: per judge the table of ``verdict_columns``, rows sorted by cell, the same trajectories for all.
        sizes: ``label_sums`` of those trajectories, the same in every replicate.
        cells: rows of each cell.
    """
    distinct, place = distinct_rows(columns)
    values = np.empty((len(columns), len(METRICS), reps))
    with threadpool_limits(1, user_api="blas"):  # blocks this small gain nothing from threads, and wait for busy cores
        for replicates, weights in cell_weights(cells, reps, seed):
            sums = (distinct @ weights)[place]
            judged = sums.reshape(len(columns), len(VERDICT_COLUMNS), -1).swapaxes(0, 1)
            metrics = metrics_of(complete({**sizes, **dict(zip(VERDICT_COLUMNS, judged, strict=True))}))
            for position, value in enumerate(metrics.values()):
                values[:, position, replicates] = value
    return values


def distinct_rows(tables: Sequence[Floats]) -> tuple[Floats, list[int]]:
    """The different columns of tables of equal height as rows, and for each column the position of its equal there.

    Judges share many quantities (bins that nobody uses, faults that everybody flags), each worth summing once.
    """
    place: list[int] = []
    first: dict[bytes, int] = {}
    kept: list[Floats] = []
    for column in itertools.chain.from_iterable(table.T for table in tables):
        row = np.ascontiguousarray(column)
        position = first.setdefault(hashlib.sha256(row.data).digest(), len(first))
        if position == len(kept):
            kept.append(row)
        place.append(position)
    return np.array(kept), place


def percentile_interval(replicates: Floats) -> tuple[Floats, Floats]:
    """Percentile interval along the last axis, over the replicates where the metric is defined.

    Linear interpolation between order statistics, as numpy's default quantile; NaN where no replicate is defined.
    """
    ordered = np.sort(replicates, axis=-1)  # NaN goes last; faster here than a partition
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=-1) - 1, 0)
    return _order_statistic(ordered, last * (1 - LEVEL) / 2), _order_statistic(ordered, last * (1 + LEVEL) / 2)


def _order_statistic(ordered: Floats, position: Floats) -> Floats:
    below = np.floor(position).astype(np.intp)
    above = np.ceil(position).astype(np.intp)
    low, high = (np.take_along_axis(ordered, at[..., None], axis=-1)[..., 0] for at in (below, above))
    return low + (high - low) * (position - below)


def exact_interval(hits: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats]:
    """Clopper–Pearson interval of hits out of n, elementwise; NaN where n is zero."""
    hits, n = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    tail = (1 - LEVEL) / 2
    low = np.where(hits > 0, beta.ppf(tail, hits, n - hits + 1), 0.0)
    high = np.where(hits < n, beta.ppf(1 - tail, hits + 1, n - hits), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
