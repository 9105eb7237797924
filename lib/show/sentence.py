"""A sentence with computed values, for Markdown; text that comes from models or data can't become markup in it."""

from __future__ import annotations

import inspect
import math
import numbers
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lib.visible import visible

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|$~@^:=-])")
NO_BREAK = "\u00a0"
MINUS = "\u2212"
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NOTHING = {"text/plain": ""}
"""What is shown where there is nothing: without any of these, IPython would show the object's address."""


class Said:
    """Paragraphs of Markdown, and in ``put`` what was put into them, by the name of its field in the template."""

    def __init__(self, markdown: str, values: Mapping[str, Any]) -> None:
        self.markdown, self.put = markdown, dict(values)

    def __str__(self) -> str:
        return self.markdown

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        if not self.markdown:
            return NOTHING, {}
        return {"text/markdown": self.markdown, "text/plain": self.markdown}, {"values": self.put}


class _Missing(Exception):
    """A value of a paragraph is not there."""


class _Formatter(string.Formatter):
    def __init__(self) -> None:
        self.put: dict[str, Any] = {}

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first = re.split(r"[.\[]", field_name, maxsplit=1)[0]
        try:
            found, _ = super().get_field(field_name, args, kwargs)
        except (KeyError, IndexError):
            if first not in kwargs:
                raise
            found = None
        self.put[field_name] = plain_value(found)
        return found, first

    def format_field(self, value: Any, format_spec: str) -> str:
        if is_missing(value):
            raise _Missing
        if isinstance(value, str):
            return code(value) if format_spec == "code" else escaped(format(value, format_spec))
        if _is_list(value):
            return _enumerated([self.format_field(one, format_spec) for one in value])
        if format_spec == "ci":
            return interval_text(value)
        return number_text(float(getattr(value, "value", value)), format_spec)


def say(template: str, **values: Any) -> Said:
    """Markdown with values put in as by ``str.format``. A paragraph of which a value is missing is left out.

    Besides Python's own formats there are ``{x:pct}`` (45 %), ``{x:pp}`` (+33 points), ``{x:p}`` (p = 0.03), ``{x:n}``
    (1,200), ``{x:word}`` (none, one, … twelve), ``{x:ci}`` (0.45 [0.38, 0.52], of something with ``value``, ``low`` and
    ``high``) and ``{x:code}`` (text in code type). A list is enumerated. All text is escaped. ``{rates[silent]:pct}``
    reads a Series; what is not in it is missing.

    Args:
        template: paragraphs with an empty line between them; indentation and line ends mean nothing.
        values: what the fields name. Numbers, text, lists of text, and whatever has a ``value``.

    Raises:
        KeyError, AttributeError: the template names what was not given.
    """
    said, put = [], {}
    for paragraph in inspect.cleandoc(template).split("\n\n"):
        formatter = _Formatter()
        try:
            said.append(formatter.vformat(paragraph, (), values))
        except _Missing:
            continue
        put.update(formatter.put)
    return Said("\n\n".join(said), put)


def number_text(value: float, spec: str) -> str:
    """A number in one of the book's formats; a minus is a minus sign. Shares next to 0 or 1 never round to them."""
    match spec:
        case "pct":
            if 0 < abs(value) < 0.005:
                return f"under 1{NO_BREAK}%"
            if 0.995 <= value < 1:
                return f"over 99{NO_BREAK}%"
            text = f"{100 * value:z.0f}{NO_BREAK}%"
        case "pp":
            text = f"{100 * value:+z.0f} point{'' if round(abs(100 * value)) == 1 else 's'}"
        case "p":
            text = "p < 0.001" if value < 0.001 else f"p = {value:.2g}" if value < 0.1 else f"p = {value:.2f}"
        case "word" if value in range(len(WORDS)):
            text = WORDS[int(value)]
        case "n" | "word" | "":
            text = f"{value:,.0f}" if value == round(value) else f"{value:.3g}"
        case _:
            text = format(value, spec)
    return text.replace("-", MINUS)


def interval_text(value: Any, digits: int = 2) -> str:
    """``0.45 [0.38, 0.52]``, of whatever has ``value``, ``low`` and ``high``; without bounds the value alone."""
    middle = number_text(float(value.value), f"z.{digits}f")
    if is_missing(value.low) or is_missing(value.high):
        return middle
    low, high = (number_text(float(bound), f"z.{digits}f") for bound in (value.low, value.high))
    return f"{middle}{NO_BREAK}[{low},{NO_BREAK}{high}]"


def escaped(text: str) -> str:
    """Text that Markdown shows as it stands, on one line."""
    flat = visible(" ".join(text.split()))
    return _MARKDOWN.sub(r"\\\1", flat).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Text in code type, whatever backticks it holds."""
    flat = visible(" ".join(text.split()))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    pad = " " if "`" in flat or not flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def is_missing(value: Any) -> bool:
    """Nothing, not a number, an empty list, or an estimate without a value."""
    if _is_list(value):
        return not value
    inner = getattr(value, "value", value)
    return inner is None or inner is pd.NA or (isinstance(inner, float) and math.isnan(inner))


def plain_value(value: Any) -> Any:
    """A value as JSON can hold it: what a test of a notebook reads."""
    if is_missing(value):
        return None
    if _is_list(value):
        return [plain_value(one) for one in value]
    inner = getattr(value, "value", value)
    if isinstance(inner, str | bool):
        return inner
    if isinstance(inner, numbers.Integral):
        return int(inner)
    if isinstance(inner, numbers.Real):
        return round(float(inner), 6) if math.isfinite(inner) else str(inner)
    return str(inner)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and not hasattr(value, "value")  # an estimate is a tuple with names


def _enumerated(texts: Sequence[str]) -> str:
    head, last = ", ".join(texts[:-1]), texts[-1]
    return f"{head} and {last}" if head else last
