"""The bootstrap: units resampled, cells kept at their sizes by reweighting; it knows a statistic, and no metric.

Rows of one unit in one cell are summed before anything is drawn, and units that are equal in all of it are drawn
together, so that a replicate costs as much as there are different units.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from lib.analysis.shares import LEVEL, Codes, Floats

WEIGHTS_PER_BLOCK = 1 << 19
LEAST_WIDTH = 32
MANY_EQUAL = 16
"""From so many equal units on, one binomial draw for all is faster than a draw each."""


class Units(NamedTuple):
    """What is drawn: the different units of a sample.

    Attributes:
        table: rows × units; for each cell its sizes in the units, then the different columns within it.
        of: which of them each unit of the sample is.
        cells: the rows of each cell, that of its sizes first.
        adds: columns × rows, which rows are added to which column.
    """

    table: Floats
    of: Codes
    cells: list[slice]
    adds: sparse.csr_array


def replicates(
    columns: Floats,
    cell: Codes,
    unit: Codes,
    statistic: Callable[[Floats], Floats],
    reps: int,
    seed: int,
    *,
    within_cells: bool = False,
) -> Floats:
    """A statistic of column sums in each replicate.

    Args:
        columns: k × n, a quantity a row.
        cell, unit: of each of the n rows, as ``lib.analysis.shares.codes``.
        statistic: from sums, k × replicates, to values, m × replicates.
        within_cells: resample rows within cells, as the paper does, and let units be.

    Returns:
        m × reps; NaN where a cell was drawn empty. Replicate i is the same whatever ``reps`` is.
    """
    if within_cells:
        order = np.argsort(cell, kind="stable")
        columns, cell, unit = columns[:, order], cell[order], np.arange(cell.size)
    units = distinct_units(columns, cell, unit)
    sizes = np.bincount(cell)
    values: list[Floats] = []
    with threadpool_limits(1, user_api="blas"):  # blocks this small gain nothing from threads, and wait for busy cores
        for weights in unit_weights(units.of, sizes if within_cells else None, reps, seed):
            drawn = units.table @ weights
            for rows, size in zip(units.cells, sizes, strict=True):
                with np.errstate(invalid="ignore", divide="ignore"):
                    drawn[rows] *= size / drawn[rows.start]
            values.append(statistic(units.adds @ drawn))
    return np.concatenate(values, axis=-1)


def distinct_units(columns: Floats, cell: Codes, unit: Codes) -> Units:
    """The units of a sample, equal ones once, and each cell's columns, equal ones once and empty ones not at all."""
    count = int(unit.max(initial=-1)) + 1
    table: list[Floats] = []
    cells, adds = [], []
    for name in range(int(cell.max(initial=-1)) + 1):
        rows, start = np.flatnonzero(cell == name), len(table)
        member = sparse.csr_array((np.ones(rows.size), (unit[rows], np.arange(rows.size))), shape=(count, rows.size))
        table.append(np.asarray(member.sum(axis=1), float))
        first = {table[start].tobytes(): start}
        for place, summed in enumerate((member @ columns[:, rows].T).T):
            if not summed.any():
                continue
            whole = np.ascontiguousarray(summed)
            row = first.setdefault(whole.tobytes(), len(table))
            if row == len(table):
                table.append(whole)
            adds.append((place, row))
        cells.append(slice(start, len(table)))
    places, at = np.array(adds, np.intp).reshape(-1, 2).T
    added = sparse.csr_array((np.ones(len(adds)), (places, at)), shape=(len(columns), len(table)))
    different, of = np.unique(np.array(table), axis=1, return_inverse=True)
    return Units(np.ascontiguousarray(different), of, cells, added)


def unit_weights(of: Codes, pools: Codes | None, reps: int, seed: int) -> Iterator[Floats]:
    """How often each of the different units is drawn, in blocks of replicates: shape different units × replicates.

    Args:
        of: which of the different units each unit of the sample is; as many as there are are drawn with replacement.
        pools: numbers of consecutive units that are drawn among themselves; None for all together.
    """
    equal = np.bincount(of)
    bounds = np.concatenate([[0], np.cumsum([of.size] if pools is None else pools)])
    width = max(LEAST_WIDTH, WEIGHTS_PER_BLOCK // of.size)
    for block, start in enumerate(range(0, reps, width)):
        rng = np.random.default_rng([seed, block])
        if pools is None and of.size > MANY_EQUAL * equal.size:
            weights = rng.multinomial(of.size, equal / of.size, width).T
        else:
            pooled = [
                rng.integers(low, high, (high - low, width), np.uint32) for low, high in itertools.pairwise(bounds)
            ]
            drawn = of[np.concatenate(pooled)]
            drawn *= width
            drawn += np.arange(width)
            weights = np.bincount(drawn.ravel(), minlength=width * equal.size).reshape(-1, width)
        yield weights[:, : reps - start].astype(np.float64)


def percentile_interval(drawn: Floats) -> tuple[Floats, Floats]:
    """95 % percentile interval along the last axis, over the replicates where the value is defined.

    Linear interpolation between order statistics, as numpy's default quantile; NaN where no replicate is defined.
    """
    ordered = np.sort(drawn, axis=-1)  # NaN goes last; faster here than a partition
    last = np.maximum(np.count_nonzero(~np.isnan(ordered), axis=-1) - 1, 0)
    return _order_statistic(ordered, last * (1 - LEVEL) / 2), _order_statistic(ordered, last * (1 + LEVEL) / 2)


def _order_statistic(ordered: Floats, position: Floats) -> Floats:
    below = np.floor(position).astype(np.intp)
    above = np.ceil(position).astype(np.intp)
    low, high = (np.take_along_axis(ordered, at[..., None], axis=-1)[..., 0] for at in (below, above))
    return low + (high - low) * (position - below)
