"""The built book and a browser to read it with; each skips with its reason where it is not there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from lib import ROOT

HTML = ROOT / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Visit:
    """A page opened from its file, with what went wrong on the way and what was loaded."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.outside: list[str] = []
        self.loaded: list[Path] = []
        self.errors: list[str] = []
        page.on("request", self._on_request)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.route(lambda url: not url.startswith(("file:", "data:", "blob:")), lambda route: route.abort())

    def open(self, path: Path, query: str = "") -> Page:
        """Open a page and wait until its charts are drawn."""
        self.page.goto(path.as_uri() + query)
        if self.page.locator("figure.vega-chart").count():
            self.page.wait_for_selector('html[data-charts="ready"]', state="attached", timeout=20_000)
        return self.page

    def _on_request(self, request: Any) -> None:
        if request.url.startswith("file:"):
            self.loaded.append(Path(request.url.removeprefix("file://").split("?")[0].split("#")[0]))
        elif not request.url.startswith(("data:", "blob:")):
            self.outside.append(request.url)


@pytest.fixture(scope="session")
def built() -> Path:
    if not (HTML / "index.html").exists():
        pytest.skip("the book is not built: `make book`")
    return HTML


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no `chromium` on the PATH (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A fresh page; parametrise indirectly with (width, colour scheme)."""
    width, scheme = getattr(request, "param", (1280, "light"))
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    yield Visit(context.new_page())
    context.close()


def pages_of(folder: Path) -> list[Path]:
    """The book's own pages, without the redirects and the index that nobody links to."""
    return sorted((folder / "book").rglob("*.html"))
