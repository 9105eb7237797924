"""Prose and trajectories: values from data are text in Markdown and in HTML."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from lib.records import Label, Observation, Step, ToolCall, Trajectory, Verdict
from lib.show.text import prose, show_trajectory

EVIL = "<script>alert(1)</script>"


class Estimate(NamedTuple):
    value: float
    low: float
    high: float


def trajectory(text: str) -> Trajectory:
    steps = [
        Step(0, text, ToolCall("get_customer", {"email": text}), Observation(True, {"name": text})),
        Step(1, "ask", ToolCall("reply", {"text": text}), Observation(False, {}, error=text)),
    ]
    return Trajectory("INS-00000-wrong_tool", "INS-00000", text, steps, text, Label(True, 1, "wrong_tool", True))


def verdict(text: str) -> Verdict:
    return Verdict(trajectory_id="t", judge_id=text, faulty=True, failure_step=1, confidence=0.9, rationale=text)


def test_prose_formats_estimates_as_value_and_interval():
    text = prose(
        "{a:ci}, {b:ci}, {c:.1f} s", a=Estimate(0.4514, 0.381, 0.519), b=Estimate(1.0, *[float("nan")] * 2), c=3.46
    )
    assert text.markdown == "0.451 [0.38, 0.52], 1.000, 3.5 s"


def test_an_undefined_number_is_said_to_be_undefined():
    assert prose("{x:.3f}", x=float("nan")).markdown == "undefined"


@pytest.mark.parametrize(
    "text", [EVIL, "**bold** [a](javascript:x)", "`x` {ref}`y` $z$", "# not a heading", "a\n\n# b"]
)
def test_text_in_prose_is_shown_as_it_stands(text):
    html = MarkdownIt("commonmark").render(prose("The judge {judge}.", judge=text).markdown)
    shown = html.replace("&lt;", "<").replace("&gt;", ">").strip()
    assert shown == f"<p>The judge {' '.join(text.split())}.</p>"


@pytest.mark.parametrize("text", [EVIL, "a`b", "``", "step:qwen2.5:14b"])
def test_text_in_code_type_cannot_leave_it(text):
    html = MarkdownIt("commonmark").render(prose("{judge:code}", judge=text).markdown)
    assert html.startswith("<p><code>")
    assert "<script" not in html


def test_a_trajectory_from_elsewhere_is_text_in_every_place():
    shown = show_trajectory(trajectory(EVIL), [verdict(EVIL)])
    assert "<script" not in shown.html
    assert shown.html.count("&lt;script&gt;") >= 8


UNSEEN = "a\u202eb\x1bc\x00d\x9be\u2067f\ud800"
WRITTEN_OUT = r"a\u202eb\u001bc\u0000d\u009be\u2067f\ud800"


def test_characters_that_act_unseen_are_written_out_in_prose_and_code_type():
    html = MarkdownIt("commonmark").render(prose("{judge} {judge:code} 0.5", judge=UNSEEN).markdown)
    assert html == f"<p>{WRITTEN_OUT} <code>{WRITTEN_OUT}</code> 0.5</p>\n"


def test_characters_that_act_unseen_are_written_out_in_a_trajectory_and_its_verdicts():
    shown = show_trajectory(trajectory(UNSEEN), [verdict(UNSEEN)])
    for form in (shown.html, shown.text):
        assert not set(UNSEEN) - set("abcdef") & set(form)
        assert form.count(WRITTEN_OUT) >= 5


def test_the_labelled_step_is_marked_unless_the_label_is_held_back():
    assert show_trajectory(trajectory("x")).html.count('class="step fault"') == 1
    held_back = show_trajectory(trajectory("x"), label=False)
    assert "fault" not in held_back.html
    assert "wrong_tool, silent" in show_trajectory(trajectory("x")).text


def test_a_verdict_says_step_type_confidence_and_status():
    odd = Verdict(trajectory_id="t", judge_id="step:m", faulty=False, confidence=0.5, status="truncated")
    shown = show_trajectory(trajectory("x"), {"step:m": odd, "b": verdict("b")}).text
    assert "step:m: clean, confidence 0.50 [truncated]" in shown
    assert "b: faulty at step 1, confidence 0.90" in shown
