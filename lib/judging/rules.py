"""The rule engine as a judge: it reports the checker's first violation."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from lib.desk.checker import check
from lib.records import About, Judgement, View

FIRED, SILENT = 0.95, 0.60


class Rules:
    """Eight procedural rules (trajectory-judge, Section 5); blind by construction to two of the six fault types."""

    judge_id = "rules"
    about = About(kind="rules", sees="step", fixed=True)
    batch = "rules"

    def settings(self) -> dict[str, Any]:
        return {"backend": "none", "rules": 8}

    def judge(self, view: View) -> Judgement:
        started = perf_counter()
        violations = check(view.goal, view.steps or [])
        seconds = perf_counter() - started
        first = violations[0] if violations else None
        return Judgement(
            faulty=first is not None,
            failure_step=first.step if first and first.step >= 0 else None,
            failure_type=first.failure_type if first else None,
            confidence=FIRED if first else SILENT,
            rationale=f"rule {first.rule}: {first.message}" if first else "no rule fired",
            latency_s=seconds,
            prompt_tokens=0,
            completion_tokens=0,
        )
