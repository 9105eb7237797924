"""A small run made by hand, whose every figure can be counted."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from lib.analysis.bench import Bench
from lib.analysis.tidy import tidy
from lib.records import About

OWN = About(kind="own", sees="step")

LABELS = [
    # id, instance, type, step, outcome correct, steps
    ("c0", "INS-00000", None, None, True, 6),
    ("c1", "INS-00001", None, None, True, 6),
    ("w0", "INS-00000", "wrong_tool", 2, True, 6),
    ("w1", "INS-00001", "wrong_tool", 2, True, 6),
    ("s0", "INS-00001", "skipped_precondition", 3, False, 5),
    ("s1", "INS-00006", "skipped_precondition", 3, True, 5),
    ("p0", "INS-00001", "premature_stop", 3, False, 4),
    ("u0", "INS-00007", "unsupported_claim", 5, True, 6),
]
VERDICTS = [
    # id, flagged, step, type, confidence
    ("c0", True, 0, "wrong_tool", 0.9),
    ("c1", False, None, None, 0.8),
    ("w0", True, 2, "wrong_tool", 1.0),
    ("w1", True, 3, "hallucinated_argument", 0.9),
    ("s0", True, None, "skipped_precondition", 0.7),
    ("s1", False, None, None, 0.6),
    ("p0", True, 9, "premature_stop", 0.9),  # step 9 is outside its four steps
    ("u0", False, None, None, 0.6),
]


def label_frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    names = ["trajectory_id", "instance_id", "failure_type", "failure_step", "outcome_correct", "n_steps"]
    frame = pd.DataFrame(rows, columns=names).astype({"failure_step": "Int64"})
    frame["faulty"] = frame["failure_type"].notna()
    frame["stratum"] = ["happy" if int(i[-5:]) % 6 == 0 else "restocking" for i in frame["instance_id"]]
    survival = frame["outcome_correct"].map({True: "silent", False: "loud"})
    frame["cell"] = (frame["failure_type"].astype(object) + "/" + survival).where(frame["faulty"], "clean")
    return frame


def verdicts_of(judge: str, rows: list[tuple[Any, ...]], **columns: Any) -> pd.DataFrame:
    names = ["trajectory_id", "faulty", "failure_step", "failure_type", "confidence"]
    frame = pd.DataFrame(rows, columns=names).astype({"failure_step": "Int64"})
    nothing = float("nan")
    usual = {
        "judge_id": judge,
        "latency_s": 0.0,
        "server_s": nothing,
        "cost": nothing,
        "log_odds": nothing,
        "status": "ok",
    }
    frame = frame.assign(**{**usual, "prompt_tokens": pd.NA, "completion_tokens": pd.NA, **columns})
    return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


@pytest.fixture
def labels() -> pd.DataFrame:
    return label_frame(LABELS)


@pytest.fixture
def verdicts() -> pd.DataFrame:
    seconds = [float(second) for second in range(1, 9)]
    return verdicts_of("j", VERDICTS, latency_s=seconds, prompt_tokens=[100, 102, *[101] * 5, None])


@pytest.fixture
def rows(labels: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    return tidy(labels, verdicts, {"j": OWN})


@pytest.fixture
def board(rows: pd.DataFrame) -> Bench:
    return Bench(rows, {"j": OWN}, reps=200)


@pytest.fixture(scope="session")
def make_verdicts() -> Any:
    return verdicts_of


@pytest.fixture(scope="session")
def make_labels() -> Any:
    return label_frame
