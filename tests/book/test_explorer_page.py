"""The explorer's page in a real browser, opened from its files, on the shipped run and on generated ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from test_browser import serious
from test_explorer import hostile_run, make_run, trajectory

from lib import ROOT, RUNS
from lib.book import layout
from lib.book.explorer import write_explorer
from lib.records import FAULT_TYPES, STRATA, Judgement, Label, Verdict, stratum_of
from lib.run.folder import Run
from lib.visible import visible
from tests.built_book import Visit

pytestmark = pytest.mark.browser

LOCAL = layout.Shown("local", "local", RUNS / "local")
JUDGES = ["rules", "coin", "outcome:m", "step:m", "selfcons3:m"]
Opener = Callable[..., Page]


def generated_run(folder: Path, n: int) -> layout.Shown:
    """n trajectories, each with the verdicts of five judges."""
    rng = random.Random("explorer")
    trajectories, verdicts = [], []
    for i in range(n):
        kind = None if i % 4 == 0 else FAULT_TYPES[i % 6]
        label = Label(kind is not None, None if kind is None else 1, kind, i % 3 > 0)
        trajectories.append(trajectory(f"INS-{i:05d}-{kind or 'clean'}", label, instance=f"INS-{i:05d}"))
        for judge in JUDGES:
            flagged = rng.random() < 0.5
            said = {"failure_step": rng.randrange(2), "failure_type": rng.choice(FAULT_TYPES)} if flagged else {}
            name, confidence = trajectories[-1].trajectory_id, rng.randrange(50, 101) / 100
            verdicts.append(
                Verdict(
                    trajectory_id=name,
                    judge_id=judge,
                    faulty=flagged,
                    confidence=confidence,
                    rationale=f"by {judge}",
                    **said,
                )
            )
    return make_run(folder, trajectories, verdicts)


@pytest.fixture
def explorer(built: Path, visit: Visit, tmp_path: Path) -> Opener:
    """Opens the book's page with the data of other runs; what goes wrong on the way fails the test."""
    if not (built / "book" / "explorer.html").exists():
        pytest.skip("the book is built without the explorer")
    (tmp_path / "_static").symlink_to(built / "_static")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "explorer.html").write_bytes((built / "book" / "explorer.html").read_bytes())

    def open_page(*shown: layout.Shown, address: str = "") -> Page:
        write_explorer(tmp_path, shown)
        visit.page.goto((tmp_path / "book" / "explorer.html").as_uri() + address)
        visit.page.wait_for_selector("#explorer[data-ready], .explorer-notice:not(:empty)", timeout=20_000)
        return visit.page

    yield open_page
    assert visit.errors == []
    assert visit.outside == []


def count(page: Page) -> str:
    return page.locator(".explorer-count").inner_text()


def heading(page: Page):
    return page.locator(".explorer-content h2")


def rows(page: Page):
    return page.get_by_role("listbox", name="Trajectories").get_by_role("option")


def search(page: Page):
    return page.get_by_role("searchbox", name="Search", exact=True)


def choice(page: Page, label: str):
    return page.get_by_role("combobox", name=label, exact=True)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[layout.Shown, Run]:
    shown = generated_run(tmp_path_factory.mktemp("runs") / "mine", 60)
    return shown, Run.open(shown.run)


def right(run: Run) -> dict[str, dict[str, bool]]:
    """Whether each judge is right, by trajectory."""
    faulty = {name: one.label.faulty for name, one in run.trajectories().items()}
    found: dict[str, dict[str, bool]] = {name: {} for name in faulty}
    for verdict in run.verdicts():
        found[verdict.trajectory_id][verdict.judge_id] = verdict.faulty == faulty[verdict.trajectory_id]
    return found


def test_each_filter_keeps_what_the_records_say(explorer: Opener, known: tuple[layout.Shown, Run]):
    shown, run = known
    trajectories, verdicts = run.trajectories(), {(v.trajectory_id, v.judge_id): v for v in run.verdicts()}
    is_right = right(run)
    counting = {name: [ok for judge, ok in each.items() if judge != "coin"] for name, each in is_right.items()}

    def hit(name: str, judge: str) -> bool:
        label, said = trajectories[name].label, verdicts[name, judge]
        return said.faulty and label.faulty and said.failure_step == label.failure_step

    expected = {
        "fault=clean": lambda name, label: not label.faulty,
        "fault=faulty": lambda name, label: label.faulty,
        "fault=wrong_tool": lambda name, label: label.failure_type == "wrong_tool",
        "outcome=wrong": lambda name, label: not label.outcome_correct,
        f"stratum={STRATA[2]}": lambda name, label: stratum_of(trajectories[name].instance_id) == STRATA[2],
        "judge=step:m&said=flagged": lambda name, label: verdicts[name, "step:m"].faulty,
        "judge=step:m&said=passed": lambda name, label: not verdicts[name, "step:m"].faulty,
        "judge=coin&said=wrong": lambda name, label: not is_right[name]["coin"],
        "judge=step:m&said=step": lambda name, label: hit(name, "step:m"),
        "said=step": lambda name, label: any(hit(name, judge) for judge in JUDGES if judge != "coin"),
        "said=none": lambda name, label: False,
        "agree=right": lambda name, label: all(counting[name]),
        "agree=wrong": lambda name, label: not any(counting[name]),
        "agree=same": lambda name, label: len(set(counting[name])) == 1,
        "agree=split": lambda name, label: len(set(counting[name])) == 2,
        "q=0001 CLEAN": lambda name, label: "0001" in name and "clean" in name,
        'q="by step:m"&judge=step:m&said=flagged': lambda name, label: verdicts[name, "step:m"].faulty,
        'q="by step:m"&judge=coin': lambda name, label: False,
        "fault=faulty&outcome=right&q=2": lambda name, label: label.faulty and label.outcome_correct and "2" in name,
    }
    page = explorer(shown)
    for address, keeps in expected.items():
        kept = sorted(name for name, one in trajectories.items() if keeps(name, one.label))
        page.evaluate("address => { location.hash = address }", address)
        judged = 1 if "judge=" in address else 5
        wanted = f"{len(kept)} of 60 trajectories, {judged * len(kept)} verdicts"
        expect(page.locator(".explorer-count")).to_have_text(
            wanted if kept else "None of 60 trajectories passes these filters."
        )
        if kept:
            expect(rows(page).first.locator(".explorer-id")).to_have_text(kept[0])
    wrong = [v for v in run.verdicts() if not is_right[v.trajectory_id][v.judge_id] and v.judge_id == "step:m"]
    first = min(wrong, key=lambda verdict: (-verdict.confidence, verdict.trajectory_id))
    page.evaluate("location.hash = 'judge=step:m&sort=confident'")
    expect(rows(page).first.locator(".explorer-id")).to_have_text(first.trajectory_id)


def test_an_address_restores_what_was_filtered_and_opened_and_back_leads_back(
    explorer: Opener, known: tuple[layout.Shown, Run]
):
    page = explorer(known[0], address="#run=mine&t=INS-00002-skipped_precondition&j=step:m&fault=faulty&said=wrong")
    expect(heading(page)).to_have_text("INS-00002-skipped_precondition")
    chosen = page.locator(".explorer-verdict.chosen")
    expect(chosen.locator("h4")).to_have_text("step:m")
    expect(chosen).to_be_in_viewport()
    expect(chosen).to_be_focused()
    assert choice(page, "Fault").input_value() == "faulty"
    assert choice(page, "Verdict").input_value() == "wrong"
    assert page.title().startswith("INS-00002-skipped_precondition")
    rows(page).nth(3).click()
    name = rows(page).nth(3).locator(".explorer-id").inner_text()
    expect(heading(page)).to_have_text(name)
    page.go_back()
    expect(heading(page)).to_have_text("INS-00002-skipped_precondition")
    page.go_forward()
    expect(heading(page)).to_have_text(name)
    page.get_by_role("button", name="Reset").click()
    page.wait_for_url(f"**#run=mine&t={name}")
    choice(page, "Fault").select_option("clean")
    search(page).fill("0001")
    page.wait_for_url(f"**#run=mine&t={name}&q=0001&fault=clean")
    page.evaluate("location.hash = 't=INS-00004-clean&fault=clean'")
    page.get_by_role("button", name="Next").click()
    expect(heading(page)).to_have_text("INS-00008-clean")
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("button", name="Previous").click()
    expect(heading(page)).to_have_text("INS-00000-clean")
    expect(page.get_by_role("button", name="Previous")).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Copy link to the verdict of step:m").click()
    expect(page.locator(".explorer-toast")).to_have_text("Link copied")
    search(page).fill("")
    search(page).press("Control+V")
    assert search(page).input_value().endswith("/book/explorer.html#run=mine&t=INS-00000-clean&j=step:m")


def test_texts_are_loaded_only_for_what_is_opened_or_searched_and_show_where_they_were_found(
    explorer: Opener, visit: Visit
):
    def loaded() -> set[str]:
        return {path.name for path in visit.loaded if "explorer-data" in path.parts}

    page = explorer(LOCAL)
    assert loaded() == {"index.js", "runs.js"}
    rows(page).first.click()
    expect(heading(page)).to_be_visible()
    assert loaded() == {"index.js", "runs.js", "part-000.js"}
    search(page).fill("cancelled subscription")
    said = sum("cancelled" in one.final_answer for one in Run.open("local").trajectories().values())
    expect(page.locator(".explorer-count")).to_contain_text(f"{said} of 400 trajectories")
    expect(rows(page).first.locator(".explorer-about")).to_contain_text("reply: …cancelled the subscription")
    assert len(loaded()) > 10


def test_verdicts_stand_beside_the_steps_and_list_and_trajectory_are_accessible(explorer: Opener, visit: Visit):
    page = explorer(LOCAL, address="#t=INS-00010-hallucinated_argument")
    expect(heading(page)).to_be_visible()
    steps, verdicts = (page.get_by_role("region", name=name) for name in ("Steps and final answer", "Verdicts"))
    assert verdicts.bounding_box()["x"] > steps.bounding_box()["x"] + steps.bounding_box()["width"]
    assert verdicts.bounding_box()["y"] == steps.bounding_box()["y"]
    assert serious(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []
    page.evaluate("location.hash = 'q=no such text anywhere'")
    expect(page.get_by_role("listbox")).to_be_hidden()
    assert serious(page) == []
    visit.errors.clear()  # axe-core tries to fetch style sheets, which a browser refuses for files


def test_episodes_say_which_rules_their_steps_break(explorer: Opener):
    page = explorer(LOCAL, address="#run=local/episodes&t=INS-00008-agent")
    expect(page.locator(".explorer-count")).to_have_text("60 of 60 episodes")
    expect(page.locator(".explorer-steps > li.fault .explorer-here").first).to_have_text("the customer got no reply")
    expect(page.locator(".explorer-truth")).to_contain_text("The first broken rule is at step 9.")
    assert choice(page, "Judge").count() == 0
    page.evaluate("location.hash = 'run=local&t=INS-00008-clean'")
    expect(page.get_by_role("region", name="Verdicts")).to_be_visible()


def test_a_run_without_reasons_says_how_they_are_got(explorer: Opener, tmp_path: Path):
    label = Label(False, None, None, True)
    bare = Verdict(trajectory_id="t", judge_id="step:m", faulty=False, confidence=0.8)
    page = explorer(make_run(tmp_path / "paper", [trajectory("t", label)], [bare]), address="#t=t")
    expect(page.locator(".explorer-wordless")).to_contain_text("python -m lib fetch paper")
    assert page.get_by_text("No rationale").count() == 0


def test_the_keyboard_alone_walks_opens_and_leaves_the_list(explorer: Opener, known: tuple[layout.Shown, Run]):
    page = explorer(known[0])
    page.get_by_role("button", name="Reset").focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    listbox = page.get_by_role("listbox")
    expect(listbox).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    active = page.locator(f"#{listbox.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-posinset") == "2"
    assert active.evaluate("row => getComputedStyle(row).outlineStyle") == "solid"
    name = active.locator(".explorer-id").inner_text()
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text(name)
    expect(heading(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(listbox).to_be_focused()
    page.keyboard.press("End")
    last = page.locator(f"#{listbox.get_attribute('aria-activedescendant')}")
    assert last.get_attribute("aria-posinset") == last.get_attribute("aria-setsize") == "60"
    expect(last).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(listbox).not_to_be_focused()


def test_truth_steps_votes_and_reading_of_a_reply_are_shown(explorer: Opener, tmp_path: Path):
    label = Label(True, 1, "wrong_tool", True)
    vote = Judgement(faulty=True, failure_step=1, failure_type="wrong_tool", confidence=0.9, rationale="my vote")
    told = Verdict(
        trajectory_id="t",
        judge_id="selfcons3:m",
        faulty=True,
        failure_step=0,
        confidence=0.8,
        coercions=["type dropped: no such type"],
        raw_step="zero",
        members=[vote, Judgement(faulty=False, confidence=0.5, status="truncated")],
    )
    page = explorer(make_run(tmp_path / "told", [trajectory("t", label)], [told]), address="#t=t")
    content = page.locator(".explorer-content")
    expect(content.locator(".explorer-truth")).to_contain_text("wrong_tool silent restocking")
    expect(content.locator(".explorer-steps > li.fault")).to_contain_text("The fault is here")
    expect(content.locator(".explorer-steps > li").first).to_contain_text("Named by selfcons3:m")
    card = content.locator(".explorer-verdict")
    expect(card).to_contain_text("Faulty at step 0, confidence 0.80. ✓ detected ✗ step is 1 ✗ type is wrong_tool")
    card.get_by_text("Votes: 1 of 2 members flagged it").click()
    expect(card.get_by_text("my vote")).to_be_visible()
    expect(card.locator("li").nth(1)).to_contain_text("Truncated reply, counts as clean, confidence 0.50. ✗ missed")
    card.get_by_text("How the reply was read").first.click()
    expect(card.get_by_text("type dropped: no such type")).to_be_visible()
    expect(card.get_by_text('"zero"')).to_be_visible()


@pytest.mark.parametrize("visit", [(390, "dark")], indirect=True)
def test_nothing_that_was_written_by_a_model_becomes_markup(explorer: Opener, visit: Visit, tmp_path: Path):
    shown = hostile_run(tmp_path / "hostile")
    page = explorer(shown)
    run = Run.open(shown.run)
    for name in sorted(run.trajectories()):
        page.evaluate("id => { location.hash = new URLSearchParams({ t: id }) }", name)
        page.wait_for_function(
            "id => document.querySelector('.explorer-content h2')?.textContent === id", arg=visible(name)
        )
        for summary in page.locator(".explorer-detail summary").all():
            summary.click()
        assert page.evaluate("window.owned") is None
        assert page.locator("#explorer :is(img, script), .explorer-content b b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.locator(".explorer-rationale .explorer-more").first.click()
    assert page.locator(".explorer-rationale").first.evaluate("quote => quote.textContent.length") == 220_000


@pytest.mark.parametrize("visit", [(390, "light")], indirect=True)
def test_a_phone_shows_the_list_or_the_trajectory(explorer: Opener, visit: Visit):
    page = explorer(LOCAL)
    rows(page).nth(1).click()
    expect(heading(page)).to_be_focused()
    assert page.get_by_role("listbox").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Back to the list").click()
    expect(page.get_by_role("listbox")).to_be_visible()
    assert page.locator(".explorer-detail").is_hidden()
    page.get_by_role("button", name="More filters").click()
    choice(page, "Stratum").select_option("expired")
    expect(page.get_by_role("button", name="More filters (1 set)")).to_be_visible()


def test_paper_has_the_trajectory_without_the_controls_or_else_the_whole_list(explorer: Opener, tmp_path: Path):
    page = explorer(LOCAL, address="#t=INS-00010-hallucinated_argument")
    expect(heading(page)).to_be_visible()
    page.emulate_media(media="print")
    assert page.locator(".explorer-verdict").first.is_visible()
    for control in (".explorer-filters", ".explorer-bar", ".explorer-side", ".explorer-copy"):
        assert page.locator(control).first.is_hidden()
    page.evaluate("location.hash = 'fault=clean'")
    verdicts = sum(verdict.trajectory_id.endswith("-clean") for verdict in Run(LOCAL.folder).verdicts())
    expect(page.locator(".explorer-count")).to_have_text(f"100 of 400 trajectories, {verdicts:,} verdicts")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows(page).count() == 100
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rows(page).count() < 60


def test_what_is_not_there_is_said(explorer: Opener, visit: Visit, tmp_path: Path):
    page = explorer(LOCAL)
    page.evaluate("location.hash = 'run=nowhere'")
    expect(page.locator(".explorer-notice")).to_contain_text("does not show a run nowhere")
    page.evaluate("location.hash = 'run=local&t=nothing'")
    expect(page.locator(".explorer-content")).to_have_text("The run local has no trajectory nothing.")
    (tmp_path / "explorer-data" / "local" / "part-000.js").unlink()
    page.evaluate("location.hash = 'run=local&t=INS-00000-clean'")
    expect(page.locator(".explorer-notice")).to_contain_text("part-000.js is missing")
    visit.errors.clear()  # the browser's own word on the missing file


def test_ten_thousand_verdicts_open_and_filter_quickly(explorer: Opener, tmp_path: Path):
    page = explorer(generated_run(tmp_path / "many", 2_000))
    assert count(page) == "2,000 of 2,000 trajectories, 10,000 verdicts"
    assert rows(page).count() < 60
    assert page.evaluate("performance.getEntriesByName('explorer-ready')[0].startTime") < 15_000
    milliseconds = page.evaluate(
        """async () => {
          const start = performance.now();
          location.hash = 'agree=split';
          while (document.querySelector('.explorer-count').textContent.startsWith('2,000'))
            await new Promise(requestAnimationFrame);
          return performance.now() - start;
        }"""
    )
    assert milliseconds < 3_000


def test_a_character_that_acts_unseen_is_written_out(visit: Visit):
    page = visit.page
    page.set_content("<p></p>")
    page.add_script_tag(path=ROOT / "book" / "_static" / "explorer-dom.js")
    unseen = "a\u202eb\x1bc\u2066 d\t\U0001f600"
    for made in ("explorer.el('p', {}, text)", "explorer.long('p', 'x', text)"):
        assert page.evaluate(f"text => {made}.textContent", unseen) == r"a\u202eb\u001bc\u2066 d" + "\t\U0001f600"
