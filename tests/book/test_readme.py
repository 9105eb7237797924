"""The README's figure and table are those of the shipped run, and its commands exist."""

from __future__ import annotations

import re

import pytest
from lib.analysis.scores import Scores, score
from lib.book.headline import survival_chart
from lib.book.readme import PICTURE, README, SHIPPED, results, with_results

from lib import ROOT
from lib.run.folder import Run
from lib.show.style import spec_digest

TEXT = README.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def scored() -> tuple[Scores, list[str]]:
    opened = Run.open(SHIPPED)
    frames = opened.frames(text=False)
    order = list(opened.judges(frames.verdicts))
    return score(*frames, order=order), order


def test_the_results_in_the_readme_are_current(scored):
    current = with_results(TEXT, results(scored[0]))
    assert current == TEXT, "run `python -m lib.book.readme` and commit what it writes"
    assert results(scored[0]) in TEXT


def test_the_figure_in_the_readme_is_current(scored):
    digest = spec_digest(survival_chart(*scored).to_dict())
    assert PICTURE.read_text(encoding="utf-8").startswith(f"<!-- {digest} -->"), "run `python -m lib.book.readme`"


def test_a_changed_number_is_replaced_in_the_marked_block_only():
    text = "a\n<!-- results: x -->\nold\n<!-- end of results -->\nb\n"
    assert with_results(text, "new\n") == "a\n<!-- results: x -->\nnew\n<!-- end of results -->\nb\n"


def test_the_readme_is_short_and_its_links_and_make_targets_exist():
    assert len(TEXT.splitlines()) <= 150
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake (\w+)`", TEXT)) <= targets
