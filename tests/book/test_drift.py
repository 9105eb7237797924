"""Any changed verdict, and any stale stored output, makes `pytest --nbval` fail."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from lib import ROOT, RUNS
from lib.book.notebooks import default_run
from lib.show.style import MIME
from tests.notebook import ALL

CHANGES = 20
ON_PAPER = [path for path in ALL if default_run(path) == "paper"]


def flip(verdict: dict[str, Any]) -> None:
    verdict["faulty"] = not verdict["faulty"]
    verdict["failure_step"] = verdict["failure_type"] = None


def move_step(verdict: dict[str, Any]) -> None:
    verdict["faulty"], verdict["failure_step"] = True, 1 if verdict["failure_step"] == 0 else 0


def rename_type(verdict: dict[str, Any]) -> None:
    other = "wrong_tool" if verdict["failure_type"] != "wrong_tool" else "premature_stop"
    verdict["faulty"], verdict["failure_type"] = True, other


def nudge_confidence(verdict: dict[str, Any]) -> None:
    verdict["confidence"] = 0.75 if verdict["confidence"] != 0.75 else 0.751


EDITS: list[Callable[[dict[str, Any]], None]] = [flip, move_step, rename_type, nudge_confidence]


def changed_run(folder: Path, rng: random.Random, edit: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the shipped run, called the same, with one random verdict edited."""
    copied = folder / "paper"
    shutil.copytree(RUNS / "paper", copied)
    path = copied / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    at = rng.randrange(len(lines))
    verdict = json.loads(lines[at])
    edit(verdict)
    lines[at] = json.dumps(verdict, ensure_ascii=False)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return copied


def on_run(source: Path, run: Path, target: Path) -> None:
    """The committed notebook with its stored outputs, but reading ``run``."""
    notebook = nbformat.read(source, as_version=4)
    cell = next(c for c in notebook.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = cell.source.replace('run = "paper"', f"run = {str(run)!r}")
    assert str(run) in cell.source
    nbformat.write(notebook, target)


def stale_chart(source: Path, target: Path) -> bool:
    """The committed notebook with one number of a stored chart changed; False where it has no chart."""
    notebook = nbformat.read(source, as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                spec = json.dumps(output.data[MIME])
                output.data[MIME] = json.loads(spec.replace('"n": ', '"n": 1', 1))
                nbformat.write(notebook, target)
                return True
    return False


@pytest.mark.drift
def test_twenty_random_changes_and_a_stale_chart_all_fail_nbval_and_an_unchanged_copy_passes(tmp_path):
    rng = random.Random("drift")
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    for i in range(CHANGES):
        run = changed_run(tmp_path / f"{i:02d}", rng, EDITS[i % len(EDITS)])
        on_run(ON_PAPER[i % len(ON_PAPER)], run, notebooks / f"change_{i:02d}.ipynb")
    assert any(stale_chart(source, notebooks / "stale.ipynb") for source in ON_PAPER)
    unchanged = tmp_path / "unchanged" / "paper"
    shutil.copytree(RUNS / "paper", unchanged)
    on_run(ON_PAPER[0], unchanged, notebooks / "unchanged.ipynb")
    failures = nbval(notebooks, tmp_path / "report.xml")
    assert failures.pop("unchanged") == 0
    assert len(failures) == CHANGES + 1
    assert [name for name, count in failures.items() if count == 0] == []


def nbval(folder: Path, report: Path) -> dict[str, int]:
    """Failed cells per notebook of a folder."""
    flags = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", str(ROOT / "tests" / "nbval_sanitize.cfg")]
    command = [sys.executable, "-m", "pytest", "-q", *flags, "-n", "2", "--dist", "loadfile", f"--junitxml={report}"]
    done = subprocess.run([*command, str(folder)], cwd=folder, capture_output=True, text=True, check=False)
    assert report.exists(), done.stdout + done.stderr
    counts: dict[str, int] = {path.stem: 0 for path in folder.glob("*.ipynb")}
    for case in ET.parse(report).iter("testcase"):
        name = next(stem for stem in counts if stem in f"{case.get('classname')} {case.get('name')}")
        counts[name] += case.find("failure") is not None
    return counts
