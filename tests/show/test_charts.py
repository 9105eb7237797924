"""Charts: one look per judge, readable in both colour schemes, described in words, and safe to put in a page."""

from __future__ import annotations

import json
import re

import altair as alt
import pandas as pd
import pytest
import vl_convert as vlc

from lib.book.sphinx_vega import figure
from lib.show import charts
from lib.show.style import (
    MIME,
    NEUTRAL,
    PALETTE,
    VL_VERSION,
    book_renderer,
    judge_scales,
    labels,
    spec_digest,
)

JUDGES = ["rules", "coin", "outcome:a", "step:a", "selfcons3:a", "step:b"]
EVIL = "</script><script>alert(1)</script>"


def survival(judges: list[str]) -> alt.LayerChart:
    frame = pd.DataFrame(
        [
            {"judge_id": j, "part": p, "value": 0.5, "low": 0.4, "high": 0.6, "n": 9}
            for j in judges
            for p in charts.PARTS
        ]
    )
    return charts.recall_by_survival(frame, JUDGES, title="t", description="Words.")


def every_chart() -> dict[str, charts.AnyChart]:
    said = {"title": "t", "description": "Words."}
    rates = {"value": 0.5, "low": None, "high": None, "n": 3}
    types = pd.DataFrame([{"judge_id": j, "row": r, **rates} for j in JUDGES for r in (charts.ANCHOR, "wrong_tool")])
    bins = pd.DataFrame([{"judge_id": j, "confidence": 0.9, "accuracy": 0.5, "n": 3} for j in JUDGES])
    cells = pd.DataFrame([{"judge_id": j, "true": "a", "predicted": "a", "count": 2, "share": 1.0} for j in JUDGES])
    costs = pd.DataFrame(
        [{"run": "r", "judge_id": j, "false_alarm_rate": 0.1, "silent_recall": 0.5, "seconds": 2.0} for j in JUDGES]
    )
    counts = pd.DataFrame([{"judge_id": j, "offset": o, "count": 1} for j in JUDGES for o in (-1, 0)])
    axes = {"x": "offset", "y": "count", "x_title": "steps", "y_title": "verdicts"}
    return {
        "recall_by_survival": survival(JUDGES),
        "recall_by_type": charts.recall_by_type(types, JUDGES, [charts.ANCHOR, "wrong_tool"], **said),
        "reliability": charts.reliability(bins, JUDGES, **said),
        "confusion": charts.confusion(cells, JUDGES, ["a"], ["a", "missed"], **said),
        "silent_recall": charts.silent_recall_against_false_alarms(costs, JUDGES, ceiling=0.286, **said),
        "bars": charts.bars(counts[:2], **axes, **said),
        "bars_per_judge": charts.bars(counts, **axes, order=JUDGES, **said),
    }


@pytest.mark.parametrize("name", list(every_chart()))
def test_every_chart_is_drawn_and_carries_its_description(name):
    bundle, metadata = book_renderer(every_chart()[name].to_dict())
    assert bundle["text/plain"] == "Words."
    assert metadata["image/png"]["alt"] == "Words."
    assert metadata["image/png"]["spec_sha256"] == spec_digest(bundle[MIME])


def test_a_chart_without_a_description_is_refused():
    with pytest.raises(ValueError, match="no description"):
        book_renderer(alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x:Q").to_dict())


def test_a_judge_keeps_its_colour_and_shape_whichever_judges_are_shown():
    few = survival(["step:a"]).to_dict()
    many = survival(JUDGES).to_dict()
    assert few["layer"][2]["encoding"]["color"]["scale"] == many["layer"][2]["encoding"]["color"]["scale"]
    scales = judge_scales(JUDGES)
    looks = dict(zip(JUDGES, zip(scales.colour.range, scales.shape.range, strict=True), strict=True))
    assert looks["step:a"] == (PALETTE[1], "square")
    assert looks["selfcons3:a"] == (PALETTE[2], "triangle-up")
    assert looks["coin"] == (NEUTRAL, "cross")


@pytest.mark.parametrize("colour", [*PALETTE, NEUTRAL])
def test_colours_stand_out_from_the_page_in_both_schemes(colour):
    for page in ("#ffffff", "#121212"):
        assert contrast(colour, page) >= 3


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_markup_in_data_title_and_caption_stays_text_in_the_page():
    frame = pd.DataFrame({"judge_id": [EVIL], "part": [charts.PARTS[0]], "value": 0.5, "low": 0.4, "high": 0.6, "n": 9})
    chart = charts.captioned(charts.recall_by_survival(frame, [EVIL], title=EVIL, description=EVIL), EVIL)
    html = figure(chart.to_dict())
    assert html.count("<script") == 1  # the chart's own JSON
    assert "</script><script>" not in html
    payload = html.split('<script type="application/json">')[1].split("</script>")[0]
    assert json.loads(payload)["description"] == EVIL


def test_the_page_has_the_picture_before_any_script_runs():
    html = figure(survival(JUDGES).to_dict())
    assert 'role="img" tabindex="0" aria-label="Words."><svg' in html
    assert "silent faults" in html.split("<script")[0]


def test_a_judge_without_an_interval_gets_no_whisker():
    frame = pd.DataFrame(
        {
            "judge_id": ["rules"],
            "part": [charts.PARTS[0]],
            "value": 0.5,
            "low": float("nan"),
            "high": float("nan"),
            "n": 9,
        }
    )
    spec = charts.recall_by_survival(frame, ["rules"], title="t", description="d").to_dict()
    assert '"low": null' in json.dumps(spec)
    assert any("isValid(datum.low)" in str(layer.get("transform")) for layer in spec["layer"])


LONG = [f"step:hf.co/somebody/Some-Model-14B-Instruct-GGUF:{kind}" for kind in ("Q4_K_M", "Q8_0")]


def drawn_labels(judges: list[str]) -> list[str]:
    frame = pd.DataFrame([{"judge_id": j, "part": charts.PARTS[0], "value": 0.5, "low": 0, "high": 1} for j in judges])
    svg = vlc.vegalite_to_svg(
        charts.recall_by_survival(frame.assign(n=9), judges, title="t", description="d").to_dict(),
        vl_version=VL_VERSION,
    )
    return [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if ":" in text]


def test_long_names_are_cut_in_the_middle_so_that_their_different_ends_show():
    assert drawn_labels([*LONG, "step:a"]) == [
        "step:hf.co/som…ct-GGUF:Q4_K_M",
        "step:hf.co/som…ruct-GGUF:Q8_0",
        "step:a",
    ]


def test_names_that_differ_only_in_the_middle_are_numbered():
    assert drawn_labels([f"step:{'x' * 20}{i}{'y' * 20}" for i in (1, 2)]) == [
        "step:xxxxxxxxx…yyyyyyyyyyyyyy (1)",
        "step:xxxxxxxxx…yyyyyyyyyyyyyy (2)",
    ]


def test_a_character_that_turns_the_text_around_is_written_out_in_a_label():
    assert drawn_labels(["step:\u202ea"]) == [r"step:\u202ea"]


def test_short_names_leave_the_chart_as_it_is():
    assert labels(["outcome:qwen2.5-coder:1.5b", "rules", "x" * 30]) == {"labelLimit": 170}
