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
from lib.analysis.scores import is_fixed
from lib.book.chapters.claims_words import attention_answer, detection_answer, sentence_answer
from lib.show.text import Prose, prose, said
from lib.desk.faults import UNSUPPORTED_SENTENCES
from lib.errors import COMMAND
from lib.records import Trajectory, Verdict
from lib.released import wording
from lib.run.folder import Frames, Run

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
            these faults and the clean trajectories; spoken: ``attention`` on these faults; control: on the clean trajectories.
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
    told = wording(opened)
    source = told or opened
    runs, verdicts = source.trajectories(), [v for v in source.verdicts() if v.judge_id in looking]
    which = claims.sentences_of(runs.values(), NAMES)
    about = [v for v in verdicts if v.trajectory_id in which]
    clean = [v for v in verdicts if not runs[v.trajectory_id].label.faulty]
    miss = claims.most_telling_miss(about, runs, looking)
    found = claims.detection(rows)
    return ClaimsChapter(
        detection=found,
        sentences=claims.by_sentence(rows, which),
        strata=_strata(rows),
        spoken=attention(about if told else [], runs, UNSUPPORTED_SENTENCES),
        control=attention(clean if told else [], runs, UNSUPPORTED_SENTENCES),
        focus=_focus(found),
        miss=None if miss is None else (runs[miss.trajectory_id], miss),
    )


def _strata(rows: pd.DataFrame) -> pd.DataFrame:
    """Claims and clean trajectories by stratum; recall of a judge of fixed rules has no interval."""
    table = by_stratum(rows[rows["true_type"].eq(claims.KIND) | ~rows["faulty"].astype(bool)])
    table.loc[table["judge_id"].map(is_fixed).astype(bool), ["recall_low", "recall_high"]] = float("nan")
    return table


def _focus(found: pd.DataFrame) -> str | None:
    """The judge whose recall exceeds its false-alarm rate most; one with a model and its own words before any other."""
    able = found[found["excess"].notna()]
    reasoning = able[[judge_name(judge).reasons for judge in able["judge_id"]]]
    choice = able if reasoning.empty else reasoning
    return None if choice.empty else str(choice.loc[choice["excess"].idxmax(), "judge_id"])


def miss_caption(miss: tuple[Trajectory, Verdict] | None, names: Mapping[str, str] = NAMES) -> Prose:
    """Which miss is shown in full, and by which rule."""
    if miss is None:
        return prose(
            "There is none: no judge let such a claim pass with a reason, or the reasons are not here (those of the "
            "paper's run come with {command:code}).",
            command=f"{COMMAND} fetch paper",
        )
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
