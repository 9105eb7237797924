"""From a model's reply to a verdict or to a plan. A reply is data: read as JSON or not at all, never mended."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from lib.plans.records import LEVELS, METRICS, Levels, Metric
from lib.records import ToolCall

_FENCE = re.compile(r"\A```(?:json)?\s*(.*?)\s*```\Z", re.DOTALL)


class Unread(Exception):
    """Why a reply cannot be used, in one short phrase."""


class Said(Struct, frozen=True):
    """What a reply says of a plan; ``justifications`` and ``overall`` are empty where none were asked for."""

    levels: Levels
    justifications: dict[Metric, str]
    overall: str


def read_verdict(reply: str | dict[str, Any], *, any_level: bool = False) -> Said:
    """A judge's reply, whole or already decoded.

    Each metric is a level, or an object with ``accuracy`` and ``justification``, under its name with or without
    ``_accuracy`` behind it. ``any_level`` accepts any number from 0 to 1, as published verdicts have.

    Raises Unread if a metric is missing or its level is none.
    """
    fields = decoded(reply) if isinstance(reply, str) else reply
    levels: dict[str, float] = {}
    justifications: dict[Metric, str] = {}
    for metric in METRICS:
        said = fields.get(f"{metric}_accuracy", fields.get(metric))
        value = said.get("accuracy") if isinstance(said, dict) else said
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Unread(f"no level for {metric}")
        if not 0 <= value <= 1 or not (any_level or value in LEVELS):
            raise Unread(f"{metric} has the level {value}")
        levels[metric] = float(value)
        if isinstance(said, dict) and isinstance(why := said.get("justification"), str):
            justifications[metric] = why
    overall = fields.get("overall_assessment")
    return Said(Levels(**levels), justifications, overall if isinstance(overall, str) else "")


def read_plan(reply: str) -> list[ToolCall]:
    """A planner's reply as calls. Raises Unread for one that is no list of calls, or an empty one."""
    calls = decoded(reply).get("calls")
    if not isinstance(calls, list):
        raise Unread("no list of calls")
    if not calls:
        raise Unread("the plan is empty")
    return [read_call(call) for call in calls]


def read_call(call: Any) -> ToolCall:
    """One call: a tool's name and its arguments, as an object or as the JSON text of one. Raises Unread."""
    if not isinstance(call, dict):
        raise Unread("a call is no object")
    call = call.get("function", call)
    tool = call.get("tool", call.get("name")) if isinstance(call, dict) else None
    args = call.get("arguments") if isinstance(call, dict) else None
    if isinstance(args, str):
        args = decoded(args)
    if not isinstance(tool, str) or not tool or not isinstance(args, dict):
        raise Unread("a call has no tool's name or no arguments")
    return ToolCall(tool, args)


def decoded(text: str) -> dict[str, Any]:
    """The JSON object that a text is, after any thought and inside any fence. Raises Unread."""
    text = text.rpartition("</think>")[2].strip()
    fenced = _FENCE.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        raise Unread("no JSON") from None
    if not isinstance(value, dict):
        raise Unread("no JSON object")
    return value
