"""The chapters on other runs than the shipped one: the paper's, and one that no model has judged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from msgspec.structs import asdict

from lib import ROOT
from lib.book.publish import parameters_of, publish
from lib.desk.injector import JudgedSet
from lib.judging.roster import MODEL_FREE
from lib.records import Verdict, view_of
from lib.run.folder import Run
from lib.trajectories import VERDICTS

PUBLISHED = ROOT.parent / "shared" / "published"
CHAPTERS = [ROOT / "notebooks" / f"{name}.ipynb" for name in ("0_results", "1_blind_spot", "7_calibration_and_cost")]
chapters = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)


def shown(chapter: Path, run: Path, folder: Path, **parameters: Any) -> str:
    """All that a chapter shows on a run, as plain text; few replicates, since no interval is looked at."""
    target = folder / chapter.name
    publish(chapter, target, {"run": str(run), "reps": 200, **parameters})
    outputs = [out for cell in nbformat.read(target, as_version=4).cells for out in cell.get("outputs", [])]
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]
    return "\n".join(out.get("text") or out.data["text/plain"] for out in outputs)


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 60 trajectories and no verdict."""
    return Run.create(tmp_path_factory.mktemp("runs") / "unjudged", {"dataset": {"seed": 3}}, JudgedSet(60, 3)).folder


@pytest.fixture(scope="module")
def without_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 60 trajectories that only judges without a model have judged."""
    run = Run.create(tmp_path_factory.mktemp("runs") / "plain", {"dataset": {"seed": 3}}, JudgedSet(60, 3))
    lines = []
    for name in MODEL_FREE:
        judge = MODEL_FREE[name]()
        for trajectory in run.trajectories().values():
            said = asdict(judge.judge(view_of(trajectory, steps=True)))
            lines.append(VERDICTS.spelling.encode(Verdict(trajectory_id=trajectory.trajectory_id, judge_id=name, **said)))
    (run.folder / "verdicts.jsonl").write_bytes(b"".join(lines))
    return run.folder


@chapters
def test_chapter_says_that_a_run_was_not_judged(chapter: Path, unjudged: Path, tmp_path: Path) -> None:
    assert "This run has no verdicts yet" in shown(chapter, unjudged, tmp_path)


@chapters
def test_chapter_says_that_no_model_judged_the_run(chapter: Path, without_model: Path, tmp_path: Path) -> None:
    text = shown(chapter, without_model, tmp_path)
    assert "No model has judged this run" in text
    assert "always-clean" in text


@chapters
def test_chapter_reproduces_the_paper_on_its_own_run(chapter: Path, without_model: Path, tmp_path: Path) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("the paper's released run is not beside the project (shared/published)")
    others = {"also": [str(without_model)]} if "also" in parameters_of(chapter) else {}
    text = shown(chapter, PUBLISHED, tmp_path, reps=10_000, **others)
    table = text[text.index("Our figures and the paper's") :].split("\n\n")[0].splitlines()[2:]
    rows = [line for line in table if re.search(r"  (Table|Section|Appendix) ", line)]
    assert rows
    assert [line for line in rows if "  yes  " not in line] == []
    if chapter.stem == "0_results":
        assert re.search(r"All \d+ published figures are reproduced", text)
        assert "plain" in text
