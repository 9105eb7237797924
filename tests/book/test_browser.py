"""The built book in a real browser, opened from its files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.built_book import HTML, Visit, pages_of

pytestmark = pytest.mark.browser

PAGES = [pytest.param(path, id=str(path.relative_to(HTML / "book").with_suffix(""))) for path in pages_of(HTML)]
SCREENS = [pytest.param((1280, "light"), id="wide"), pytest.param((390, "dark"), id="phone-dark")]
CHAPTERS = [one for one in PAGES if one.id.startswith("local/") and "vega-chart" in one.values[0].read_text(encoding="utf-8")]
CHARTED = next((path for path in pages_of(HTML) if "vega-chart" in path.read_text(encoding="utf-8")), HTML / "none")
TABLED = next((path for path in pages_of(HTML) if "book-table" in path.read_text(encoding="utf-8")), HTML / "none")
NOTHING = [pytest.param(None, marks=pytest.mark.skip("the book is not built: `make book`"))]
MEGABYTE = 1_000_000
SCALES = """[...document.querySelectorAll('figure.vega-chart svg.marks')]
    .map((svg) => svg.getBoundingClientRect().width / Number(svg.getAttribute('width')))"""

each_page = pytest.mark.parametrize("path", PAGES or NOTHING)


@each_page
@pytest.mark.parametrize("visit", SCREENS, indirect=True)
def test_a_page_is_whole_offline_fits_its_screen_and_is_accessible(visit: Visit, path: Path) -> None:
    page = visit.open(path)
    assert visit.outside == []
    assert visit.errors == []
    assert page.locator("figure.vega-chart:not([data-ready])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert sum(file.stat().st_size for file in set(visit.loaded)) < 2 * MEGABYTE
    assert serious(page) == []


def serious(page) -> list[str]:
    """What axe-core finds serious or critical, with the first element of each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']} ({one['nodes'][0]['html'][:200]})"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_charts_have_tooltips_and_follow_the_colour_scheme(built: Path, visit: Visit) -> None:
    page = visit.open(CHARTED)
    mark = page.locator("figure.vega-chart .mark-symbol path[aria-label]").first
    mark.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    ink = "document.querySelector('figure.vega-chart .role-axis text').getAttribute('fill')"
    light = page.evaluate(ink)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function(f"{ink} !== {light!r}")


def test_a_table_can_be_copied_and_downloaded(built: Path, visit: Visit) -> None:
    page = visit.open(TABLED)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").first.click()
    saved = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert saved == page.locator(".book-table").first.get_attribute("data-csv")
    assert len({len(row) for row in csv.reader(io.StringIO(saved))}) == 1
    page.get_by_role("button", name="Copy", exact=True).first.click()
    page.wait_for_selector("button:has-text('Copied')")


def test_search_finds_a_fault_type_offline(built: Path, visit: Visit) -> None:
    page = visit.open(built / "search.html", "?q=unsupported_claim")
    page.wait_for_selector("#search-results .search li a", timeout=10_000)
    assert visit.errors == []
    assert visit.outside == []


def test_a_printed_chapter_has_its_text_and_none_of_the_controls(built: Path, visit: Visit) -> None:
    page = visit.open(CHARTED)
    page.emulate_media(media="print")
    for control in (".bd-sidebar-primary", ".bd-header-article", ".book-table-actions"):
        assert page.locator(control).first.is_hidden()
    assert page.locator("figure.vega-chart svg.marks").first.is_visible()
    assert page.locator("h1:visible").count() == 1


@pytest.mark.parametrize("visit", [(390, "light")], indirect=True)
@pytest.mark.parametrize("path", CHAPTERS or NOTHING)
def test_a_chart_on_a_phone_keeps_the_size_of_its_text(visit: Visit, path: Path):
    shown = visit.open(path).evaluate(SCALES)
    assert shown
    assert min(shown) > 0.85


@pytest.mark.parametrize("path", (CHAPTERS or NOTHING)[:1])
def test_a_chart_is_fitted_again_when_the_window_narrows_and_widens(visit: Visit, path: Path):
    page = visit.open(path)
    width = "document.querySelector('figure.vega-chart svg.marks').getBoundingClientRect().width"
    wide = page.evaluate(width)
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function(f"Math.min(...{SCALES}) > 0.85")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function(f"{width} == {wide}")
