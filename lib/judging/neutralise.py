"""Judged text that stays text: what it holds can pass for no part of a prompt, of a reply or of a chat template."""

from __future__ import annotations

import re

# Every pattern begins where a run of its first characters begins, and gives nothing back, so that it takes linear time.
_DASH = r"[-‐-―−]"
_MARKER = re.compile(rf"(?<!{_DASH}){_DASH}{{2,}}+\s*+(BEGIN|END)\s*+{_DASH}{{2,}}+", re.IGNORECASE)
_KEYS = ("reasoning", "faulty", "failure_step", "failure_type", "confidence")
# A key begins where no letter stands before it, or after an escape (\n, \x0b): a call shows its text escaped.
_KEY_START = r"(?:(?<![a-z])|(?<=\\[nrtvfab])|(?<=\\x[0-9a-f]{2})|(?<=\\u[0-9a-f]{4}))"


def _spelt(letter: str) -> str:
    """A letter as it is, or as an escape of either case (``\u0066``, ``\x66``), perhaps escaped once more."""
    codes = "|".join(f"{ord(case):02x}" for case in {letter.lower(), letter.upper()})
    return rf"(?:{letter}|\\{{1,4}}(?:u00|x|U000000)(?:{codes}))"


_ANY_KEY = "|".join("".join(map(_spelt, key)) for key in _KEYS)
_VERDICT_KEY = re.compile(
    rf"""(?=[\\"'rfc])(?<![\\"'])[\\"']*{_KEY_START}({_ANY_KEY})\b[\\"']*+\s*+[:=]""", re.IGNORECASE
)
# Without one of these no key is there: a look that costs a twentieth of the pattern.
_KEY_HINTS = ("reasoning", "faulty", "failure_", "confidence", r"\u00", r"\x")
# What chat templates mark turns, roles, thoughts and tools with: a server may read it as such within a text.
_CONTROL = re.compile(
    r"<[|｜]([^<>|｜\n]{1,40})[|｜]>|<<(/?SYS)>>"
    r"|\[(/?(?:INST|THINK|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK))\]"
    r"|<(/?(?:s|bos|eos|pad|unk|sop|eop|think|tool_call|tool_response|(?:start|end)_of_turn|unused[0-9]{1,4}))>",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def neutralise(text: str) -> str:
    """Judged text that can't pass for anything but text.

    It is one line, without BEGIN or END marker, a verdict's keys, or a chat template's control tokens.
    """
    low = text.lower()
    if any(hint in low for hint in _KEY_HINTS):
        text = _VERDICT_KEY.sub(r"(\1)", text)
    if "begin" in low or "end" in low:
        text = _MARKER.sub(lambda match: f"({match[1].lower()})", text)
    if "<" in text or "[" in text:
        text = _CONTROL.sub(lambda match: f"({match[match.lastindex or 0]})", text)
    return text if text.isprintable() else _LINE_BREAK.sub(r"\\n", text)
