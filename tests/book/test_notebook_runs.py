"""Every notebook runs on runs that hold little, nothing, or what a hostile judge calls itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lib.book.notebooks import default_run
from lib.desk.injector import JudgedSet
from lib.errors import UserError
from lib.records import Trajectory, Verdict
from lib.run.folder import Run
from lib.trajectories import VERDICTS
from tests.notebook import ALL, Shown, run_on

EVIL = "</script><img src=x onerror=alert(1)>"
ON_PAPER = [path for path in ALL if default_run(path) == "paper"]


def make(folder: Path, n: int, judges: dict[str, Callable[[Trajectory], bool | None]]) -> Path:
    """A run of n trajectories with judges that flag as their functions say; None: not judged."""
    run = Run.create(folder, {"dataset": {"seed": 3}}, JudgedSet(n, 3))
    lines = [
        VERDICTS.spelling.encode(
            Verdict(trajectory_id=one.trajectory_id, judge_id=judge, faulty=flagged, confidence=0.9, rationale=EVIL)
        )
        for judge, flags in judges.items()
        for one in run.trajectories().values()
        if (flagged := flags(one)) is not None
    ]
    if lines:
        (folder / "verdicts.jsonl").write_bytes(b"".join(lines))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("runs")
    return {
        "empty": make(place / "empty", 48, {}),
        "one-sided": make(place / "one-sided", 48, {"own": lambda one: True if one.label.faulty else None}),
        "tiny": make(place / "tiny", 8, {EVIL: lambda one: True, "gate-v1": lambda one: one.label.faulty}),
    }


@pytest.mark.parametrize("run", ["empty", "one-sided", "tiny"])
@pytest.mark.parametrize("source", ON_PAPER, ids=lambda path: path.stem)
def test_a_notebook_runs_without_a_complaint(source: Path, run: str, runs: dict[str, Path]) -> None:
    shown = run_on(source, runs[run])
    assert shown.complaints == []
    assert_safe(shown)


def assert_safe(shown: Shown) -> None:
    """No tag of a judge's name in what a browser would take for markup."""
    for out in shown.outputs:
        data = out.get("data", {})
        markdown = re.sub(r"`[^`]*`", "", data.get("text/markdown", ""))  # in code type, markup is text
        assert "<img" not in data.get("text/html", "") + markdown


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"runs": "mine"}, "no parameter runs here. There are: run"),
        ({"run": 2026}, "There is no run 2026"),
        ({"judges": ["outcom"]}, "outcom"),
        ({"reps": "many"}, "reps"),
    ],
)
def test_a_mistyped_parameter_is_refused_in_a_sentence(parameters: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=f"UserError: .*{said}"):
        run_on(ON_PAPER[0], **{"run": "paper", **parameters})
