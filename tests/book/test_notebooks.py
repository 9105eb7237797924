"""What is committed of a notebook: executed from top to bottom, with the pictures and checksums of what it shows."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import nbformat
import pytest

from lib import ROOT
from lib.show.style import MIME, spec_digest
from lib.book.publish import parameters_of
from lib.book.refresh import committed
from lib.run.folder import Run


@pytest.fixture(params=committed(), ids=lambda path: path.stem)
def path(request) -> Path:
    return request.param


def outputs(path: Path) -> list:
    return [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]


def test_a_notebook_is_executed_from_top_to_bottom_without_an_error(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    # nbval passes over a cell without a count, so a stripped notebook would never be checked
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [o for o in outputs(path) if o.output_type == "error" or o.get("name") == "stderr"]


def test_code_is_folded_away_in_the_pages(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    tags = [set(cell.metadata.get("tags", [])) for cell in cells]
    assert all(own & {"hide-input", "parameters"} for own in tags)


def test_a_notebook_has_no_path_or_warning_in_what_it_shows(path):
    text = str([output.get("text", output.get("data", {}).get("text/plain")) for output in outputs(path)])
    assert str(ROOT) not in text
    assert "Warning" not in text


def test_stored_pictures_belong_to_their_charts(path):
    for output in outputs(path):
        if MIME in output.get("data", {}):
            stored = output.metadata["image/png"]
            assert stored["spec_sha256"] == spec_digest(output.data[MIME])
            png = base64.b64decode(output.data["image/png"])
            assert stored["png_sha256"] == hashlib.sha256(png).hexdigest()


def test_tables_and_prose_come_from_the_helpers_that_escape_them(path):
    for output in outputs(path):
        html = output.get("data", {}).get("text/html", "")
        assert not html or html.startswith('<div class="')
        assert "<script" not in html


def test_a_notebook_on_a_run_says_what_it_read(path):
    defaults = parameters_of(path)
    if "run" not in defaults:
        pytest.skip("shows no run")
    assert Run.open(defaults["run"]).verdict_checksum() in str([output.get("text") for output in outputs(path)])
