"""The built book in a real browser, opened from its files: what all pages have in common, then what a page can do."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from lib.records import FAULT_TYPES
from tests.built_book import HTML, Visit, pages_of

pytestmark = pytest.mark.browser

PAGES = [pytest.param(path, id=str(path.relative_to(HTML / "book").with_suffix(""))) for path in pages_of(HTML)]
NOTHING = [pytest.param(None, marks=pytest.mark.skip("the book is not built: `make book`"))]
MEGABYTE = 1_000_000
SMALLEST = 12  # pixels

SMALL_TEXT = """smallest => {
  const small = new Set();
  const walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || parent.closest('math, sup, sub, script, style, noscript')) continue;
    const size = parseFloat(getComputedStyle(parent).fontSize);
    const shown = `${size} px: ${walker.currentNode.data.trim().slice(0, 60)}`;
    if (size < smallest && parent.checkVisibility()) small.add(shown);
  }
  return [...small].slice(0, 5);
}"""
UNFILLED = """() => [...document.querySelectorAll('figure.vega-chart')].filter((figure) => figure.clientWidth)
    .map((figure) => figure.querySelector('svg.marks').getBoundingClientRect().width / figure.clientWidth)
    .filter((share) => share < 0.93 || share > 1.02)"""
UNDESCRIBED = """() => [...document.querySelectorAll('article :is(img, [role="img"])')]
    .filter((one) => !one.getAttribute('alt') && !one.getAttribute('aria-label'))
    .map((one) => one.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("path", PAGES or NOTHING)
def test_a_page_is_whole_offline_legible_accessible_and_fits_wide_and_narrow_screens(visit: Visit, path: Path) -> None:
    page = visit.open(path)
    holds_on(page)
    assert page.locator("article h1:visible").count() == 1
    assert sum(file.stat().st_size for file in set(visit.loaded)) < 2 * MEGABYTE
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("innerWidth === 390 && document.documentElement.dataset.theme === 'dark'")
    page.wait_for_timeout(300)  # what is drawn anew waits until the window rests
    visit.wait_for_charts()
    holds_on(page)
    assert visit.outside == []
    assert visit.errors == []
    assert serious(page) == []  # last: axe-core tries to fetch style sheets, which a browser refuses for files


UNSEEN = """[...document.querySelectorAll(".vega-target svg .role-mark")].filter((mark) =>
  !mark.closest("details:not([open])") && mark.closest("g[style*='none']") === null && mark.children.length &&
  !mark.getClientRects().length).map((mark) => mark.outerHTML.slice(0, 80))"""
"""Marks of charts that no one sees, such as in a panel that the page's own style hides."""


def holds_on(page: Page) -> None:
    """What is true of a page on every screen."""
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert page.evaluate(SMALL_TEXT, SMALLEST) == []
    assert page.evaluate(UNFILLED) == []
    assert page.evaluate(UNDESCRIBED) == []
    assert page.evaluate(UNSEEN) == []
    assert page.locator("article :is(.cell_input, details.above-input):visible").count() == 0


def serious(page: Page) -> list[str]:
    """What axe-core finds serious or critical, with the first element of each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:200]})"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def first_with(mark: str) -> Path:
    """The first page whose source holds a mark; skips where the book is not built or has no such page."""
    for path in pages_of(HTML):
        if mark in path.read_text(encoding="utf-8"):
            return path
    pytest.skip(f"no page has {mark}")


def test_charts_have_tooltips_follow_the_colour_scheme_and_print_without_controls(built: Path, visit: Visit) -> None:
    page = visit.open(first_with("vega-chart"))
    page.locator("figure.vega-chart .mark-symbol path[aria-label]").first.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    ink = "document.querySelector('figure.vega-chart .role-axis text').getAttribute('fill')"
    light = page.evaluate(ink)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function(f"{ink} !== {light!r}")
    page.emulate_media(media="print")
    for control in (".bd-sidebar-primary", ".bd-header-article", ".book-code"):
        assert page.locator(control).first.is_hidden()
    assert page.locator("figure.vega-chart svg.marks").first.is_visible()


def test_one_switch_shows_all_code_with_the_keyboard_and_is_kept(built: Path, visit: Visit) -> None:
    page = visit.open(first_with("vega-chart"))
    code = page.locator("article .cell:not(.tag_remove-input) .cell_input")
    switch = page.get_by_role("button", name="Show code")
    switch.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Hide code")).to_have_attribute("aria-pressed", "true")
    assert code.count() > 0
    assert all(one.is_visible() for one in code.all())
    page.reload()
    expect(code.first).to_be_visible()


def test_a_table_can_be_copied_and_downloaded(built: Path, visit: Visit) -> None:
    page = visit.open(first_with('class="book-table"'))
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").first.click()
    saved = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert saved == page.locator(".book-table").first.get_attribute("data-csv")
    assert len({len(row) for row in csv.reader(io.StringIO(saved))}) == 1
    page.get_by_role("button", name="Copy", exact=True).first.click()
    page.wait_for_selector("button:has-text('Copied')")


def test_search_finds_a_fault_type_offline_and_shows_the_words_around_it(built: Path, visit: Visit) -> None:
    page = visit.open(built / "search.html", "?q=unsupported_claim")
    page.wait_for_selector("#search-results .search li .excerpt mark", timeout=10_000)
    page.wait_for_function("!document.querySelector('#search-results li:not([data-excerpt])')")
    marked = page.locator(".excerpt mark").all_inner_texts()
    assert "unsupported_claim" in marked
    assert page.locator("#search-results li").count() == page.locator("#search-results .excerpt").count()
    assert visit.errors == []
    assert visit.outside == []


def test_the_testbeds_case_is_chosen_with_the_keyboard_and_is_in_its_address(built: Path, visit: Visit) -> None:
    page = visit.open(built / "book/paper/testbed.html")
    shown = page.locator(".testbed-case:not([hidden])")
    page.get_by_label("Fault").focus()
    page.keyboard.type("ignored")
    assert (shown.get_attribute("data-fault"), shown.get_attribute("data-stratum")) == (
        "ignored_observation",
        "restocking",
    )
    assert "Does not fit happy" in page.get_by_role("status").inner_text()
    assert page.url.endswith("#fault=ignored_observation&request=restocking")
    page.evaluate("location.hash = 'fault=premature_stop&request=expired'")
    expect(page.get_by_label("Kind of request")).to_have_value("expired")
    assert shown.get_attribute("data-fault") == "premature_stop"
    defined = page.locator(".book-table", has_text="The six faults").locator("tbody th").all_inner_texts()
    assert defined == list(FAULT_TYPES)


def test_without_a_script_one_case_of_each_fault_is_shown(built: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built / "book/paper/testbed.html").as_uri())
    shown = page.locator(".testbed-case:not([hidden])")
    assert [one.get_attribute("data-fault") for one in shown.all()] == list(FAULT_TYPES)
    assert shown.first.is_visible()
    context.close()
