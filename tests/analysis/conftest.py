"""Frames for the analysis tests: the published run where it is present, and small hand-made ones."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from lib import ROOT
from lib.records import stratum_of

PUBLISHED = ROOT.parent / "shared" / "published"


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def trajectory_frame(records: list[dict]) -> pd.DataFrame:
    rows = []
    for record in records:
        label = record["label"]
        survival = "silent" if label["outcome_correct"] else "loud"
        rows.append(
            {
                "trajectory_id": record["trajectory_id"],
                "instance_id": record["instance_id"],
                "stratum": stratum_of(record["instance_id"]),
                **label,
                "n_steps": len(record["steps"]),
                "cell": f"{label['failure_type']}/{survival}" if label["faulty"] else "clean",
            }
        )
    return pd.DataFrame(rows).astype({"failure_step": "Int64"})


def verdict_frame(records: list[dict]) -> pd.DataFrame:
    frame = pd.DataFrame(records)
    frame["judge_id"] = frame["judge_id"].replace("programmatic", "rules")
    frame["status"] = "ok"
    frame["load_s"] = float("nan")
    return frame.astype({"failure_step": "Int64", "prompt_tokens": "Int64", "completion_tokens": "Int64"})


@pytest.fixture(scope="session")
def published() -> tuple[pd.DataFrame, pd.DataFrame]:
    if not PUBLISHED.is_dir():
        pytest.skip("the paper's released run is not beside the project (shared/published)")
    trajectories = trajectory_frame(read_lines(PUBLISHED / "trajectories.jsonl"))
    return trajectories, verdict_frame(read_lines(PUBLISHED / "verdicts.jsonl"))
