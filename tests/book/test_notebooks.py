"""What is committed of a notebook: executed from top to bottom, in short cells, with pictures of what it shows."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import nbformat
import pytest

from lib import ROOT
from lib.book.notebooks import default_run
from lib.run.folder import Run
from lib.show.style import MIME, spec_digest
from tests.notebook import ALL, Shown


@pytest.fixture(params=ALL, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def cells(path: Path, kind: str) -> list:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def outputs(path: Path) -> list:
    return Shown(nbformat.read(path, as_version=4)).outputs


def test_a_notebook_is_executed_from_top_to_bottom_without_an_error(path: Path) -> None:
    # nbval passes over a cell without a count, so a stripped notebook would never be checked
    counts = [cell.execution_count for cell in cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1))
    assert Shown(nbformat.read(path, as_version=4)).complaints == []


def test_a_reader_can_take_in_a_cell_and_change_it(path: Path) -> None:
    code = [len(cell.source.splitlines()) for cell in cells(path, "code")]
    assert max(code) <= 15
    assert sum(code) <= 100


def test_words_are_shown_alike_in_jupyter_and_in_the_book(path: Path) -> None:
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    assert not re.search(r"\{(ref|cite|doc)\}|^\(.*\)=$", text, re.MULTILINE)
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert [link for link in links if not (path.parent / link).is_file()] == []


def test_a_notebook_has_no_path_or_warning_in_what_it_shows(path: Path) -> None:
    text = Shown(nbformat.read(path, as_version=4)).text
    assert str(ROOT) not in text
    assert "Warning" not in text


def test_stored_pictures_belong_to_their_charts(path: Path) -> None:
    for output in outputs(path):
        if MIME in output.get("data", {}):
            stored = output.metadata["image/png"]
            assert stored["spec_sha256"] == spec_digest(output.data[MIME])
            png = base64.b64decode(output.data["image/png"])
            assert stored["png_sha256"] == hashlib.sha256(png).hexdigest()


def test_a_notebook_on_a_run_says_what_it_read(path: Path) -> None:
    run = default_run(path)
    if run is None:
        pytest.skip("shows no run")
    assert Run.open(run).verdict_checksum() in Shown(nbformat.read(path, as_version=4)).text
