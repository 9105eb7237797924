"""Charts: one colour a judge on every page, alternative text of their own data, and nothing of an empty frame."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest
import vl_convert as vlc

from lib import show
from lib.book.sphinx_vega import figure
from lib.records import About
from lib.show.style import MIME, NEUTRAL, PALETTE, VL_VERSION, book_renderer, judge_scales, judges, labels, spec_digest

EVIL = "</script><script>alert(1)</script>"
RATES = pd.DataFrame(
    [
        {"judge": judge, "fault": fault, "value": 0.5, "low": 0.4, "high": 0.625, "n": 9}
        for judge in ("gate-v1", "gate-v2", EVIL)
        for fault in ("clean", "wrong_tool")
    ]
)


@pytest.fixture(autouse=True)
def no_run() -> None:
    judges({})


def charts(frame: pd.DataFrame) -> dict[str, alt.Chart]:
    return {
        "dots": show.dots(frame, shape="fault:N"),
        "dots by fault": show.dots(frame, y="fault:N", color="judge:N"),
        "dots in panels": show.dots(frame, y="fault:N", facet="judge:N"),
        "bars": show.bars(frame, "n:Q", "judge:N", color="fault:N", stack="normalize"),
        "columns": show.bars(frame, "fault:N", "n:Q", facet="judge:N"),
        "lines": show.lines(frame, "low:Q", "high:Q", diagonal=True, size="n:Q"),
        "points": show.points(frame, "low:Q", "high:Q", diagonal=True),
        "heat": show.heat(frame, "fault:N", "judge:N", color="value:Q", text="n:Q"),
    }


@pytest.mark.parametrize("name", list(charts(RATES)))
def test_every_chart_is_drawn_and_tells_its_data_in_words(name: str) -> None:
    bundle, metadata = book_renderer(charts(RATES)[name].properties(title="What is seen").to_dict())
    said = bundle["text/plain"]
    assert said.startswith("What is seen. ")
    assert "gate-v2" in said
    assert metadata["image/png"]["alt"] == said == bundle[MIME]["description"]
    assert metadata["image/png"]["spec_sha256"] == spec_digest(bundle[MIME])


@pytest.mark.parametrize("name", list(charts(RATES)))
def test_a_chart_of_an_empty_frame_shows_nothing(name: str) -> None:
    assert book_renderer(charts(RATES.head(0))[name].to_dict()) == ({"text/plain": ""}, {})


def test_alternative_text_has_value_and_interval() -> None:
    bundle, _ = book_renderer(show.dots(RATES.head(1)).properties(title="T").to_dict())
    assert bundle["text/plain"] == "T. gate-v1: value 0.5 [0.4, 0.625]."


def test_a_readers_own_chart_is_drawn_and_told_too() -> None:
    own = alt.Chart(RATES.head(1)).mark_bar().encode(x="n:Q", y="judge:N")
    assert book_renderer(own.to_dict())[0]["text/plain"] == "Chart. gate-v1: n 9."


def test_a_judge_keeps_its_colour_and_mark_whichever_judges_are_shown() -> None:
    told = {"coin": About(kind="baseline", baseline=True), "rules": About(kind="rules", sees="step", fixed=True)}
    told |= {"gate-v1": About(kind="own", sees="outcome"), "gate-v2": About(kind="own", sees="step", members=3)}
    judges(told)
    scales = judge_scales(["gate-v2"])
    assert scales.judges == list(told)
    assert scales.colour.range == [NEUTRAL, NEUTRAL, PALETTE[0], PALETTE[1]]
    assert scales.shape.range == ["cross", "diamond", "circle", "triangle-up"]


def test_without_a_run_judges_have_colours_of_their_own_all_the_same() -> None:
    assert len(set(judge_scales(["gate-v1", "gate-v2"]).colour.range)) == 2


def test_shares_are_shown_as_per_cent_and_differences_around_zero() -> None:
    share = show.dots(RATES).to_dict()
    assert share["layer"][-1]["encoding"]["x"]["axis"] == {"format": "%"}
    below = show.dots(RATES.assign(value=-0.5, low=-0.9, high=0.1)).to_dict()
    assert len(below["layer"]) == len(share["layer"]) + 1


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    names = ["a-very-long-name-of-a-model-with-quantisation-q4", "a-very-long-name-of-a-model-with-quantisation-q8"]
    assert len(set(labels(names)["labelExpr"].split("[indexof")[0].split(", "))) == 2


def test_a_name_that_is_markup_stays_text_in_a_page() -> None:
    bundle, _ = book_renderer(show.dots(RATES).to_dict())
    html = figure(bundle[MIME])
    assert "<script>alert" not in html
    assert vlc.vegalite_to_svg(bundle[MIME], vl_version=VL_VERSION)
