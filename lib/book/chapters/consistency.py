"""Chapter 4: an ensemble against one greedy pass of the same model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lib.analysis import consistency, members
from lib.analysis.joined import joined
from lib.analysis.judges import ensembles, judge_name
from lib.analysis.scores import Scores
from lib.book.chapters.consistency_words import cost_answer, delta_answer, misses_answer, votes_answer
from lib.show.text import Prose, listed, prose, said
from lib.book.unread import unread_warning
from lib.run.folder import Frames, Run

NONE = "This run has no ensemble beside one pass of the same model, so this chapter has nothing to compute from it."
SIZES = (1, 3, 5, 7, 9, 11)
KINDS = ("silent", "loud", "clean")
RATES = ("recall", "silent_recall", "loud_recall", "false_alarm_rate")


@dataclass(frozen=True)
class Pair:
    """An ensemble and the single pass of its model, on the trajectories that both judged.

    Attributes:
        kept: whether the members' verdicts were kept; if not, the votes are read off the ensemble's confidence.
        deltas, costs, flips, majority, misses, confidence: frames of ``lib.analysis.consistency`` and ``members``.
        votes: as of ``members.votes``; empty where they are not known.
    """

    ensemble: str
    single: str
    scores: Scores
    kept: bool
    deltas: pd.DataFrame
    costs: pd.DataFrame
    votes: pd.DataFrame
    flips: pd.DataFrame
    majority: pd.DataFrame
    misses: pd.DataFrame
    confidence: pd.DataFrame

    @property
    def n(self) -> int:
        return self.scores.n[self.ensemble]

    def shared(self, verdicts: pd.DataFrame) -> pd.DataFrame:
        return consistency.shared_verdicts(verdicts, self.ensemble, self.single)

    def distribution(self) -> pd.DataFrame:
        """``members.vote_distribution`` with the votes in words."""
        table = members.vote_distribution(self.votes)
        votes = [votes_text(yes, k) for yes, k in zip(table["yes"], table["k"], strict=True)]
        return table.assign(votes=votes)

    def answer(self) -> Prose:
        return said(
            delta_answer(self.deltas, self.ensemble, self.single, self.n),
            unread_warning(self.scores, [self.ensemble, self.single]),
            cost_answer(self.costs),
            None if self.votes.empty else votes_answer(self.flips, self.votes),
            None if self.misses.empty else misses_answer(self.misses.iloc[0]),
        )

    def source(self) -> Prose:
        """Where the votes are from."""
        if self.kept:
            return prose("{judge:code} kept each member's verdict.", judge=self.ensemble)
        if self.votes.empty:
            return prose(
                "{judge:code} kept no members, and its confidence is no share of votes: how they voted is not known.",
                judge=self.ensemble,
            )
        return prose(
            "{judge:code} kept no members. Its confidence is the share of votes behind its verdict, so that the number "
            "of votes can be read off it; which member voted how, and what each stated as its confidence, cannot.",
            judge=self.ensemble,
        )


def stacked(pairs: Sequence[Pair], frame: str) -> pd.DataFrame:
    """One of the frames of all pairs, with ``judge_id`` the ensemble's."""
    frames = [getattr(pair, frame).assign(judge_id=pair.ensemble) for pair in pairs]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["judge_id", "value"])


def distributions(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Vote distributions of all pairs; ``row`` is the kind of trajectory, after the ensemble's id where there are several."""
    frames = [
        own.assign(row=[kind if len(pairs) == 1 else f"{kind}, {pair.ensemble}" for kind in own["kind"]])
        for pair in pairs
        for own in [pair.distribution()]
    ]
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=["row", "kind"])
    return table.sort_values("kind", key=lambda kinds: kinds.map(KINDS.index), kind="stable", ignore_index=True)


def by_ensemble(table: pd.DataFrame, key: str) -> pd.DataFrame:
    """A table to be shown, with ``key`` as its row header, and the ensemble's id before it where there are several."""
    if len(set(table["ensemble"])) > 1:
        return table.set_index(["ensemble", key])
    return table.drop(columns="ensemble").set_index(key)


def vote_names(pairs: Sequence[Pair]) -> list[str]:
    """Every number of votes in words, from none to all."""
    return [
        votes_text(yes, k) for k in sorted({int(k) for pair in pairs for k in pair.votes["k"]}) for yes in range(k + 1)
    ]


def growth(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Frame ensemble, members, recall, silent recall, loud recall, false-alarm rate; the greedy pass first."""
    metrics = {name: name.replace("_", " ").replace("false alarm", "false-alarm") for name in RATES}
    found = []
    for pair in pairs:
        greedy = [pair.scores.estimate(pair.single, name).value for name in RATES]
        found.append([pair.ensemble, "one greedy pass", *greedy])
        found += [[pair.ensemble, f"k = {row['k']}", *row[list(RATES)]] for _, row in pair.majority.iterrows()]
    return pd.DataFrame(found, columns=["ensemble", "members", *metrics.values()])


def votes_text(yes: int, k: int) -> str:
    return f"{yes} of {k} flag"


def gather(opened: Run, frames: Frames, judges: Sequence[str], reps: int, seed: int) -> list[Pair]:
    """Every ensemble of ``judges`` with the single pass of its model, where they share trajectories."""
    pairs = {
        ensemble: single
        for ensemble, single in ensembles(judges).items()
        if len(consistency.shared_verdicts(frames.verdicts, ensemble, single))
    }
    kept = members.member_frame(v for v in opened.verdicts() if v.judge_id in pairs) if pairs else None
    return [] if kept is None else [_pair(frames, kept, a, b, reps, seed) for a, b in pairs.items()]


def _pair(frames: Frames, kept: pd.DataFrame, ensemble: str, single: str, reps: int, seed: int) -> Pair:
    trajectories = frames.trajectories
    scores = consistency.pair_scores(trajectories, frames.verdicts, ensemble, single, reps, seed)
    shared = consistency.shared_verdicts(frames.verdicts, ensemble, single)
    own = kept[(kept["judge_id"] == ensemble) & kept["trajectory_id"].isin(shared["trajectory_id"])]
    has_members = not own.empty
    votes = (
        members.votes(own, trajectories)
        if has_members
        else consistency.recovered_votes(trajectories, shared, [ensemble])
    )
    misses = members.shared_misses(own, trajectories) if has_members else consistency.misses_from_votes(votes)
    return Pair(
        ensemble,
        single,
        scores,
        has_members,
        consistency.axis_deltas(scores, ensemble, single),
        consistency.cost_ratios(scores, ensemble, single),
        votes,
        consistency.flips(votes),
        members.majority_at(votes, SIZES),
        consistency.with_interval(misses),
        consistency.confidence_beside(votes, joined(trajectories, shared), ensemble, single),
    )


def answer(pairs: Sequence[Pair], judges: Sequence[str]) -> Prose:
    """The chapter's answer: a paragraph for each pair, or why there is none."""
    compared = [pair.ensemble for pair in pairs]
    alone = [judge for judge in judges if judge_name(judge).kind == "selfcons" and judge not in compared]
    text = "Without a single pass of its model on the same trajectories to compare with: {who}."
    lonely = prose(text, who=listed(alone)) if alone else None
    if not pairs:
        return said(prose(NONE), lonely)
    return Prose("\n\n".join(str(part) for part in [*(pair.answer() for pair in pairs), lonely] if part is not None))
