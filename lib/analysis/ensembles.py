"""What an ensemble's members said: their votes, what a majority of fewer would say, and what they all miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from lib.analysis.shares import codes
from lib.analysis.significance import never_flagged
from lib.analysis.tidy import SURVIVALS
from lib.errors import UserError
from lib.records import About

VOTE_FIELDS = ("judge", "trajectory", "instance", "cell", "survival", "faulty", "k", "yes", "flip_rate", "stated")


def votes(
    frame: pd.DataFrame, abouts: Mapping[str, About], members: Mapping[tuple[str, str], Sequence[tuple[bool, float]]]
) -> pd.DataFrame:
    """Votes per trajectory of each ensemble: as its members were kept, else read off its confidence.

    Args:
        frame: rows of ``bench.verdicts``; abouts: ``bench.about``; members: of (judge, trajectory), what each member
            says (flagged, stated confidence), where that was kept.

    Returns:
        Frame of VOTE_FIELDS: ``k`` members, ``yes`` of them flag, ``flip_rate`` the chance that two different ones
        disagree, ``stated`` their mean confidence (NaN where not kept). An ensemble that kept no members and whose
        confidences are no shares of its votes is left out.
    """
    found = []
    for judge, own in frame.groupby("judge", sort=False):
        k = abouts[str(judge)].members
        if k < 2:
            continue
        kept = [members.get((str(judge), str(name)), ()) for name in own["trajectory"]]
        if all(kept):
            table = own.assign(
                k=[len(said) for said in kept],
                yes=[sum(flagged for flagged, _ in said) for said in kept],
                stated=[float(np.mean([confidence for _, confidence in said])) for said in kept],
            )
        else:
            agreeing = own["confidence"].to_numpy(float) * k
            if not np.allclose(agreeing, np.round(agreeing), atol=1e-6):
                continue
            agreeing = np.round(agreeing).astype(int)
            table = own.assign(k=k, yes=np.where(own["flagged"], agreeing, k - agreeing), stated=np.nan)
        pairs = np.maximum(table["k"] * (table["k"] - 1), 1)
        found.append(table.assign(flip_rate=2 * table["yes"] * (table["k"] - table["yes"]) / pairs))
    return pd.concat(found, ignore_index=True)[list(VOTE_FIELDS)] if found else pd.DataFrame(columns=list(VOTE_FIELDS))


def flips(table: pd.DataFrame) -> pd.DataFrame:
    """How often members disagree: frame judge, survival (``all`` first), n, unanimous, share, flip_rate.

    Args:
        table: frame of ``votes``; ``share`` is that of unanimous trajectories.
    """
    rows: list[list[object]] = []
    for judge, own in table.groupby("judge", sort=False):
        for survival in ("all", *SURVIVALS):
            part = own if survival == "all" else own[own["survival"] == survival]
            agreed = int(((part["yes"] == 0) | (part["yes"] == part["k"])).sum())
            share = agreed / len(part) if len(part) else float("nan")
            rows.append([judge, survival, len(part), agreed, share, part["flip_rate"].mean()])
    return pd.DataFrame(rows, columns=["judge", "survival", "n", "unanimous", "share", "flip_rate"])


def majority_at(table: pd.DataFrame, sizes: Sequence[int] = (1, 3, 5)) -> pd.DataFrame:
    """Shares flagged by a majority of k members, averaged over every choice of k among those kept.

    Args:
        table: frame of ``votes``; sizes: odd numbers of members; those larger than what was kept are left out.

    Returns:
        Frame judge, k, recall, silent, loud, clean (shares flagged; NaN where there is no such trajectory).

    Raises:
        UserError: an even number of members, which has no majority when tied.
    """
    if even := [k for k in sizes if k % 2 == 0]:
        raise UserError(f"a majority needs an odd number of members, not {even[0]}")
    found = []
    for judge, own in table.groupby("judge", sort=False):
        for k in (k for k in sizes if k <= own["k"].min()):
            flagged = pd.Series(hypergeom.sf(k // 2, own["k"], own["yes"], k), index=own.index)
            parts = [flagged[own["survival"] == survival].mean() for survival in SURVIVALS]
            found.append([judge, k, flagged[own["faulty"].astype(bool)].mean(), *parts])
    return pd.DataFrame(found, columns=["judge", "k", "recall", *SURVIVALS])


def missed_by_all(table: pd.DataFrame, reps: int = 5_000, seed: int = 0) -> pd.DataFrame:
    """How many faults no member flags, beside what would be if votes fell anyhow within design cells.

    Returns:
        Frame judge, faults, k, missed (by all), expected, most (in ``reps`` permutations), p (one-sided: as many or
        more), some (missed by one member or more).
    """
    rows = []
    for judge, own in table[table["faulty"].astype(bool)].groupby("judge", sort=False):
        k, missed = int(own["k"].max()), int((own["yes"] == 0).sum())
        drawn = never_flagged(own["yes"], k, codes(own["cell"]), reps, seed)
        p = (1 + (drawn >= missed).sum()) / (reps + 1)
        rows.append([judge, len(own), k, missed, drawn.mean(), drawn.max(), p, int((own["yes"] < own["k"]).sum())])
    return pd.DataFrame(rows, columns=["judge", "faults", "k", "missed", "expected", "most", "p", "some"])
