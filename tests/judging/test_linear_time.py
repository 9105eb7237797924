"""What reads untrusted text takes linear time: a megabyte of one character, or of one word, is read at once."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

import lib.desk
import lib.judging
from lib.desk.checker import check
from lib.judging.agent import read_action
from lib.judging.neutralise import neutralise
from lib.judging.reply import read_reply

LONG = 1_000_000
BOUND = 6.0  # processor seconds; what is quadratic takes hours
FIRST_LOOK, FIRST_BOUND = 16_000, 0.4  # what is quadratic ends here already
ANCHORED = {"_NUMBER", "_STEP_TEXT", "_THOUGHT_OPENS", "_CHANNELS_OPEN", "_LEAD", "_REST", "_KEY", "_COLON", "_WORD"}


def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of the rooms that meet a model's or a trajectory's text."""
    modules = [
        importlib.import_module(module.name)
        for room in (lib.desk, lib.judging)
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    ]
    return {name: value for module in modules for name, value in vars(module).items() if isinstance(value, re.Pattern)}


def seconds(call: Callable[[str], Any], text: str) -> float:
    started = time.thread_time()
    call(text)
    return time.thread_time() - started


def is_linear(call: Callable[[str], Any], unit: str, tail: str = "", length: int = LONG) -> None:
    assert seconds(call, unit * (FIRST_LOOK // len(unit)) + tail) < FIRST_BOUND, (unit, tail)
    assert seconds(call, unit * (length // len(unit)) + tail) < BOUND, (unit, tail)


@pytest.mark.parametrize("name", patterns())
def test_a_pattern_is_linear_on_runs_of_its_own_characters(name: str) -> None:
    pattern = patterns()[name]
    use = pattern.match if name in ANCHORED else pattern.findall
    for character in {*re.sub(r"\w", "", pattern.pattern), " ", "a", "0"}:
        is_linear(use, character)


WORDS = [
    *(
        '"',
        "\\",
        '\\"',
        "'",
        "-",
        "—",
        "a",
        " ",
        "\n",
        "0",
        "{",
        "[",
        "<",
        "<|",
        "|>",
        ",",
        ", ",
        "/",
        "/*",
        "//",
        "*/",
    ),
    *("</think>", "<think>", "[/THINK]", "<|channel|>final", "assistantfinal", '{"a":', '{"', '{ "', "faulty"),
    *('"faulty":', "\\u0066", "\\u0066aulty", "--BEGIN", "-- ", "--END--", "a@", "a.", "@a.", "ORD-", "verdict "),
    *("<|a|>", "[INST"),
]


@pytest.mark.parametrize("word", WORDS)
def test_judged_text_and_replies_are_read_in_linear_time(word: str) -> None:
    for call in (
        neutralise,
        lambda text: read_reply(text, "stop", 5),
        lambda text: read_reply(f'{{"faulty": true, "reasoning": "{text}', "stop", 5),
        lambda text: read_reply(f'{{"faulty": true, "confidence": "0{text}x"}}', "stop", 5),
        lambda text: check(text, []),
        read_action,
    ):
        is_linear(call, word, length=100_000)


def test_a_string_without_end_is_looked_through_once() -> None:
    is_linear(lambda text: read_reply(text, "stop", 5), '{"a": "' + '\\"' * 100, "\\")
