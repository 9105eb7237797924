"""A run of two trajectories, small enough to reason about, whose files the tests then damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib.records import Label, Observation, Step, ToolCall, Trajectory, Verdict
from lib.run.folder import Run

CLEAN, FAULTY = "INS-00001-clean", "INS-00001-wrong_tool"


def trajectory(trajectory_id: str, label: Label, n_steps: int = 3) -> Trajectory:
    steps = [
        Step(index, "think", ToolCall("get_policy", {"sku": "SKU-LAMP-07"}), Observation(True, {"refundable": True}))
        for index in range(n_steps)
    ]
    return Trajectory(trajectory_id, "INS-00001", "Refund ORD-20001.", steps, "Done.", label)


def two_trajectories() -> list[Trajectory]:
    return [
        trajectory(FAULTY, Label(True, 2, "wrong_tool", True)),
        trajectory(CLEAN, Label(False, None, None, True)),
    ]


def verdict(trajectory_id: str = FAULTY, judge_id: str = "step:m", **fields: Any) -> Verdict:
    return Verdict(trajectory_id=trajectory_id, judge_id=judge_id, **({"faulty": False, "confidence": 0.8} | fields))


def line(**fields: Any) -> bytes:
    """A released-style verdict line without its end; a field set to ``...`` is left out."""
    released = {
        "trajectory_id": FAULTY,
        "judge_id": "step:m",
        "faulty": True,
        "failure_step": 2,
        "failure_type": "wrong_tool",
        "confidence": 0.9,
        "rationale": "looked the order up twice",
        "latency_s": 1.5,
        "prompt_tokens": 700,
        "completion_tokens": 60,
        "error": None,
    }
    return json.dumps({key: value for key, value in (released | fields).items() if value is not ...}).encode()


def make_run(folder: Path, verdicts: bytes | None = None) -> Run:
    """A new run of the two trajectories, with these bytes as its verdicts.jsonl."""
    run = Run.create(folder, {"dataset": {"seed": 7, "n": 2}}, two_trajectories())
    if verdicts is not None:
        (folder / "verdicts.jsonl").write_bytes(verdicts)
    return run
