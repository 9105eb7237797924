"""What a judge's rationale speaks of: the steps that were taken, or the reply that was sent.

The rule is a list of words and nothing more, so that anyone can check it by eye. A rationale is cut into sentences; a
sentence speaks of the steps when it has a word of ``STEPS`` or the name of a tool other than ``reply``, and of the
reply when it has a word of ``REPLY`` or names the step at which the reply is sent. It can do both, or neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from lib.records import About, Trajectory, Verdict

STEPS = (
    *(r"steps?", r"thoughts?", r"tools?", r"call(?:s|ed|ing)?", r"arguments?", r"observ\w*", r"look(?:s|ed|ing)? up"),
    *(r"lookup", r"verif\w*", r"polic(?:y|ies)", r"eligib\w*", r"escalat\w*", r"authori[sz]\w*"),
)
REPLY = (
    *(r"repl(?:y|ies|ied|ying)", r"answer\w*", r"messages?", r"response", r"inform(?:s|ed|ing)?", r"tell(?:s|ing)?"),
    *(r"told", r"promis\w*", r"assert\w*", r"claim(?:s|ed)?", r"close[sd]? the loop", r"closing the loop"),
)
PARTS = ("steps only", "both", "reply only", "neither")
FIELDS = ("judge", "trajectory_id", "flagged", "sentences", *PARTS, "names_claim")

_MARKER = re.compile(r"^\s*(?:[-*•#>]+|\(?\d{1,2}[.):])\s+")
_END = re.compile(r"(?<=[.!?])[\"'’”)\]]*\s+(?=[\"'‘“(\[]*[A-Z0-9`*-])")
_WORD = re.compile(r"[a-z]+")
_STEPS = re.compile(rf"\b(?:{'|'.join(STEPS)})\b", re.IGNORECASE)
_REPLY = re.compile(rf"\b(?:{'|'.join(REPLY)})\b", re.IGNORECASE)
STEM, LEAST_WORD = 6, 5
"""Words of at least LEAST_WORD letters are compared by their first STEM letters: ``cancelled`` and ``cancelling``."""


def reasons(about: About) -> bool:
    """Whether a judge's rationale is a model's own words (an ensemble's is a count of votes)."""
    return about.model is not None and about.members == 1


def sentences(rationale: str) -> list[str]:
    """The sentences of a rationale: lines, cut after . ! or ? where a new one begins; list markers are dropped."""
    lines = (_MARKER.sub("", line) for line in rationale.splitlines())
    cut = (part.strip() for line in lines for part in _END.split(line))
    return [part for part in cut if _WORD.search(part.lower())]


def speaks_of(sentence: str, tools: Iterable[str] = (), reply_step: int | None = None) -> str:
    """Which of PARTS a sentence is.

    Args:
        tools: names of the tools that were called; ``reply`` is the reply's.
        reply_step: index of the step that sends the reply.
    """
    named = {tool for tool in tools if tool != "reply" and re.search(rf"\b{re.escape(tool)}\b", sentence)}
    at_reply = False
    if reply_step is not None:
        sentence, replaced = re.subn(rf"\bstep\s*#?{reply_step}\b", "", sentence, flags=re.IGNORECASE)
        at_reply = replaced > 0
    steps, reply = bool(named or _STEPS.search(sentence)), at_reply or bool(_REPLY.search(sentence))
    return PARTS[1] if steps and reply else PARTS[0] if steps else PARTS[2] if reply else PARTS[3]


def telling_stems(sentence: str, elsewhere: str) -> set[str]:
    """Stems of a sentence's longer words that the rest of what was shown does not have."""
    return _stems(sentence) - _stems(elsewhere)


def attention(
    verdicts: Iterable[Verdict],
    trajectories: Mapping[str, Trajectory],
    abouts: Mapping[str, About],
    claims: Sequence[str] = (),
) -> pd.DataFrame:
    """What the rationale of each verdict speaks of, for judges whose rationale is a model's own words.

    Args:
        abouts: what each judge says of itself.
        claims: sentences that no observation supports, as they may stand in a final answer.

    Returns:
        Frame of FIELDS: the number of sentences and of each of PARTS, and ``names_claim``: whether the rationale has
        two telling stems or more of the claim in the answer. Where the answer has none of ``claims``, any of them
        counts: how often that happens says how far the rule can be trusted.
    """
    rows = []
    for verdict in verdicts:
        if not reasons(abouts[verdict.judge_id]) or not verdict.rationale.strip():
            continue
        shown = trajectories[verdict.trajectory_id]
        found = sentences(verdict.rationale)
        tools = {step.call.tool for step in shown.steps}
        reply_step = next((step.index for step in reversed(shown.steps) if step.call.tool == "reply"), None)
        parts = [speaks_of(sentence, tools, reply_step) for sentence in found]
        named = _names_claim(verdict.rationale, shown, claims)
        counts = [parts.count(part) for part in PARTS]
        rows.append([verdict.judge_id, shown.trajectory_id, verdict.faulty, len(found), *counts, named])
    return pd.DataFrame(rows, columns=list(FIELDS)).astype({"names_claim": "boolean", "flagged": "boolean"})


def attention_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Sentences of all rationales of a judge together.

    Returns:
        Frame judge, rationales, sentences (per rationale), PARTS (shares of sentences), steps, reply (shares that
        speak of each, so that ``both`` counts in both).
    """
    groups = frame.groupby("judge", sort=False)
    total = groups[["sentences", *PARTS]].sum().astype(float)
    shares = total[list(PARTS)].div(total["sentences"].where(total["sentences"] > 0), axis=0)
    shares.insert(0, "rationales", groups.size())
    shares.insert(1, "sentences", total["sentences"] / shares["rationales"])
    shares["steps"] = shares["steps only"] + shares["both"]
    shares["reply"] = shares["reply only"] + shares["both"]
    return shares.reset_index()


def _names_claim(rationale: str, shown: Trajectory, claims: Sequence[str]) -> bool:
    there = [claim for claim in claims if claim in shown.final_answer]
    calls = (f"{step.thought} {step.call.args} {step.observation.data}" for step in shown.steps)
    elsewhere = " ".join([shown.goal, shown.final_answer, *calls])
    for claim in there:
        elsewhere = elsewhere.replace(claim, "")
    said = _stems(rationale)
    return any(len(telling_stems(claim, elsewhere) & said) >= 2 for claim in there or claims)


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in _WORD.findall(text.lower()) if len(word) >= LEAST_WORD}
