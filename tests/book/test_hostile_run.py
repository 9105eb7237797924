"""A book of a run whose judge's name, rationales and replies are markup: all of it stays text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lib import ROOT, RUNS
from lib.book.build import build_book
from tests.built_book import Visit, pages_of

pytestmark = pytest.mark.browser

EVIL = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Pages of the shipped run with a judge of that name, which flags everything, and with replies to match."""
    folder = tmp_path_factory.mktemp("runs") / "hostile"
    shutil.copytree(RUNS / "local", folder)
    trajectories = [json.loads(line) for line in (folder / "trajectories.jsonl").read_text("utf-8").splitlines()]
    for one in trajectories:
        one["final_answer"] += EVIL
        one["steps"][0]["thought"] += EVIL
    write(folder / "trajectories.jsonl", trajectories)
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text("utf-8").splitlines()]
    new = {"judge_id": f"step:{EVIL}", "faulty": True, "failure_step": 0, "failure_type": None, "confidence": 0.9}
    template = {**verdicts[0], **new, "rationale": EVIL}
    verdicts += [{**template, "trajectory_id": one["trajectory_id"]} for one in trajectories]
    write(folder / "verdicts.jsonl", verdicts)
    out = tmp_path_factory.mktemp("book")
    build_book([str(folder)], out=out)
    yield out / "_build" / "html"
    shutil.rmtree(ROOT / "book" / "hostile")


def write(path: Path, records: list[dict]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_markup_from_models_and_data_never_runs_in_a_page(hostile: Path, visit: Visit) -> None:
    shown = 0
    for path in pages_of(hostile):
        page = visit.open(path)
        assert page.evaluate("window.owned") is None, path.name
        assert page.locator("img[src=x]").count() == 0, path.name
        shown += "window.owned" in page.locator("article").inner_text()
    assert shown > 0
    assert visit.outside == []
    assert visit.errors == []
