"""Ceilings of a run as it lies on disk: with the parents that are known, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from lib import ROOT
from lib.book.views import views_of
from lib.desk.parents import seed_of
from lib.desk.injector import JudgedSet
from lib.run.folder import Run

PUBLISHED = ROOT.parent / "shared" / "published"


def make(folder: Path, seed: int | None = 7) -> Run:
    return Run.create(folder, {"dataset": {"n": 120} | ({} if seed is None else {"seed": seed})}, JudgedSet(120, 7))


def test_seed_is_read_from_a_manifest_of_either_shape():
    assert seed_of({"dataset": {"seed": 7}}) == 7
    assert seed_of({"runs": [{"seed": 7, "model": "m"}, {"seed": 7}]}) == 7
    assert seed_of({"runs": [{"seed": 7}, {"seed": 8}]}) is None
    assert seed_of({"dataset": {}, "runs": "all"}) is None


def test_outcome_view_of_a_run_hides_four_fault_types_of_six(tmp_path):
    views = views_of(make(tmp_path / "run"))
    found = views.ceiling("outcome")
    shown = found.cells[found.cells["ceiling"] == 1]["cell"].tolist()
    assert shown == ["premature_stop/loud", "unsupported_claim/silent"]
    assert (found.cells["visible"] == found.cells["n"] * found.cells["ceiling"]).all()
    assert views.ceiling("step").recall == 1


def test_ceiling_over_a_prefix_counts_only_what_was_judged(tmp_path):
    views = views_of(make(tmp_path / "run"))
    first = list(views.runs)[:40]
    found = views.ceiling("outcome", first)
    faults = [views.runs[name].label for name in first if views.runs[name].label.faulty]
    assert found.faults == len(faults)
    assert found.visible == sum(one.failure_type in ("premature_stop", "unsupported_claim") for one in faults)


def test_without_a_seed_there_is_no_ceiling_and_the_reason_is_said(tmp_path):
    views = views_of(make(tmp_path / "run", seed=None))
    assert views.ceiling("outcome") is None
    assert f"{views.parents.missing} are not known" in views.provenance()


def test_released_run_has_the_ceiling_of_ours_in_its_own_words():
    if not PUBLISHED.is_dir():
        pytest.skip("the paper's released run is not beside the project (shared/published)")
    views = views_of(Run.open(PUBLISHED))
    found = views.ceiling("outcome")
    assert (found.silent_visible, found.silent, found.loud_visible, found.loud) == (50, 175, 50, 125)
    assert found.clean == 141
    assert views.ceiling("step").recall == 1
    made = [t for t in views.parents.by_instance.values() if t.trajectory_id not in views.runs]
    assert len(made) == 41
    assert all(t.final_answer.endswith("It should reach your account within five working days.") for t in made)
