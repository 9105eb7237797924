"""Clean and faulty trajectories side by side, for every stratum and fault that fit, from the real injector."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape

import pandas as pd
from msgspec import Struct

from lib.desk.checker import check
from lib.desk.environment import Instances
from lib.desk.faults import FAULTS
from lib.desk.injector import inject
from lib.desk.oracle import solve
from lib.records import STRATA, FaultType, Step, Stratum, Trajectory
from lib.show.trajectory import Html, call_text, observation_text


class Case(Struct, frozen=True):
    """A fault injected into the instance of a stratum, beside its clean parent."""

    stratum: Stratum
    fault: FaultType
    clean: Trajectory
    faulty: Trajectory


def cases(seed: int) -> Iterator[Case]:
    """Every fault on the first instance of every stratum that can carry it, by fault, then by stratum."""
    instances = Instances(seed, len(STRATA))
    for fault in FAULTS:
        for instance in instances:
            if instance.stratum in FAULTS[fault].carriers:
                yield Case(instance.stratum, fault, solve(instance), inject(instance, fault, seed))


def aligned(clean: list[Step], faulty: list[Step]) -> list[tuple[Step | None, Step | None]]:
    """Steps side by side by the tool they call; None where one has no counterpart."""
    rows: list[tuple[Step | None, Step | None]] = []
    before, after = ([step.call.tool for step in steps] for steps in (clean, faulty))
    for _, low, high, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        left, right = clean[low:high], faulty[start:stop]
        for i in range(max(len(left), len(right))):
            rows.append((left[i] if i < len(left) else None, right[i] if i < len(right) else None))
    return rows


def fit_table(seed: int) -> pd.DataFrame:
    """What becomes of the outcome: one row per fault, one column per stratum, a dash where the fault does not fit."""
    found = {(case.fault, case.stratum): _survival(case.faulty) for case in cases(seed)}
    table = [[found.get((fault, stratum), "–") for stratum in STRATA] for fault in FAULTS]
    return pd.DataFrame(table, index=pd.Index(list(FAULTS), name="fault"), columns=list(STRATA))


def definitions(seed: int) -> pd.DataFrame:
    """The six faults: what the edit does, and whether the outcome survives it."""
    survival = fit_table(seed)
    outcomes = [" or ".join(sorted(set(row) - {"–"}, reverse=True)) for row in survival.to_numpy()]
    rows = {"what is edited": [FAULTS[fault].words for fault in FAULTS], "the fault is": outcomes}
    return pd.DataFrame(rows, index=survival.index)


def side_by_side(seed: int) -> Html:
    """All cases as one block. ``testbed.js`` lets the reader choose; without it the first case of each fault shows."""
    found = list(cases(seed))
    examples = {fault: next(case for case in found if case.fault == fault) for fault in FAULTS}
    shown = "".join(_case_html(case, case is examples[case.fault]) for case in found)
    text = "\n\n".join(_case_text(case) for case in examples.values())
    return Html(f'<div class="testbed">{shown}</div>', text)


def _survival(trajectory: Trajectory) -> str:
    return "silent" if trajectory.label.outcome_correct else "loud"


def _facts(case: Case) -> list[tuple[str, str]]:
    outcome = "survives: the fault is silent" if case.faulty.label.outcome_correct else "breaks: the fault is loud"
    same = case.faulty.final_answer == case.clean.final_answer
    violations = check(case.faulty.goal, case.faulty.steps)
    return [
        ("Edit", FAULTS[case.fault].words),
        ("Labelled step", str(case.faulty.label.failure_step)),
        ("Outcome", outcome),
        ("Final answer", "the same as without the fault" if same else "differs from that without the fault"),
        ("The eight rules", "; ".join(f"step {one.step}: {one.message}" for one in violations) or "none fires"),
    ]


def _case_html(case: Case, example: bool) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in _facts(case))
    at = case.faulty.label.failure_step
    rows = "".join(_row_html(left, right, at) for left, right in aligned(case.clean.steps, case.faulty.steps))
    answers = _sides(f"<p>{escape(case.clean.final_answer)}</p>", f"<p>{escape(case.faulty.final_answer)}</p>")
    hidden = "" if example else " hidden"
    return (
        f'<section class="testbed-case" data-fault="{case.fault}" data-stratum="{case.stratum}"{hidden}>'
        f"<h3><code>{case.fault}</code>, request <code>{case.stratum}</code></h3>"
        f"<dl>{facts}</dl><p>Goal: {escape(case.clean.goal)}</p>"
        f'<ol class="testbed-rows">{rows}</ol><p class="mark">Final answer</p>{answers}</section>'
    )


def _row_html(left: Step | None, right: Step | None, at: int | None) -> str:
    fault = right is not None and right.index == at
    same = left is not None and right is not None and (left.call, left.thought) == (right.call, right.thought)
    kind = "fault" if fault else "same" if same else "changed"
    mark = '<p class="mark">← the labelled step</p>' if fault else ""
    return f'<li class="{kind}">{_sides(_step_html(left), mark + _step_html(right))}</li>'


def _step_html(step: Step | None) -> str:
    if step is None:
        return '<p class="observation">(no such step)</p>'
    return (
        f"<p>{step.index}. {escape(step.thought)}</p><p><code>{escape(call_text(step))}</code></p>"
        f'<p class="observation">{escape(observation_text(step))}</p>'
    )


def _sides(left: str, right: str) -> str:
    return (
        f'<div class="testbed-sides"><div><p class="testbed-side">clean</p>{left}</div>'
        f'<div><p class="testbed-side">faulty</p>{right}</div></div>'
    )


def _case_text(case: Case) -> str:
    lines = [f"{case.fault}, request {case.stratum}"]
    lines += [f"{name}: {value}" for name, value in _facts(case)]
    for left, right in aligned(case.clean.steps, case.faulty.steps):
        here = right is not None and right.index == case.faulty.label.failure_step
        sides = [call_text(step) if step else "(no such step)" for step in (left, right)]
        lines.append(f"  clean  {sides[0]}\n  faulty {sides[1]}{' <- the labelled step' if here else ''}")
    return "\n".join(lines)
