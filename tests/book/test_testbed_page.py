"""The testbed's page in a browser: with the keyboard, and without a script."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.built_book import Visit
from playwright.sync_api import Browser

from lib.records import FAULT_TYPES

pytestmark = pytest.mark.browser

PAGE = "book/pages/testbed.html"
VISIBLE = ".testbed-case:not([hidden])"


def test_a_case_is_chosen_with_the_keyboard_and_a_fault_that_does_not_fit_moves_on(built: Path, visit: Visit) -> None:
    page = visit.open(built / PAGE)
    page.wait_for_selector(".testbed[data-ready]")
    assert page.locator(VISIBLE).count() == 1
    page.get_by_label("Fault").focus()
    page.keyboard.type("ignored")
    shown = page.locator(VISIBLE)
    assert shown.get_attribute("data-fault") == "ignored_observation"
    assert shown.get_attribute("data-stratum") == "restocking"
    assert page.get_by_label("Kind of request").input_value() == "restocking"
    assert "Does not fit happy" in page.get_by_role("status").inner_text()
    assert visit.errors == []


def test_without_a_script_one_case_of_each_fault_is_shown(built: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built / PAGE).as_uri())
    visible = page.locator(VISIBLE)
    assert [one.get_attribute("data-fault") for one in visible.all()] == list(FAULT_TYPES)
    assert visible.first.is_visible()
    context.close()
