"""Stratified bootstrap within design cells: one shared resample for all judges, so that differences are paired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from lib.analysis.quantities import METRICS, VERDICT_COLUMNS, Floats, complete, metrics_of

LEVEL = 0.95
WEIGHTS_PER_BLOCK = 1 << 20


def cell_weights(sizes: Sequence[int], reps: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Multinomial weights of rows that are sorted by cell, in blocks of replicates.

    Args:
        sizes: number of rows of each cell, in row order; every replicate keeps them.

    Yields:
        (replicates, weights): which replicates, and how often each row was drawn in them, shape rows × replicates.
        Replicate i is the same whatever ``reps`` is, and needs no memory beyond its block.
    """
    rows = sum(sizes)
    width = max(1, WEIGHTS_PER_BLOCK // max(rows, 1))
    dtype = np.uint16 if rows < 1 << 16 else np.uint32
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    for block, start in enumerate(range(0, reps, width)):
        rng = np.random.default_rng([seed, block])
        drawn = np.empty((rows, width), dtype=np.intp)
        for low, high in zip(bounds[:-1], bounds[1:], strict=True):
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
    table = np.concatenate(columns, axis=1)
    used = table.any(axis=0)
    narrow = np.ascontiguousarray(table[:, used].T)
    values = np.empty((len(columns), len(METRICS), reps))
    for replicates, weights in cell_weights(cells, reps, seed):
        sums = np.zeros((table.shape[1], weights.shape[1]))
        sums[used] = narrow @ weights
        judged = sums.reshape(len(columns), len(VERDICT_COLUMNS), -1).swapaxes(0, 1)
        metrics = metrics_of(complete({**sizes, **dict(zip(VERDICT_COLUMNS, judged, strict=True))}))
        for position, value in enumerate(metrics.values()):
            values[:, position, replicates] = value
    return values


def percentile_interval(replicates: Floats) -> Floats:
    """Percentile interval along the last axis, over the replicates where the metric is defined; shape (2, ...)."""
    bounds = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    flat = replicates.reshape(-1, replicates.shape[-1])
    result = np.full((2, flat.shape[0]), np.nan)
    undefined = np.isnan(flat).any(axis=1)
    result[:, ~undefined] = np.quantile(flat[~undefined], bounds, axis=1)
    for row in np.flatnonzero(undefined):
        defined = flat[row][~np.isnan(flat[row])]
        if defined.size:
            result[:, row] = np.quantile(defined, bounds)
    return result.reshape(2, *replicates.shape[:-1])


def exact_interval(hits: NDArray | float, n: NDArray | float) -> tuple[Floats, Floats]:
    """Clopper–Pearson interval of hits out of n, elementwise; NaN where n is zero."""
    hits, n = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    tail = (1 - LEVEL) / 2
    low = np.where(hits > 0, beta.ppf(tail, hits, n - hits + 1), 0.0)
    high = np.where(hits < n, beta.ppf(1 - tail, hits + 1, n - hits), 1.0)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
