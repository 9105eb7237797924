"""Chapter 2 in sentences: who detects the claims, which of them, and what the rationales speak of."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from lib.analysis import claims
from lib.analysis.judges import judge_name
from lib.analysis.scores import Estimate, is_fixed
from lib.show.tables import Table
from lib.show.text import Prose, listed, prose, said


LONGEST_SENTENCE = 160


def detection_answer(found: pd.DataFrame) -> Prose:
    """Who catches unsupported claims more often than it flags clean trajectories, and who does not."""
    graded = found[found["reading"] != claims.OPEN]
    able = graded[graded["reading"] == claims.ABOVE]
    others = graded[graded["reading"] != claims.ABOVE]
    if graded.empty:
        return prose("No judge has judged both such replies and clean trajectories, so recall has nothing to be read against.")
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
            "No judge flags replies with an unsupported claim more often than it flags clean trajectories: {who}.", who=who
        )
    best = able.loc[able["excess"].idxmax()]
    first = prose(
        "{able} of {all} judges {flag} replies with an unsupported claim more often than clean trajectories. {judge:code} does "
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
    drawn = int((~graded["judge_id"].map(is_fixed)).sum())
    by_chance = prose(
        "Each is held to 95 % by itself; were the {k} judges with an interval all blind, one or more would seem to see with a "
        "probability of at most {chance:.0%}.",
        k=drawn,
        chance=min(1.0, 0.025 * drawn),
    )
    return said(first, by_chance if drawn > 1 else None, prose("No detection: {who}.", who=who) if pairs else None)


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
        "Of the sentences in the rationales of {judge:code} on these trajectories, {steps:.0%} speak of the steps and "
        "{reply:.0%} of the reply",
        judge=judge,
        steps=share["steps"],
        reply=share["reply"],
    )
    if not count["passed_n"]:
        return prose("{first}.", first=first)
    return prose(
        "{first}; what the claim says is mentioned in {k} of the {n} that let it pass" + (
            ", and in {flagged_k} of the {flagged_n} that flag it." if count["flagged_n"] else "."
        ),
        first=first,
        n=int(count["passed_n"]),
        k=int(count["passed_named"]),
        flagged_n=int(count["flagged_n"]),
        flagged_k=int(count["flagged_named"]),
    )


def stock_answer(stock: pd.DataFrame) -> Prose:
    """Which judge says one and the same sentence most often, and with which verdicts.

    Args:
        stock: of ``attention.commonest_sentences``.
    """
    if stock.empty:
        return prose("No judge of this run gives reasons in words of its own.")
    most = stock.loc[(stock["n"] / stock["rationales"]).idxmax()]
    return prose(
        "The rationales of {judge:code} are the most alike: one sentence stands in {n} of {of}, of which {clean} come with the "
        "verdict clean and {flagged} with the verdict faulty. It reads: “{sentence}”",
        judge=most["judge_id"],
        n=int(most["n"]),
        of=int(most["rationales"]),
        clean=int(most["clean"]),
        flagged=int(most["n"] - most["clean"]),
        sentence=shortened(most["sentence"]),
    )


def stock_table(stock: pd.DataFrame) -> Table | None:
    """Each judge's commonest sentence."""
    if stock.empty:
        return None
    shown = pd.DataFrame(
        {
            "judge": stock["judge_id"],
            "its commonest sentence": stock["sentence"].map(shortened),
            "rationales with it": [f"{row.n} of {row.rationales}" for row in stock.itertuples()],
            "of those, clean": stock["clean"],
        }
    )
    return Table(shown.set_index("judge"), "The sentence that stands in most rationales of each judge", data=stock)


def shortened(sentence: str) -> str:
    """At most a line or two of a sentence; a model may write one without an end."""
    text = " ".join(sentence.split())
    return text if len(text) <= LONGEST_SENTENCE else f"{text[:LONGEST_SENTENCE].rstrip()} …"


def no_reasons(judges: Sequence[str]) -> Prose:
    """Whose rationales are not counted."""
    return prose(
        "Not counted, since their rationale is a count of votes or a fixed phrase: {who}.",
        who=listed(judge for judge in judges if not judge_name(judge).reasons),
    )


def _estimate(row: pd.Series, value: str, low: str, high: str) -> Estimate:
    return Estimate(float(row[value]), float(row[low]), float(row[high]), 0)
