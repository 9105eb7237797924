"""The gate page: its formulas against hand-worked values, and its page with the keyboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lib import ROOT, RUNS, bench
from lib.analysis.base_rate import at_base_rate
from lib.book.gate import write_gate
from lib.book.layout import Shown
from tests.built_book import Visit

pytestmark = pytest.mark.browser

MODEL = "qwen2.5:14b"


@pytest.fixture
def gate(visit: Visit) -> Page:
    """A page that has the formulas and nothing else."""
    visit.page.set_content("<p></p>")
    visit.page.add_script_tag(path=ROOT / "book" / "_static" / "gate.js")
    return visit.page


@pytest.fixture(scope="module")
def rates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """What the page is handed of the paper's judges, by id."""
    html = tmp_path_factory.mktemp("html")
    (html / "_static").mkdir()
    write_gate(html, [Shown("paper", "paper", RUNS / "paper")])
    text = (html / "_static" / "gate-data.js").read_text(encoding="ascii")
    (run,) = json.loads(text.removeprefix("window.gateData=").removesuffix(";\n"))
    return {one["id"]: one | {"recall": one["silent"], "together": one["together"]["silent"]} for one in run["judges"]}


def outcome(page: Page, judge: dict, rate: float, cost: float) -> dict:
    asked = [judge, rate, cost]
    return page.evaluate("([judge, rate, cost]) => bookGate.outcome(judge, rate, cost)", asked)


def test_at_five_per_cent_each_judge_pays_for_the_costs_of_a_miss_that_its_rates_say(gate: Page, rates: dict) -> None:
    pays = {judge: outcome(gate, of, 0.05, 20)["pays"] for judge, of in rates.items()}
    assert pays[f"outcome:{MODEL}"] == pytest.approx(
        [0.95 * 0.33 / (0.05 * 79 / 175), 0.95 * 0.67 / (0.05 * 96 / 175)], rel=1e-4
    )
    assert [round(bound, 1) for bound in pays[f"outcome:{MODEL}"]] == [13.9, 23.2]
    assert [round(bound) for bound in pays[f"step:{MODEL}"]] == [0, 81]
    assert [round(bound) for bound in pays["rules"]] == [0, 33]


def test_the_page_and_the_chapters_give_a_judge_the_same_cost_and_interval(gate: Page, rates: dict) -> None:
    verdicts = bench.open("paper").verdicts
    for judge in (f"outcome:{MODEL}", f"step:{MODEL}"):
        own = verdicts[(verdicts["judge"] == judge) & (verdicts["survival"] != "loud")]
        there = at_base_rate(own, 0.05, 20, reps=10)
        here = outcome(gate, rates[judge], 0.05, 20)
        assert [cost / 1000 for cost in here["cost"]] == pytest.approx(there.cost[:3], rel=1e-4)
        assert here["pays"] == pytest.approx([there.pays_from, there.pays_to], rel=1e-4)
        assert here["precision"][0] == pytest.approx(there.precision.value, rel=1e-4)


def test_counts_shares_costs_and_their_intervals_by_hand(gate: Page) -> None:
    judge = {"recall": [0.8, 0.7, 0.85, 100], "alarms": [0.1, 0.04, 0.2, 100]}
    found = outcome(gate, judge, 0.1, 5)
    assert found["passed"] == pytest.approx([20, 15, 30])
    assert found["stopped"] == pytest.approx([90, 36, 180])
    assert found["precision"][0] == pytest.approx(80 / 170)
    assert found["precision"][1] < 80 / 170 < found["precision"][2]
    assert found["cost"] == pytest.approx([190, 190 - (25**2 + 54**2) ** 0.5, 190 + (50**2 + 90**2) ** 0.5])
    assert (found["pass"], found["stop"]) == ("below", "below")


@pytest.mark.parametrize(
    ("recall", "alarms", "cost", "beside"),
    [
        ([1, 1, 1, 9], [1, 1, 1, 9], 2, ["above", "between"]),  # flags everything: it is stopping all
        ([0, 0, 0, 9], [0, 0, 0, 9], 2, ["between", "below"]),  # flags nothing: it is passing all
        ([0.5, 0.2, 0.8, 9], [0.5, 0.2, 0.8, 9], 9, ["between", "between"]),
    ],
)
def test_a_gate_is_set_beside_passing_all_and_stopping_all(
    gate: Page, recall: list, alarms: list, cost: float, beside: list
) -> None:
    found = outcome(gate, {"recall": recall, "alarms": alarms}, 0.1, cost)
    assert [found["pass"], found["stop"]] == beside


def test_precision_is_certain_only_without_false_alarms_and_missing_without_alarms(gate: Page) -> None:
    none = [0, 0, 0.04, 100]
    value, low, high = outcome(gate, {"recall": [0.8, 0.7, 0.9, 100], "alarms": none}, 0.05, 1)["precision"]
    assert (value, high) == (1, 1)
    assert 0.4 < low < 0.6
    assert outcome(gate, {"recall": none, "alarms": none}, 0.05, 1)["precision"] is None


def test_the_page_is_used_with_the_keyboard_and_its_address_restores_it(built: Path, visit: Visit) -> None:
    page = visit.open(built / "book/gate.html", f"#run=paper&judge=outcome:{MODEL}&faults=silent&rate=5&cost=20")
    said = page.get_by_role("status")
    expect(said).to_contain_text("between 14 and 23 false alarms")
    expect(said).to_contain_text("lets 27 faulty ones pass and stops 314 clean ones for nothing")
    page.get_by_label("Judge").select_option(f"step:{MODEL}")
    expect(said).to_contain_text("The gate pays")
    page.get_by_role("spinbutton", name="A miss costs").fill("100")
    expect(said).to_contain_text("cheaper to stop everything")
    slider = page.get_by_role("slider", name="What a miss costs")
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_url(f"**#run=paper&judge=step:{MODEL}&faults=silent&rate=5&cost=0.1")
    expect(page.locator(".gate tr[aria-current]")).to_contain_text(f"step:{MODEL}")
    page.get_by_role("spinbutton", name="A miss costs").fill("-3")
    expect(page.get_by_role("spinbutton", name="A miss costs")).to_have_js_property("validity.valid", False)
    assert page.url.endswith("cost=0.1")
    page.evaluate("location.hash = 'run=nowhere&judge=nobody&rate=abc&cost=1e9'")
    expect(said).to_contain_text("Of 1,000 cases, 50 of them faulty")
    assert visit.errors == []
    assert visit.outside == []
