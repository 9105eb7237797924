"""What a notebook shows besides charts and tables: prose with computed numbers, and trajectories step by step.

Whatever comes from models or data is text: it is escaped here, not by the notebook, and characters
that act unseen (controls, turns of the direction of writing) are written out.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from lib.records import Step, Trajectory, Verdict
from lib.visible import visible

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|$~@^:=-])")


class Prose:
    """A paragraph of Markdown with values put in."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown

    def __str__(self) -> str:
        """Its Markdown, so that ``prose`` can put one paragraph into another as it stands."""
        return self.markdown

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/markdown": self.markdown, "text/plain": self.markdown}


class Html:
    """HTML that is safe to show, with a form in plain text."""

    def __init__(self, html: str, text: str) -> None:
        self.html, self.text = visible(html), visible(text)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}


class _Formatter(string.Formatter):
    """Format specifications of the book: ``ci`` for an estimate with its interval, ``pp`` for percentage points."""

    def format_field(self, value: Any, spec: str) -> str:
        if spec == "ci":
            low, high = value.low, value.high
            text = self.format_field(value.value, ".3f")
            return text if math.isnan(low) or math.isnan(high) else f"{text} [{low:.2f}, {high:.2f}]"
        if isinstance(value, float) and math.isnan(value):
            return "undefined"
        if isinstance(value, str) and spec == "code":
            return code(value)
        text = format(value, spec)
        return plain(text) if isinstance(value, str) else text


def prose(template: str, **values: Any) -> Prose:
    """Markdown with values put in as by ``str.format``.

    Text values are escaped, so a judge's id or rationale can't become markup. Besides Python's own format
    specifications there are ``{x:ci}`` for something with ``value``, ``low`` and ``high``, as in 0.451 [0.38, 0.52],
    and ``{judge:code}`` for text in code type.
    """
    return Prose(_Formatter().vformat(template, (), values))


def listed(names: Iterable[str], none: str = "none") -> Prose:
    """Names in code type as an enumeration: ``a``, ``b`` and ``c``; the word ``none`` where there are none."""
    marked = [code(name) for name in names]
    head, last = ", ".join(marked[:-1]), marked[-1] if marked else none
    return Prose(f"{head} and {last}" if head else last)


def said(*parts: Prose | None) -> Prose:
    """Sentences as one paragraph; None is left out."""
    return Prose(" ".join(part.markdown for part in parts if part is not None))


def bullets(parts: Iterable[Prose | None]) -> Prose:
    """Sentences as a list, a single one as a paragraph; None is left out."""
    shown = [part.markdown for part in parts if part is not None]
    return Prose("\n".join(f"- {text}" for text in shown) if len(shown) > 1 else "".join(shown))


def plain(text: str) -> str:
    """Text that Markdown shows as it stands, on one line."""
    flat = visible(" ".join(text.split()))
    return _MARKDOWN.sub(r"\\\1", flat).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Text in code type, whatever backticks it holds."""
    flat = visible(" ".join(text.split()))
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    pad = " " if "`" in flat or not flat else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def show_trajectory(
    trajectory: Trajectory, verdicts: Iterable[Verdict] | Mapping[str, Verdict] | None = None, *, label: bool = True
) -> Html:
    """A trajectory step by step, the labelled step marked, the verdicts below it.

    Args:
        verdicts: what judges said of it, in the order to be shown.
        label: whether to say what the fault is and mark its step.
    """
    given = list(verdicts.values() if isinstance(verdicts, Mapping) else verdicts or ())
    fault = trajectory.label.failure_step if label else None
    steps = "".join(_step_html(step, step.index == fault) for step in trajectory.steps)
    head = _heading(trajectory) if label else trajectory.trajectory_id
    parts = [
        f'<div class="trajectory"><p class="mark">{escape(head)}</p>',
        f"<p>Goal: {escape(trajectory.goal)}</p><ol>{steps}</ol>",
        f"<p>Final answer: {escape(trajectory.final_answer) or '(empty)'}</p>",
        *(_verdict_html(verdict) for verdict in given),
        "</div>",
    ]
    return Html("".join(parts), _text(trajectory, head, fault, given))


def call_text(step: Step) -> str:
    """A step's call in one line: ``lookup_order(order_id='ORD-20000')``."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in step.call.args.items())
    return f"{step.call.tool}({arguments})"


def _heading(trajectory: Trajectory) -> str:
    label = trajectory.label
    if not label.faulty:
        return f"{trajectory.trajectory_id}: clean"
    survived = "silent (the outcome is right)" if label.outcome_correct else "loud (the outcome is wrong)"
    return f"{trajectory.trajectory_id}: {label.failure_type or 'untyped'}, {survived}"


def observation_text(step: Step) -> str:
    """What a step's call gave back, in one line: its data as JSON, or why it failed."""
    seen = step.observation
    return json.dumps(seen.data, ensure_ascii=False) if seen.ok else f"failed: {seen.error}"


def _step_html(step: Step, fault: bool) -> str:
    mark = ' <span class="mark">← the fault</span>' if fault else ""
    return (
        f'<li class="{"step fault" if fault else "step"}"><p>{step.index}. {escape(step.thought)}{mark}</p>'
        f'<p><code>{escape(call_text(step))}</code></p><p class="observation">{escape(observation_text(step))}</p></li>'
    )


def verdict_line(verdict: Verdict) -> str:
    """A verdict in one line, without its rationale."""
    where = "" if verdict.failure_step is None else f" at step {verdict.failure_step}"
    kind = "" if verdict.failure_type is None else f", {verdict.failure_type}"
    status = "" if verdict.status == "ok" else f" [{verdict.status}]"
    said = f"faulty{where}{kind}" if verdict.faulty else "clean"
    return f"{verdict.judge_id}: {said}, confidence {verdict.confidence:.2f}{status}"


def _verdict_html(verdict: Verdict) -> str:
    rationale = escape(verdict.rationale) or "(no rationale)"
    return f'<p class="mark">{escape(verdict_line(verdict))}</p><p class="rationale">{rationale}</p>'


def _text(trajectory: Trajectory, head: str, fault: int | None, verdicts: Sequence[Verdict]) -> str:
    lines = [head, f"Goal: {trajectory.goal}"]
    for step in trajectory.steps:
        mark = " <- the fault" if step.index == fault else ""
        lines += [f"{step.index}. {step.thought}{mark}", f"   {call_text(step)}", f"   {observation_text(step)}"]
    lines.append(f"Final answer: {trajectory.final_answer}")
    lines += [f"{verdict_line(verdict)}\n   {verdict.rationale}" for verdict in verdicts]
    return "\n".join(lines)
