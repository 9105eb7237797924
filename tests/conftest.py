"""The released run of the paper, where it is present."""

from __future__ import annotations

import pytest

from lib import ROOT
from lib.run.folder import Run

PUBLISHED = ROOT.parent / "shared" / "published"


@pytest.fixture(scope="session")
def published() -> Run:
    if not (PUBLISHED / "trajectories.jsonl").exists():
        pytest.skip("the released run is not here (shared/published)")
    return Run.open(PUBLISHED)
