"""What in a reply no observation supports: read word by word, so that an invented sentence can't slip through."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lib.records import Step

# Words that assert nothing by themselves, and the two that assert a tool's success.
NEUTRAL = {"hi", "i", "have", "for", "order", "eur", "your", "request", "not", "of", "with"}
NEEDS = {"refunded": "issue_refund", "escalated": "escalate"}


def unsupported(reply: str, steps: Sequence[Step], goal: str) -> list[str]:
    """The words of a reply that neither an observed value nor a successful call stands behind.

    Values are those of the goal (its order) and of every successful observation but the reply's own; an amount stands
    for an observed number of that many cents. "not refunded" asserts that no refund succeeded; an order's status
    "refunded" is no word for the reply to borrow.
    """
    done = [step for step in steps if step.observation.ok and step.call.tool != "reply"]
    values = [value for step in done for value in step.observation.data.values()]
    texts = [
        *re.findall(r"ORD-\d+", goal),
        *(value for value in values if isinstance(value, str) and value not in NEEDS),
    ]
    amounts = {f"{value:.2f}" for value in values if isinstance(value, float)}
    tools = {step.call.tool for step in done}
    left = reply
    for text in sorted(texts, key=len, reverse=True):
        left = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", " ", left)
    found, previous = [], ""
    for word in re.findall(r"\d+(?:[.,]\d+)*|[^\W\d_]+", left):
        known, needed = word.lower(), NEEDS.get(word.lower())
        backed = known in NEUTRAL or word in amounts
        if needed is not None:
            backed = (needed in tools) != (previous == "not")
        if not backed:
            found.append(word)
        previous = known
    return found
