"""From a model's reply text to the fields of a judgement.

Only the model's own verdict counts. A verdict that is quoted, by the model's reasoning or by the text it was shown,
is inside a string of the model's own object, before ``</think>``, or beside that object; the first two are never
looked at, and in the last case nobody can tell which one is meant, so the reply is unparseable. No order of quoting
can therefore make a forged verdict win.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from msgspec import Struct

from lib.records import FAULT_TYPES, Confidence, FaultType, Status, StepIndex

CLOSED_THINKING = "</think>"
OPEN_THINKING = "<think>"
LONGEST_INT = 18  # decimal digits that fit a signed 64-bit integer, which is what JSON encoders agree on
LONGEST_RAW_STEP = 200
LONGEST_REPLY = 100_000  # characters kept; a verdict that was asked for takes a hundredth of it

_NUMBER = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*")
_STEP_TEXT = re.compile(r"\s*([0-9]{1,18})(?:\.0+)?\s*")
_VERDICT_REMAINS = re.compile(r'\{\s*"|"faulty"\s*:')


class Reading(Struct, frozen=True, kw_only=True):
    """What a reply says; the fields are those of ``lib.records.Judgement``."""

    faulty: bool = False
    failure_step: StepIndex | None = None
    failure_type: FaultType | None = None
    confidence: Confidence = 0.5
    rationale: str = ""
    status: Status = "ok"
    raw_step: Any = None
    coercions: list[str] = []


def read_reply(text: str, finish_reason: str | None, n_steps: int | None) -> Reading:
    """Read a reply about a trajectory of ``n_steps`` steps (None: the outcome view, which has no steps to name).

    A reply that was cut off (finish reason ``length``) or holds no single verdict votes clean at 0.5, with its status.
    """
    if finish_reason == "length":
        return Reading(status="truncated")
    verdict = own_verdict(text)
    notes: list[str] = []
    faulty = _read_faulty(verdict.get("faulty"), notes) if verdict is not None else None
    if verdict is None or faulty is None:
        return Reading(status="unparseable")
    raw_step = verdict.get("failure_step")
    raw_type = verdict.get("failure_type")
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
    )


def kept_reply(text: str) -> tuple[str, list[str]]:
    """The part of a reply that a run keeps, and what to say of it among the coercions."""
    if len(text) <= LONGEST_REPLY:
        return text, []
    return text[:LONGEST_REPLY], [f"raw_reply cut from {len(text)} characters to {LONGEST_REPLY}"]


def storable_text(text: str) -> str:
    """The text with every lone surrogate replaced, so that it can be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def own_verdict(text: str) -> dict[str, Any] | None:
    """The one JSON object that is the model's verdict, or None when there is none or no telling which one it is.

    The whole reply is tried first, then what follows each ``</think>``, and last the one object amid other text.
    """
    text = text.strip().removeprefix("\ufeff")
    whole = _decode(text)
    if whole is not None:
        return whole if isinstance(whole, dict) else None
    thinking, *answers = text.split(CLOSED_THINKING)
    declared = text.startswith(OPEN_THINKING)
    if not answers:
        return None if declared else _only_object(text)
    if not declared and _VERDICT_REMAINS.search(_objects(thinking)[1]):
        return None  # an unfinished object comes before the mark, so the mark may be quoted inside it
    for i in range(len(answers)):
        answer = _decode(CLOSED_THINKING.join(answers[i:]).strip())
        if isinstance(answer, dict):
            return answer
    return _only_object(answers[-1])


def _only_object(text: str) -> dict[str, Any] | None:
    """The verdict amid other text, if every verdict there says the same and no part of another one is left over."""
    found, rest = _objects(text)
    verdicts = [item for item in found if "faulty" in item]
    if not verdicts or _VERDICT_REMAINS.search(rest):
        return None
    return verdicts[0] if all(item == verdicts[0] for item in verdicts) else None


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """The outermost JSON objects in a text, in order, and the text without them."""
    found, rest, position = [], [], 0
    while (brace := text.find("{", position)) >= 0:
        rest.append(text[position:brace])
        try:
            item, position = _DECODER.raw_decode(text, brace)
            found.append(item)
        except (ValueError, RecursionError):
            if _VERDICT_REMAINS.match(text, brace):
                return found, "".join([*rest, text[brace:]])
            rest.append("{")
            position = brace + 1
    return found, "".join([*rest, text[position:]])


def _decode(text: str) -> Any:
    """The JSON value that is the whole text, or None."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys differ; a repeated key says two things at once, so the object says nothing."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is repeated")
    return fields


# Numbers no JSON encoder could write again (NaN, infinities, integers over 64 bits) stay the text they were.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_INT else digits,
    parse_float=lambda digits: float(digits) if math.isfinite(float(digits)) else digits,
    parse_constant=lambda name: name,
)


def _read_faulty(raw: Any, notes: list[str]) -> bool | None:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and (word := raw.strip().lower()) in ("true", "false"):
        notes.append("faulty was text")
        return word == "true"
    return None


def _read_step(raw: Any, n_steps: int | None, notes: list[str]) -> int | None:
    if raw is None or n_steps is None:
        return None
    step: int | None = None
    if isinstance(raw, int | float) and not isinstance(raw, bool) and raw == int(raw):
        step = int(raw)
    elif isinstance(raw, str) and (match := _STEP_TEXT.fullmatch(raw)):
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
    """The probability meant: percentages are scaled, [0.5, 1] is enforced, and what is no probability is 0.5."""
    match = _NUMBER.fullmatch(raw if isinstance(raw, str) else repr(raw))
    if match is None or isinstance(raw, bool):
        notes.append("confidence is missing or no number")
        return 0.5
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
