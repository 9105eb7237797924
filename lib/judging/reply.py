"""From a model's reply text to the fields of a judgement.

A reply is read only if it is one verdict and nothing else that could be one, or could contradict it: one JSON object,
perhaps after a declared thought, in a fence, or behind words that announce it. What a reply quotes can therefore not
win, in whatever order it is quoted; at worst the reply is unread. Everything here takes linear time.
"""

from __future__ import annotations

import json
import math
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

from lib.records import FAULT_TYPES, Confidence, FaultType, Status, StepIndex

LONGEST_INT = 18  # decimal digits that fit a signed 64-bit integer, which is what JSON encoders agree on
LONGEST_RAW_STEP = 200
LONGEST_REPLY = 100_000  # characters kept; a verdict that was asked for takes a hundredth of it

_NUMBER = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)(?:\s*(%))?")
_STEP_TEXT = re.compile(r"([0-9]{1,18})(?:\.0+)?")

# How thoughts are marked: DeepSeek and Qwen, Mistral, and the channels of gpt-oss (harmony), also with its marks lost.
_THOUGHT_OPENS = re.compile(r"<think>|\[THINK\]")
_THOUGHT_CLOSES = re.compile(r"</think>|\[/THINK\]")
_CHANNELS_OPEN = re.compile(r"<\|(?:channel|start)\|>|analysis")
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final\b[^<]{0,20}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>|assistantfinal")
_MAYBE_VERDICT = re.compile(r'\{\s*"|faulty"')

# What may stand around a verdict: words that announce an answer but can say nothing of it, fences, marks of the end.
_LEAD = re.compile(
    r"""(?:[\s`*#:,.!'’]|\b(?:here|is|are|s|my|the|your|a|an|this|i|have|sure|certainly|ok|okay|so|as|in|of|on|for|to|with
    |and|after|based|below|above|following|provided|requested|required|valid|structured|json|format|schema|object|final
    |verdict|answer|result|response|output|judgement|judgment|assessment|evaluation|audit|review|analysis|trajectory)
    \b)*""",
    re.IGNORECASE | re.VERBOSE,
)
_REST = re.compile(r"(?:[\s`]|<\|[a-z_]{1,20}\|>|</s>|<end_of_turn>)*")

# Comments and trailing commas, and the strings that they are not in.
_LOOSE = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|//[^\n]*|/\*(?:.*?\*/|.*)|,(?=\s*[}\]])', re.DOTALL)
_KEY = re.compile(r'[\s{,]*"')
_COLON = re.compile(r"\s*:\s*")


class Unread(Exception):
    """Why a reply is not read, in one short phrase."""


class Found(Struct, frozen=True):
    """A reply's one verdict: its fields, the reply from the word of ``faulty`` on, and what was mended."""

    fields: dict[str, Any]
    tail: str
    mended: list[str]


class Reading(Struct, frozen=True, kw_only=True):
    """What a reply says; the fields are those of ``lib.records.Judgement``, and ``tail`` as in ``Found``."""

    faulty: bool = False
    failure_step: StepIndex | None = None
    failure_type: FaultType | None = None
    confidence: Confidence = 0.5
    rationale: str = ""
    status: Status = "ok"
    reason: str | None = None
    raw_step: Any = None
    coercions: list[str] = []
    tail: str | None = None


def read_reply(text: str, finish_reason: str | None, n_steps: int | None) -> Reading:
    """Read a reply about a trajectory of ``n_steps`` steps (None: the outcome view, which has no steps to name).

    A reply that was cut off (finish reason ``length``) or is no single verdict votes clean at 0.5, with its status.
    """
    if finish_reason == "length":
        return Reading(status="truncated", reason="cut off at the cap on tokens")
    try:
        found = own_verdict(text)
        notes = list(found.mended)
        return _read_fields(found, n_steps, notes)
    except Unread as unread:
        return Reading(status="unparseable", reason=str(unread))


def _read_fields(found: Found, n_steps: int | None, notes: list[str]) -> Reading:
    verdict = found.fields
    raw_step, raw_type = verdict.get("failure_step"), verdict.get("failure_type")
    faulty = _read_faulty(verdict["faulty"], notes)
    if not faulty:
        notes += [
            f"{field} dropped: the verdict is not faulty"
            for field, raw in (("failure_step", raw_step), ("failure_type", raw_type))
            if raw not in (None, "none")
        ]
    return Reading(
        faulty=faulty,
        failure_step=_read_step(raw_step, n_steps, notes) if faulty else None,
        failure_type=_read_type(raw_type, notes) if faulty else None,
        confidence=_read_confidence(verdict.get("confidence"), notes),
        rationale=_read_rationale(verdict.get("reasoning"), notes),
        raw_step=_storable(raw_step),
        coercions=notes,
        tail=found.tail,
    )


def kept_reply(text: str) -> tuple[str, list[str]]:
    """The part of a reply that a run keeps, and what to say of it among the coercions."""
    if len(text) <= LONGEST_REPLY:
        return text, []
    return text[:LONGEST_REPLY], [f"raw_reply cut from {len(text)} characters to {LONGEST_REPLY}"]


def storable_text(text: str) -> str:
    """The text with every lone surrogate replaced, so that it can be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def own_verdict(text: str) -> Found:
    """The one verdict that a reply is. Raises Unread."""
    text = text.strip().removeprefix("\ufeff")
    if not text:
        raise Unread("the reply is empty")
    if _CHANNELS_OPEN.match(text):
        parts = _FINAL_CHANNEL.split(text, maxsplit=1)
        if len(parts) < 2:
            raise Unread("the reply has no final channel")
        return _only_verdict(parts[1])
    closes = _THOUGHT_CLOSES.search(text)
    if _THOUGHT_OPENS.match(text):
        if closes is None:
            raise Unread("the reply is a thought without an end")
        return _only_verdict(text[closes.end() :])
    try:
        return _only_verdict(text)
    except Unread:
        # The opening mark may have stood in the prompt. What comes before the closing one must then be a thought, not
        # a verdict in which, or after which, that mark is quoted.
        if closes is None or _MAYBE_VERDICT.search(text, 0, closes.start()):
            raise
        return _only_verdict(text[closes.end() :])


def _only_verdict(text: str) -> Found:
    """The verdict that a text is, but for what announces it, a fence, and marks of its end."""
    brace = text.find("{")
    if brace < 0:
        raise Unread("no JSON object in the reply")
    fields, end, text, mended = _decode(text, brace)
    if "faulty" not in fields:
        raise Unread("no verdict in the reply: faulty is missing")
    if not _LEAD.fullmatch(text, 0, brace) or not _REST.fullmatch(text, end):
        raise Unread("there is other text beside the verdict")
    return Found(fields, text[value_at(text, brace, "faulty") :].lstrip(' "'), mended)


def _decode(text: str, brace: int) -> tuple[dict[str, Any], int, str, list[str]]:
    """The object at a brace, its end, the text that it was read from, and what had to be mended there.

    Mending is what a grammar tells, never a guess: it keeps every place, and adds or moves no quotation mark.
    """
    try:
        return *_DECODER.raw_decode(text, brace), text, []
    except (ValueError, RecursionError):
        pass
    loose = _LOOSE.sub(lambda found: found[1] or " " * len(found[0]), text[brace:])
    if loose.count("faulty") < text.count("faulty", brace):
        raise Unread("a comment in the reply speaks of faulty too")
    mended = ["JSON with comments or trailing commas"] if loose != text[brace:] else ["JSON with raw line breaks"]
    text = text[:brace] + loose
    try:
        return *_LENIENT.raw_decode(text, brace), text, mended
    except (ValueError, RecursionError):
        raise Unread("no JSON object that can be read in the reply") from None


def value_at(text: str, at: int, *keys: str) -> int:
    """Where the value of the first of ``keys`` begins in the object at ``at``; where that object ends if none is in it.

    The object must be one that can be read.
    """
    while opens := _KEY.match(text, at):
        key, at = scanstring(text, opens.end(), False)
        colon = _COLON.match(text, at)
        at = colon.end() if colon else at
        if key in keys:
            break
        _, at = _LENIENT.raw_decode(text, at)
    return at


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ; a repeated key says two things at once, so the object says nothing."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is repeated")
    return fields


# Numbers no JSON encoder could write again (NaN, infinities, integers over 64 bits) stay the text they were.
_HOOKS: dict[str, Any] = {
    "object_pairs_hook": _unique,
    "parse_int": lambda digits: int(digits) if len(digits) <= LONGEST_INT else digits,
    "parse_float": lambda digits: float(digits) if math.isfinite(float(digits)) else digits,
    "parse_constant": lambda name: name,
}
_DECODER = json.JSONDecoder(**_HOOKS)
_LENIENT = json.JSONDecoder(strict=False, **_HOOKS)


def _read_faulty(raw: Any, notes: list[str]) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and (word := raw.strip().lower()) in ("true", "false"):
        notes.append("faulty was text")
        return word == "true"
    raise Unread("faulty is neither true nor false")


def _read_step(raw: Any, n_steps: int | None, notes: list[str]) -> int | None:
    if raw is None or n_steps is None:
        return None
    step: int | None = None
    if isinstance(raw, int | float) and not isinstance(raw, bool) and raw == int(raw):
        step = int(raw)
    elif isinstance(raw, str) and (match := _STEP_TEXT.fullmatch(raw.strip())):
        step = int(match[1])
    if step is None:
        notes.append("failure_step is no step index")
    elif not 0 <= step < n_steps:
        notes.append("failure_step is outside the trajectory")
        return None
    elif not isinstance(raw, int):
        notes.append("failure_step was not an integer")
    return step


def _read_type(raw: Any, notes: list[str]) -> FaultType | None:
    if isinstance(raw, str) and raw in FAULT_TYPES:
        return raw
    if raw not in (None, "none"):
        notes.append("failure_type is unknown")
    return None


def _read_confidence(raw: Any, notes: list[str]) -> float:
    """The probability meant: percentages are scaled, [0.5, 1] is enforced, and none, or no probability, is 0.5."""
    if raw is None:
        notes.append("confidence is missing")
        return 0.5
    match = _NUMBER.fullmatch(raw.strip() if isinstance(raw, str) else repr(raw))
    if match is None or isinstance(raw, bool):
        raise Unread("confidence is no number")
    value = float(match[1])
    percent = bool(match[2]) or 2 <= value <= 100
    if value < 0 or value > 100:
        notes.append("confidence is no probability")
        return 0.5
    if percent:
        notes.append("confidence was a percentage")
        value /= 100
    elif isinstance(raw, str):
        notes.append("confidence was text")
    clamped = min(max(value, 0.5), 1.0)
    if clamped != value:
        notes.append("confidence clamped")
    return clamped


def _read_rationale(raw: Any, notes: list[str]) -> str:
    if isinstance(raw, str):
        if len(raw) > LONGEST_REPLY:
            notes.append(f"reasoning cut from {len(raw)} characters to {LONGEST_REPLY}")
        return storable_text(raw[:LONGEST_REPLY])
    if raw is not None:
        notes.append("reasoning was not text")
    return ""


def _storable(raw: Any) -> Any:
    """A raw value as it stood if it is a plain one; text and containers cut to a length every encoder can write."""
    if raw is None or isinstance(raw, bool | int | float):
        return raw
    if isinstance(raw, str):
        return storable_text(raw)[:LONGEST_RAW_STEP]
    written = json.dumps(raw)
    return raw if len(written) <= LONGEST_RAW_STEP and "\\ud" not in written else written[:LONGEST_RAW_STEP]
