"""Tests that hold for rows that hang together: each mutant beside its clean parent, and judges within strata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import MonteCarloMethod, fisher_exact, hypergeom
from statsmodels.stats.multitest import multipletests

from lib.analysis.estimates import Estimate
from lib.analysis.shares import Codes, Floats, codes, shares

ALPHA = 0.05
ROUNDING = 1e-9
PAIR_FIELDS = (
    *("judge", "trajectory", "instance", "stratum", "fault", "survival", "changed", "flagged", "unread"),
    *("parent", "parent_flagged", "parent_unread"),
)
MCNEMAR_FIELDS = (
    *("pairs", "both", "only_mutant", "only_parent", "neither", "parent_passed", "caught_of_passed"),
    *("p", "least_p"),
)


def pairs_with_parents(frame: pd.DataFrame) -> pd.DataFrame:
    """Each verdict on a mutant beside the same judge's on its clean parent, where it judged that too.

    Args:
        frame: rows of ``bench.verdicts``.

    Returns:
        Frame of PAIR_FIELDS.
    """
    parents = frame.loc[~frame["faulty"], ["judge", "instance", "trajectory", "flagged", "unread"]]
    parents = parents.drop_duplicates(["judge", "instance"])
    names = {"trajectory": "parent", "flagged": "parent_flagged", "unread": "parent_unread"}
    pairs = frame[frame["faulty"]].merge(parents.rename(columns=names), on=["judge", "instance"], how="inner")
    return pairs[list(PAIR_FIELDS)]


def mcnemar(pairs: pd.DataFrame, by: Sequence[str] = ("judge",)) -> pd.DataFrame:
    """Is the mutant flagged where its parent is passed more often than the other way round?

    A judge that sees the fault flags the mutant and passes the parent; one that dislikes the case flags both. Pairs
    of one instance share their parent, so that signs are flipped by instance; with one pair an instance that is the
    exact McNemar test.

    Args:
        pairs: frame of ``pairs_with_parents``; by: groups that are tested apart, in order of appearance.

    Returns:
        Frame of ``by`` and MCNEMAR_FIELDS: ``caught_of_passed`` is the share of mutants flagged where the parent was
        passed, ``p`` two-sided, ``least_p`` what p would be if all differences had one sign.
    """
    rows = []
    for key, own in pairs.groupby(list(by), sort=False, dropna=False):
        mutant, parent = own["flagged"].to_numpy(bool), own["parent_flagged"].to_numpy(bool)
        only, passed = int((mutant & ~parent).sum()), int((~parent).sum())
        counts = [int((mutant & parent).sum()), only, int((parent & ~mutant).sum()), int((~mutant & ~parent).sum())]
        gaps = mutant.astype(int) - parent.astype(int)
        tests = sign_flips(gaps, own["instance"]), sign_flips(np.abs(gaps), own["instance"])
        rows.append([*key, len(own), *counts, passed, only / passed if passed else np.nan, *tests])
    return pd.DataFrame(rows, columns=[*by, *MCNEMAR_FIELDS])


def sign_flips(differences: ArrayLike, unit: Sequence[object] | pd.Series) -> float:
    """Two-sided exact p of a sum of whole differences when each unit's sum may as well have the other sign."""
    sums = pd.Series(np.asarray(differences, int)).groupby(np.asarray(unit, object)).sum().to_numpy()
    chances = np.ones(1)
    for size in np.abs(sums[sums != 0]):
        step = np.zeros(2 * size + 1)
        step[0] = step[-1] = 0.5
        chances = np.convolve(chances, step)
    reach = np.abs(np.arange(chances.size) - chances.size // 2)
    return float(min(chances[reach >= abs(sums.sum())].sum(), 1.0))


def holm(p: ArrayLike, least: ArrayLike) -> Floats:
    """Holm's p over the tests that could reach significance at all (Tarone, Biometrics 46, 1990); NaN for the others.

    Args:
        p, least: of each test, its p and the least p that its data could have given.
    """
    p, least = np.asarray(p, float), np.asarray(least, float)
    allowed = next((k for k in range(1, p.size + 1) if (least <= ALPHA / k).sum() <= k), p.size)
    testable = least <= ALPHA / max(allowed, 1)
    adjusted = np.full(p.shape, np.nan)
    if testable.any():
        adjusted[testable] = multipletests(p[testable], method="holm")[1]
    return adjusted


def conditional(hits: ArrayLike, n: ArrayLike, other_hits: ArrayLike, other_n: ArrayLike) -> float:
    """Exact two-sided p that two shares are the same within every stratum, given how many were hit in each.

    Args:
        hits, n, other_hits, other_n: of each stratum, such as flagged and all of faulty and of clean trajectories.
    """
    x, n1, y, n0 = (np.atleast_1d(np.asarray(part, int)) for part in (hits, n, other_hits, other_n))
    chances = np.ones(1)
    for ours, all_hit, theirs in zip(n1, x + y, n0, strict=True):
        chances = np.convolve(chances, hypergeom.pmf(np.arange(ours + 1), ours + theirs, ours, all_hit))
    return float(min(chances[chances <= chances[x.sum()] * (1 + ROUNDING)].sum(), 1.0))


def heterogeneity(hits: ArrayLike, n: ArrayLike, seed: int = 0) -> float:
    """p of Fisher, Freeman and Halton's test (simulated) that groups have one share in common; NaN for one group."""
    hit, size = np.asarray(hits, int), np.asarray(n, int)
    if np.count_nonzero(size) < 2 or hit.sum() in (0, size.sum()):
        return float("nan")
    table = np.column_stack([hit, size - hit])[size > 0]
    if len(table) == 2:
        return float(fisher_exact(table).pvalue)
    return float(fisher_exact(table, method=MonteCarloMethod(rng=np.random.default_rng(seed))).pvalue)


def never_flagged(votes: ArrayLike, k: int, cell: Codes, reps: int = 5_000, seed: int = 0) -> Floats:
    """How many trajectories no member would flag if votes fell anyhow within cells, in each of ``reps`` permutations.

    Args:
        votes: how many of ``k`` members flag each trajectory; cell: of each, as ``lib.analysis.shares.codes``.
    """
    yes = np.asarray(votes, int)
    rng = np.random.default_rng(seed)
    missed = np.zeros(reps)
    for name in np.unique(cell):
        own = yes[cell == name]
        ballots = np.repeat([1, 0], [own.sum(), k * own.size - own.sum()])
        drawn = rng.permuted(np.tile(ballots, (reps, 1)), axis=1).reshape(reps, own.size, k)
        missed += (drawn.sum(axis=2) == 0).sum(axis=1)
    return missed


class Within(NamedTuple):
    """A difference of shares flagged, pooled over strata that have both sides (weights of Mantel and Haenszel).

    Attributes:
        strata: how many have both; n: rows in them; p: exact, given what was flagged in each stratum.
    """

    value: float
    low: float
    high: float
    strata: int
    n: int
    p: float


def within_strata(
    frame: pd.DataFrame, between: str = "faulty", values: tuple[object, object] = (True, False), column: str = "flagged"
) -> Within:
    """Share flagged where ``between`` is the first value minus where it is the second, within strata.

    Faults are not spread over the strata as clean trajectories are (two types exist in refunds only), so a judge that
    flags certain kinds of case, fault or no fault, has a J away from 0. Here it has 0.

    Args:
        frame: one judge's rows of ``bench.verdicts``.
    """
    sides = np.column_stack([frame[between].eq(value).to_numpy(bool) for value in values])
    hit, stratum = frame[column].to_numpy(bool), codes(frame["stratum"])
    own = np.arange(stratum.max(initial=-1) + 1) == stratum[:, None]
    n = np.array([(own & side[:, None]).sum(axis=0) for side in sides.T])
    both = n.all(axis=0)
    if not both.any():
        return Within(np.nan, np.nan, np.nan, 0, 0, np.nan)
    hits = np.array([(own & (side & hit)[:, None]).sum(axis=0) for side in sides.T])[:, both]
    n, own = n[:, both], own[:, both]
    below = np.hstack([own & side[:, None] for side in sides.T]).astype(float)
    weight = n.prod(axis=0) / n.sum(axis=0)
    weight = weight / weight.sum()
    found = shares(below * hit[:, None], below, codes(frame["cell"]), codes(frame["instance"]))
    p = conditional(hits[0], n[0], hits[1], n[1])
    return Within(*found.combination(np.concatenate([weight, -weight])), int(both.sum()), int(n.sum()), p)


def paired_gap(pairs: pd.DataFrame) -> Estimate:
    """Share of mutants flagged minus share of their parents flagged, on the same instances.

    Args:
        pairs: frame of ``pairs_with_parents``, of one judge.
    """
    both = pd.concat([pairs["flagged"], pairs["parent_flagged"]], ignore_index=True).to_numpy(float)
    side = np.repeat([0, 1], len(pairs))
    below = (side[:, None] == np.arange(2)).astype(float)
    unit = codes(pd.concat([pairs["instance"], pairs["instance"]], ignore_index=True))
    return Estimate(*shares(below * both[:, None], below, side, unit).combination([1, -1]), len(pairs))
