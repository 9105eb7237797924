"""Chapter 3: which judges are able at all, by the size of their model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lib.analysis.calibration import calibration_summary
from lib.analysis.capability import BASELINES, COIN, base_rates, floor_check, nearest_baseline
from lib.analysis.joined import joined
from lib.analysis.judges import NO_MODEL, judge_name, model_size, size_text
from lib.analysis.scores import Scores
from lib.analysis.within import within_strata
from lib.show.text import Prose, listed, prose, said
from lib.run.folder import Frames

MODEL_FREE = (
    "No model has judged this run so far, so there is no size to read: the table below holds only judges without one."
)


@dataclass(frozen=True)
class FloorChapter:
    """Every judge with its size and its grade.

    Attributes:
        table: columns of ``floor_check``, within, within_low, within_high (``within_strata``), size (parameters),
            group (size in words), tokens (per reply; an ensemble's divided by its members), distinct, commonest,
            commonest_share, unparseable, truncated; judges without a model first, then by size, otherwise in the
            run's order.
        absent: what the baselines that nobody collected would score, as of ``base_rates``.
        bar: F1 of always-faulty over all trajectories of the run.
    """

    table: pd.DataFrame
    absent: pd.DataFrame
    bar: float

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(self.table["group"]))

    @property
    def models(self) -> pd.DataFrame:
        return self.table[[judge_name(judge).model is not None for judge in self.table["judge_id"]]]

    def answer(self) -> Prose:
        """The chapter's answer in one paragraph."""
        if self.models.empty:
            return said(prose(MODEL_FREE), _rules(self.table))
        graded = self.models[self.models["passed"].notna()]
        if graded.empty:
            return prose("No judge with a model has judged enough faulty and clean trajectories of this run to be graded.")
        return said(grades(graded), case_reading(graded), size_reading(graded), f1_reading(graded))


def gather(frames: Frames, scores: Scores, settings: Mapping[str, Mapping[str, Any] | None]) -> FloorChapter:
    """Everything that the chapter shows.

    Args:
        settings: each judge's entry in run.json.
    """
    checks = floor_check(scores)
    rows = joined(frames.trajectories, frames.verdicts, scores.judges)
    summary, within = calibration_summary(rows), within_strata(rows).drop(columns="strata")
    table = checks.merge(summary[["judge_id", "distinct", "commonest", "commonest_share"]], on="judge_id", how="left")
    table = table.merge(scores.status[["judge_id", "unparseable", "truncated"]], on="judge_id", how="left")
    within = within.rename(columns={"value": "within", "low": "within_low", "high": "within_high"})
    table = table.merge(within, on="judge_id", how="left")
    sizes = {judge: model_size(judge, settings.get(judge)) for judge in scores.judges}
    table["size"] = table["judge_id"].map(sizes).astype(float)
    table["group"] = [size_text(judge, sizes[judge]) for judge in table["judge_id"]]
    table["tokens"] = [
        scores.estimate(judge, "completion_tokens_per_trajectory").value / judge_name(judge).k
        if judge_name(judge).model
        else float("nan")
        for judge in table["judge_id"]
    ]
    rank = table["size"].where(table["group"] != NO_MODEL, -1)
    table = table.iloc[rank.argsort(kind="stable")].reset_index(drop=True)
    rates = base_rates(frames.trajectories)
    return FloorChapter(table, rates[~rates["judge_id"].isin(table["judge_id"])], float(rates["f1"].iloc[0]))


def grades(graded: pd.DataFrame) -> Prose:
    """Who passes and who fails, with the reason."""
    passed, failed = graded[graded["passed"].astype(bool)], graded[~graded["passed"].astype(bool)]
    better = "tell faulty trajectories from clean ones better than a judge that does not look"
    first = (
        prose(f"No judge with a model can {better}.")
        if passed.empty
        else prose(
            "{k} of {n} judges with a model " + better + ": {who}.",
            k=len(passed),
            n=len(graded),
            who=listed(passed["judge_id"]),
        )
    )
    why = failed.apply(_shortcoming, axis=1)
    groups = [
        prose("{who} {why}", who=listed(own["judge_id"]), why=text) for text, own in failed.groupby(why, sort=False)
    ]
    return said(first, prose("Below the floor: {who}.", who=Prose("; ".join(map(str, groups))))) if groups else first


def _shortcoming(row: pd.Series) -> str:
    if row["share_flagged"] in (0, 1):
        return "(flagging nothing)" if row["share_flagged"] == 0 else "(flagging everything)"
    nearest = nearest_baseline(row["share_flagged"])
    if row["high"] < 0 and nearest == COIN:
        return "(flagging clean trajectories more often than faulty ones)"
    return f"(no better than {nearest})"


def case_reading(graded: pd.DataFrame) -> Prose | None:
    """Which J comes from the kind of case, not from the fault; None where none does."""
    passed, below = graded["passed"].astype(bool), graded["high"] < 0
    only = graded[(passed | below) & (graded["within_low"] <= 0) & (graded["within_high"] >= 0)]
    turned = graded[below & (graded["within_low"] > 0)]
    told = [
        None
        if only.empty
        else prose(
            "Within one kind of case nothing is left of the J of {who}: what is flagged is the case, not the fault.",
            who=listed(only["judge_id"]),
        ),
        None
        if turned.empty
        else prose(
            "Within one kind of case {who} {flag} faulty trajectories more often than clean ones after all; the kinds of case "
            "that are flagged most are those with few faults.",
            who=listed(turned["judge_id"]),
            flag="flags" if len(turned) == 1 else "flag",
        ),
    ]
    return None if only.empty and turned.empty else said(*told)


def size_reading(graded: pd.DataFrame) -> Prose | None:
    """Whether the grades follow size, in this run; None where the sizes can't say."""
    sized = graded[graded["size"].notna()]
    passed, failed = sized[sized["passed"].astype(bool)], sized[~sized["passed"].astype(bool)]
    if sized["size"].nunique() < 2:
        return prose("Models of only one size have judged, so nothing here tells what size does.")
    if passed.empty:
        return prose("No size tried is enough; the largest is {size}.", size=_largest(failed))
    if failed.empty:
        return prose("Every size tried is enough; the smallest is {size}.", size=_smallest(passed))
    if failed["size"].max() < passed["size"].min():
        return prose(
            "The floor lies between {low}, the largest model that fails, and {high}, the smallest that passes: "
            "such a gap is no law, since models differ in more than their size.",
            low=_largest(failed),
            high=_smallest(passed),
        )
    high, low = _largest(failed), _smallest(passed)
    if high == low:
        return prose("Size alone does not decide: of the judges of {size}, some pass and some fail.", size=low)
    return prose("Size alone does not decide: a judge of {high} fails while one of {low} passes.", high=high, low=low)


def f1_reading(graded: pd.DataFrame) -> Prose:
    """How F1 misleads: flagging everything has much of it, and who fails may have more than who passes."""
    below = graded[graded["f1"].isna() | (graded["f1"] < graded["f1_always_faulty"])]
    passed = graded["passed"].astype(bool)
    able, unable = graded[passed].dropna(subset="f1"), graded[~passed].dropna(subset="f1")
    text = prose(
        "Flagging everything without looking has an F1 of {bar}; below it: {k} of {n}.",
        bar=_bars(graded),
        k=len(below),
        n=len(graded),
    )
    if able.empty or unable.empty or unable["f1"].max() <= able["f1"].min():
        return text
    top, least = unable.loc[unable["f1"].idxmax()], able.loc[able["f1"].idxmin()]
    return said(
        text,
        prose(
            "F1 shows the share of faults more than ability: {failing:code} fails with {more:.3f}, {passing:code} "
            "passes with {less:.3f}.",
            failing=top["judge_id"],
            more=top["f1"],
            passing=least["judge_id"],
            less=least["f1"],
        ),
    )


def _bars(graded: pd.DataFrame) -> str:
    low, high = graded["f1_always_faulty"].min(), graded["f1_always_faulty"].max()
    return f"{low:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"


def _rules(table: pd.DataFrame) -> Prose | None:
    own = table[~table["judge_id"].isin(BASELINES)]
    reasons = [prose("{j:code}: {reason}", j=row["judge_id"], reason=row["reason"]) for _, row in own.iterrows()]
    return Prose("; ".join(str(reason) for reason in reasons) + ".") if reasons else None


def _largest(table: pd.DataFrame) -> str:
    return str(table.loc[table["size"].idxmax(), "group"])


def _smallest(table: pd.DataFrame) -> str:
    return str(table.loc[table["size"].idxmin(), "group"])
