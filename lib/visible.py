"""Text that would do more than be read, made harmless: unseen characters, and formulas in CSV."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

# Control characters but tab and line ends, what turns the direction of writing, halves of surrogate pairs.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# What a spreadsheet takes for a formula; a number with its sign is none.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\.?\d)")


def visible(text: str) -> str:
    r"""The text with such characters as escapes, ``\u202e`` for the one that turns all after it around."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def to_csv(frame: pd.DataFrame, *, index: bool = False, float_format: str | None = None) -> str:
    """A frame as CSV in which no cell, row or column name is a formula: one that would be gets an apostrophe before."""
    safe = frame.map(_harmless).rename(columns=_harmless)
    if index:
        safe = safe.rename(index=_harmless)
    return str(safe.to_csv(index=index, float_format=float_format, lineterminator="\n"))


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
