"""A trajectory step by step, with what judges said of it; whatever comes from models or data is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from lib.records import Step, Trajectory, Verdict
from lib.visible import visible


class Html:
    """HTML that is safe to show, with a form in plain text."""

    def __init__(self, html: str, text: str) -> None:
        self.html, self.text = visible(html), visible(text)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}


def trajectory(shown: Trajectory, verdicts: Iterable[Verdict] = (), *, label: bool = True) -> Html:
    """A trajectory step by step, the labelled step marked, the verdicts below it.

    Args:
        verdicts: what judges said of it, in the order to be shown.
        label: whether to say what the fault is and mark its step.
    """
    given = list(verdicts)
    fault = shown.label.failure_step if label else None
    steps = "".join(_step_html(step, step.index == fault) for step in shown.steps)
    head = _heading(shown) if label else shown.trajectory_id
    parts = [
        f'<div class="trajectory"><p class="mark">{escape(head)}</p>',
        f"<p>Goal: {escape(shown.goal)}</p><ol>{steps}</ol>",
        f"<p>Final answer: {escape(shown.final_answer) or '(empty)'}</p>",
        *(_verdict_html(verdict) for verdict in given),
        "</div>",
    ]
    return Html("".join(parts), _text(shown, head, fault, given))


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
    reason = f'<p class="rationale">{escape(verdict.rationale)}</p>' if verdict.rationale else ""
    return f'<p class="mark">{escape(verdict_line(verdict))}</p>{reason}'


def _text(trajectory: Trajectory, head: str, fault: int | None, verdicts: Sequence[Verdict]) -> str:
    lines = [head, f"Goal: {trajectory.goal}"]
    for step in trajectory.steps:
        mark = " <- the fault" if step.index == fault else ""
        lines += [f"{step.index}. {step.thought}{mark}", f"   {call_text(step)}", f"   {observation_text(step)}"]
    lines.append(f"Final answer: {trajectory.final_answer}")
    lines += [f"{verdict_line(verdict)}\n   {verdict.rationale}" for verdict in verdicts]
    return "\n".join(lines)
