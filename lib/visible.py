"""Characters that a reader cannot see, but whose effect he would: written out."""

from __future__ import annotations

import re

# Control characters but tab and line ends, what turns the direction of writing, halves of surrogate pairs.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""The text with such characters as escapes, ``\u202e`` for the one that turns all after it around."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
