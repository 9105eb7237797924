"""Every link inside the built book leads to a page and a place on it."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.built_book import pages_of

pytestmark = pytest.mark.browser


class Links(HTMLParser):
    """Link targets and ids of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := given.get(name))}
        target = given.get("href") if tag in ("a", "link") else given.get("src")
        if target:
            self.targets.append(target)


@cache
def read(path: Path) -> Links:
    links = Links()
    links.feed(path.read_text(encoding="utf-8"))
    return links


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere; addresses outside the book are not followed."""
    lost = []
    for target in read(page).targets:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        anchor = unquote(parts.fragment)
        if not path.is_file() or (anchor and path.suffix == ".html" and anchor not in read(path).ids):
            lost.append(f"{page.name}: {target}")
    return lost


def test_no_link_inside_the_book_is_broken(built: Path) -> None:
    assert [link for page in pages_of(built) for link in broken(page)] == []


def test_no_page_loads_from_another_place(built: Path) -> None:
    assert not [
        (page.name, target)
        for page in pages_of(built)
        for target in read(page).targets
        if target.startswith(("http:", "//")) or ("cdn" in target and "://" in target)
    ]
