"""Where the built book lies, and a browser page that notes what went wrong and what was loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from lib import ROOT

HTML = ROOT / "_build" / "html"


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
        self.wait_for_charts()
        return self.page

    def wait_for_charts(self) -> None:
        """Wait until all charts of the page, if it has any, are drawn."""
        if self.page.locator("figure.vega-chart").count():
            self.page.wait_for_selector('html[data-charts="ready"]', state="attached", timeout=20_000)

    def _on_request(self, request: Any) -> None:
        if request.url.startswith("file:"):
            self.loaded.append(Path(request.url.removeprefix("file://").split("?")[0].split("#")[0]))
        elif not request.url.startswith(("data:", "blob:")):
            self.outside.append(request.url)


def pages_of(folder: Path) -> list[Path]:
    """The book's own pages, without the redirects and the index that nobody links to."""
    return sorted((folder / "book").rglob("*.html"))
