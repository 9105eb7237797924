"""How soon the verdict explorer can be used, and how large its files are: the paper's size, 10,000 verdicts, 100,000.

    python benchmarks/explorer.py [folder of a run whose texts are repeated; the run `local` by default]

The page is that of the built book (`make book`), opened from its file in headless chromium with an empty cache. The
time counts from the start of navigation until the list can be used; then a filter is set, then a trajectory is opened
(which loads its part of the data). Medians of five visits.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from load import make
from playwright.sync_api import Browser, sync_playwright

from lib import ROOT
from lib.book.explorer import FOLDER, write_explorer
from lib.book.layout import Shown
from lib.run.folder import Run

BUILT = ROOT / "_build" / "html"
SIZES = (2_000, 10_000, 100_000)
VISITS = 5
FLAGS = ["--no-sandbox", "--disable-gpu"]

FILTERED = """async () => {
  const [start, count] = [performance.now(), document.querySelector(".explorer-count")];
  const before = count.textContent;
  location.hash = "q=clean";
  while (count.textContent === before) await new Promise((resolve) => setTimeout(resolve));
  return performance.now() - start;
}"""
OPENED = """async () => {
  const start = performance.now();
  document.querySelector(".explorer-row:nth-child(3)").click();
  while (!document.querySelector(".explorer-content h2")) await new Promise((resolve) => setTimeout(resolve));
  return performance.now() - start;
}"""


def page_with(run: Run, folder: Path) -> Path:
    """The book's explorer with the data of one run."""
    (folder / "_static").symlink_to(BUILT / "_static")
    (folder / "book").mkdir()
    shutil.copy(BUILT / "book" / "explorer.html", folder / "book")
    write_explorer(folder, [Shown("run", str(run.folder), run.folder)])
    return folder / "book" / "explorer.html"


def visit(browser: Browser, page_file: Path) -> tuple[float, float, float]:
    """Milliseconds until the list can be used, of a filter, and of opening a trajectory."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(page_file.as_uri())
    page.wait_for_function("performance.getEntriesByName('explorer-ready').length > 0")
    ready = page.evaluate("performance.getEntriesByName('explorer-ready')[0].startTime")
    times = ready, page.evaluate(FILTERED), page.evaluate(OPENED)
    context.close()
    return times


def measure(browser: Browser, run: Run, n: int) -> None:
    """Print a row."""
    with tempfile.TemporaryDirectory() as folder:
        page_file = page_with(run, Path(folder))
        data = page_file.parents[1] / FOLDER / "run"
        parts = [path.stat().st_size for path in data.glob("part-*.js")]
        index = (data / "index.js").stat().st_size
        times = zip(*[visit(browser, page_file) for _ in range(VISITS)], strict=True)
        ready, filtered, opened = (statistics.median(each) for each in times)
    print(f"{n:>8,} {ready:>9.0f} {filtered:>10.0f} {opened:>8.0f} {index / 1e3:>9.0f} {len(parts):>6}", end=" ")
    print(f"{max(parts) / 1e3:>15.0f}", flush=True)


def main() -> None:
    source = Run.open(sys.argv[1] if len(sys.argv) > 1 else "local")
    print("verdicts ready, ms filter, ms open, ms index, kB  parts largest part, kB")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                make(source, Path(folder) / "run", size)
                measure(browser, Run.open(Path(folder) / "run"), size)
        browser.close()


if __name__ == "__main__":
    main()
