"""Sentences: values in the book's formats, paragraphs without a value left out, text never markup."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from lib.analysis.estimates import Estimate
from lib.show import say

EVIL = "</p><script>alert(1)</script> **b** `c` [d](javascript:e)"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.4514, "pct", "45\u00a0%"),
        (0.001, "pct", "under 1\u00a0%"),
        (0.996, "pct", "over 99\u00a0%"),
        (0.0, "pct", "0\u00a0%"),
        (-0.33, "pp", "−33 points"),
        (0.01, "pp", "+1 point"),
        (0.0004, "p", "p < 0.001"),
        (0.032, "p", "p = 0.032"),
        (12000, "n", "12,000"),
        (0, "word", "none"),
        (6, "word", "six"),
        (13, "word", "13"),
        (-1.5, ".1f", "−1.5"),
        (Estimate(0.4514, 0.34, 0.57, 9), "ci", "0.45\u00a0[0.34,\u00a00.57]"),
        (Estimate(0.4514, math.nan, math.nan, 9), "ci", "0.45"),
        (["a", "b", "c"], "code", "`a`, `b` and `c`"),
        ("higher", "", "higher"),
    ],
)
def test_a_value_is_said_in_the_books_formats(value: object, form: str, text: str) -> None:
    assert str(say(f"{{x:{form}}}", x=value)) == text


@pytest.mark.parametrize("missing", [None, math.nan, [], Estimate(math.nan)])
def test_a_paragraph_of_which_a_value_is_missing_is_left_out(missing: object) -> None:
    said = say("Flags {x:pct}.\n\nThere are {n:n}.", x=missing, n=3)
    assert str(said) == "There are 3."
    assert said.put == {"n": 3}
    assert say("{x:pct}", x=missing)._repr_mimebundle_() == ({"text/plain": ""}, {})


def test_a_series_is_read_by_its_labels_and_what_it_lacks_is_missing() -> None:
    rates = pd.Series({"silent": 0.5})
    assert str(say("{r[silent]:pct}\n\n{r[loud]:pct}", r=rates)) == "50\u00a0%"


def test_text_is_never_markup() -> None:
    said = str(say("{x} and {x:code}", x=EVIL))
    assert "<script>" not in said.split("`")[0]
    assert r"\*\*b\*\*" in said
    assert say("{x:code}", x="a`b").markdown == "`` a`b ``"


def test_a_sentence_carries_what_was_put_into_it() -> None:
    _, metadata = say("{a.value:pct} {b}", a=Estimate(0.5), b="lower")._repr_mimebundle_()
    assert metadata == {"values": {"a.value": 0.5, "b": "lower"}}


def test_a_template_that_names_what_was_not_given_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("{nothing:pct}")
