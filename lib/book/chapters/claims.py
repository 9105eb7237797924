"""Chapter 2: claims in the reply that no observation supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from lib.analysis import claims
from lib.analysis.agreement import by_stratum
from lib.analysis.attention import attention, attention_shares
from lib.analysis.capability import BASELINES
from lib.analysis.joined import joined
from lib.analysis.judges import judge_name
from lib.analysis.scores import Estimate, is_fixed
from lib.book.show import Prose, listed, prose, said
from lib.desk.injector import UNSUPPORTED_SENTENCES
from lib.records import Trajectory, Verdict
from lib.runs import Frames, Run

NAMES = dict(
    zip(UNSUPPORTED_SENTENCES, ("a replacement", "a cancelled subscription", "a voucher", "a courier"), strict=True)
)
NOTHING = (
    "This run has no verdict on a reply with an unsupported claim, so this chapter has nothing to compute from it."
)
NO_MODEL = "No model has judged this run so far: what follows shows judges that work by fixed rules."


@dataclass(frozen=True)
class ClaimsChapter:
    """Frames on the unsupported claims of a run; baselines, which do not look, are left out.

    Attributes:
        detection: ``claims.detection``; sentences: ``claims.by_sentence``; strata: ``agreement.by_stratum`` over
            these faults and the clean runs; spoken: ``attention`` on these faults; control: on the clean runs.
        focus: the judge that the answer dwells on, see ``_focus``; None without a judge.
        miss: the most telling miss, with its trajectory.
    """

    detection: pd.DataFrame
    sentences: pd.DataFrame
    strata: pd.DataFrame
    spoken: pd.DataFrame
    control: pd.DataFrame
    focus: str | None
    miss: tuple[Trajectory, Verdict] | None

    @property
    def empty(self) -> bool:
        return not (self.detection["faults"] > 0).any()

    @property
    def judges(self) -> list[str]:
        return list(self.detection["judge_id"])

    def detects(self, judge: str) -> bool:
        own = self.detection.set_index("judge_id")["reading"]
        return bool(own[judge] == claims.ABOVE)

    @property
    def shares(self) -> pd.DataFrame:
        return attention_shares(self.spoken)

    def named(self) -> pd.DataFrame:
        """How often a rationale names the claim: frame judge_id, and ``k of n`` when passed, flagged, clean."""
        parts = {
            "passed": self.spoken[~self.spoken["flagged"].astype(bool)],
            "flagged": self.spoken[self.spoken["flagged"].astype(bool)],
            "clean": self.control,
        }
        counts = {
            part: frame.groupby("judge_id")["names_claim"].agg(["sum", "size"]).reindex(self.shares["judge_id"])
            for part, frame in parts.items()
        }
        table = pd.concat(counts, axis=1).fillna(0).astype(int)
        table.columns = [f"{part}_{'named' if what == 'sum' else 'n'}" for part, what in table.columns]
        return table.reset_index()

    def answer(self) -> Prose:
        """The chapter's answer in one paragraph."""
        if self.empty:
            return prose(NOTHING)
        return said(
            None if any(judge_name(judge).model for judge in self.judges) else prose(NO_MODEL),
            detection_answer(self.detection),
            sentence_answer(self.sentences, self.focus)
            if self.focus is not None and self.detects(self.focus)
            else None,
            None if self.focus is None else attention_answer(self.shares, self.named(), self.focus),
        )


def gather(opened: Run, frames: Frames, judges: Sequence[str]) -> ClaimsChapter:
    """Everything that the chapter shows of a run's ``judges``."""
    looking = [judge for judge in judges if judge not in BASELINES]
    rows = joined(frames.trajectories, frames.verdicts, looking)
    runs, verdicts = opened.trajectories(), [v for v in opened.verdicts() if v.judge_id in looking]
    which = claims.sentences_of(runs.values(), NAMES)
    about = [v for v in verdicts if v.trajectory_id in which]
    clean = [v for v in verdicts if not runs[v.trajectory_id].label.faulty]
    miss = claims.most_telling_miss(about, runs, looking)
    found = claims.detection(rows)
    return ClaimsChapter(
        detection=found,
        sentences=claims.by_sentence(rows, which),
        strata=_strata(rows),
        spoken=attention(about, runs, UNSUPPORTED_SENTENCES),
        control=attention(clean, runs, UNSUPPORTED_SENTENCES),
        focus=_focus(found),
        miss=None if miss is None else (runs[miss.trajectory_id], miss),
    )


def _strata(rows: pd.DataFrame) -> pd.DataFrame:
    """Claims and clean runs by stratum; recall of a judge of fixed rules has no interval."""
    table = by_stratum(rows[rows["true_type"].eq(claims.KIND) | ~rows["faulty"].astype(bool)])
    table.loc[table["judge_id"].map(is_fixed).astype(bool), ["recall_low", "recall_high"]] = float("nan")
    return table


def _focus(found: pd.DataFrame) -> str | None:
    """The judge whose recall exceeds its false-alarm rate most; one with a model and its own words before any other."""
    able = found[found["excess"].notna()]
    reasoning = able[[judge_name(judge).reasons for judge in able["judge_id"]]]
    choice = able if reasoning.empty else reasoning
    return None if choice.empty else str(choice.loc[choice["excess"].idxmax(), "judge_id"])


def detection_answer(found: pd.DataFrame) -> Prose:
    """Who catches unsupported claims more often than it flags clean runs, and who does not."""
    graded = found[found["reading"] != claims.OPEN]
    able = graded[graded["reading"] == claims.ABOVE]
    others = graded[graded["reading"] != claims.ABOVE]
    if graded.empty:
        return prose("No judge has judged both such replies and clean runs, so recall has nothing to be read against.")
    pairs = [
        prose(
            "{judge:code} ({recall:.3f} against {alarms:.3f})",
            judge=row["judge_id"],
            recall=row["recall"],
            alarms=row["false_alarm_rate"],
        )
        for _, row in others.iterrows()
    ]
    who = Prose(", ".join(str(pair) for pair in pairs))
    if able.empty:
        return prose(
            "No judge flags replies with an unsupported claim more often than it flags clean runs: {who}.", who=who
        )
    best = able.loc[able["excess"].idxmax()]
    first = prose(
        "{able} of {all} judges {flag} replies with an unsupported claim more often than clean runs. {judge:code} does "
        "so most clearly, {recall:ci} against a false-alarm rate of {alarms:ci}, and still lets {missed} of {n} pass.",
        able=len(able),
        all=len(graded),
        flag="flags" if len(able) == 1 else "flag",
        judge=best["judge_id"],
        recall=_estimate(best, "recall", "low", "high"),
        alarms=_estimate(best, "false_alarm_rate", "alarm_low", "alarm_high"),
        missed=int(best["faults"] - best["caught"]),
        n=int(best["faults"]),
    )
    return said(first, prose("No detection: {who}.", who=who) if pairs else None)


def sentence_answer(table: pd.DataFrame, judge: str) -> Prose | None:
    """Which claims a judge catches most and least often; None where it catches none."""
    own = table[table["judge_id"] == judge]
    if not own["caught"].any():
        return None
    if (own["value"] == own["value"].iloc[0]).all():
        return prose(
            "It treats the claims alike: {judge:code} catches {caught} of {n}.",
            judge=judge,
            caught=int(own["caught"].sum()),
            n=int(own["n"].sum()),
        )
    most, least = own.loc[own["value"].idxmax()], own.loc[own["value"].idxmin()]
    same = own[own["value"] == least["value"]]
    return prose(
        "It matters what is claimed: {judge:code} catches {most} in {caught} of {n} replies, but {least} in {few} of "
        "{of}.",
        judge=judge,
        most=most["sentence"],
        caught=int(most["caught"]),
        n=int(most["n"]),
        least=" or ".join(same["sentence"]),
        few=int(same["caught"].sum()),
        of=int(same["n"].sum()),
    )


def attention_answer(shares: pd.DataFrame, named: pd.DataFrame, judge: str) -> Prose | None:
    """What a judge's rationales speak of; None where it gives none."""
    own, counts = shares[shares["judge_id"] == judge], named[named["judge_id"] == judge]
    if own.empty:
        return None
    share, count = own.iloc[0], counts.iloc[0]
    first = prose(
        "Of the sentences in the rationales of {judge:code} on these runs, {steps:.0%} speak of the steps and "
        "{reply:.0%} of the reply",
        judge=judge,
        steps=share["steps"],
        reply=share["reply"],
    )
    if not count["passed_n"]:
        return prose("{first}.", first=first)
    return prose(
        "{first}; what the claim says is mentioned in {k} of the {n} that let it pass.",
        first=first,
        n=int(count["passed_n"]),
        k=int(count["passed_named"]),
    )


def miss_caption(miss: tuple[Trajectory, Verdict] | None, names: Mapping[str, str] = NAMES) -> Prose:
    """Which miss is shown in full, and by which rule."""
    if miss is None:
        return prose("No judge that reads the steps and says why has let an unsupported claim pass in this run.")
    run, verdict = miss
    claim = claims.sentences_of([run], names)[run.trajectory_id]
    return prose(
        "The rule: of all claims that a judge passed although it read the steps and gave reasons, the one passed with "
        "the highest confidence; on ties, the first in the run's order of judges and then of trajectories. Here that "
        "is {judge:code} on {id:code}, where the reply speaks of {claim}, passed at confidence {confidence:.2f}.",
        judge=verdict.judge_id,
        id=run.trajectory_id,
        claim=claim,
        confidence=verdict.confidence,
    )


def no_reasons(judges: Sequence[str]) -> Prose:
    """Whose rationales are not counted."""
    return prose(
        "Not counted, since their rationale is a count of votes or a fixed phrase: {who}.",
        who=listed(judge for judge in judges if not judge_name(judge).reasons),
    )


def _estimate(row: pd.Series, value: str, low: str, high: str) -> Estimate:
    return Estimate(float(row[value]), float(row[low]), float(row[high]), 0)
