"""The README's answer and figure are those of the first page, and its commands exist."""

from __future__ import annotations

import re

from lib import ROOT
from lib.book.readme import PICTURE, README, answer, with_answer
from lib.show.style import spec_digest

TEXT = README.read_text(encoding="utf-8")


def test_the_answer_and_the_figure_are_those_of_the_first_page() -> None:
    text, spec = answer()
    assert text in TEXT, "run `make refresh` and commit what it writes"
    assert "41 of 50 invented claims" in text
    assert PICTURE.read_text(encoding="utf-8").startswith(f"<!-- {spec_digest(spec)} -->"), "run `make refresh`"


def test_a_changed_answer_is_replaced_in_the_marked_block_only() -> None:
    text = "a\n<!-- answer: x -->\nold\n<!-- end of answer -->\nb\n"
    assert with_answer(text, "new\n") == "a\n<!-- answer: x -->\nnew\n<!-- end of answer -->\nb\n"


def test_the_readme_is_short_and_its_links_and_make_targets_exist() -> None:
    assert len(TEXT.splitlines()) <= 150
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake (\w+)`", TEXT)) <= targets
