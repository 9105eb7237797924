"""Tables: cells are text, the numbers behind them can be taken along, and the same input gives the same bytes."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.show.tables import DASH, Table, interval_cell


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (0.4514, 0.381, 0.519, "0.451 [0.38, 0.52]"),
        (1.0, float("nan"), float("nan"), "1.000"),
        (-0.0061, -0.0341, 0.0199, "-0.006 [-0.03, 0.02]"),
        (float("nan"), 0.1, 0.2, DASH),
        (None, None, None, DASH),
    ],
)
def test_a_cell_holds_the_value_and_its_interval_when_there_is_one(value, low, high, shown):
    assert interval_cell(value, low, high) == shown


def test_markup_in_cells_headers_index_and_caption_stays_text():
    evil = "<script>alert(1)</script>"
    html = Table(pd.DataFrame({evil: [evil]}, index=pd.Index([evil], name="<b>")), caption=evil).to_html()
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 4


def test_a_quote_cannot_leave_the_csv_attribute():
    html = Table(pd.DataFrame({"judge": ['" onmouseover="alert(1)']}), "c").to_html()
    assert 'data-csv="judge\n&quot;&quot;&quot; onmouseover=&quot;&quot;alert(1)&quot;\n"' in html


def test_a_named_index_becomes_row_headers_and_a_plain_one_is_left_out():
    frame = pd.DataFrame({"f1": [0.5]}, index=pd.Index(["rules"], name="judge"))
    assert '<th scope="row">rules</th><td class="num">0.500</td>' in Table(frame, "c").to_html()
    assert "<th scope" not in Table(frame.reset_index(), "c").to_html().split("<tbody>")[1]


def test_the_csv_holds_the_numbers_behind_the_cells():
    shown = pd.DataFrame({"recall": ["0.451 [0.38, 0.52]"]})
    behind = pd.DataFrame({"value": [0.451428571], "low": [0.38], "high": [0.52]})
    assert Table(shown, "c", data=behind).to_csv() == "value,low,high\n0.451429,0.38,0.52\n"


def test_missing_values_counts_and_truths_are_shown_plainly():
    frame = pd.DataFrame({"a": [1, 2], "b": [float("nan"), 0.25], "c": [True, None]}, dtype=object)
    assert Table(frame, "c").cells() == [["1", DASH, "True"], ["2", "0.250", DASH]]


def test_the_text_form_is_aligned_under_its_caption():
    assert Table(pd.DataFrame({"judge": ["a", "bbb"], "n": [1, 22]}), "Two.").to_text().splitlines() == [
        "Two.",
        "judge  n",
        "a      1",
        "bbb    22",
    ]


def test_the_same_table_gives_the_same_bytes():
    def make() -> str:
        return Table(pd.DataFrame({"x": [0.1]}), "c").to_html()

    assert make() == make()


def test_a_character_that_turns_the_text_around_is_written_out_in_every_part_of_a_table():
    table = Table(pd.DataFrame({"a\u202e": ["b\u202e"]}), "c\u202e")
    for form in (table.to_html(), table.to_text()):
        assert "\u202e" not in form
        assert all(rf"{letter}\u202e" in form for letter in "abc")


@pytest.mark.parametrize(
    ("digits", "shown"), [(3, "10.361 [10.04, 10.76]"), (2, "10.36 [10.04, 10.76]"), (1, "10.4 [10.0, 10.8]")]
)
def test_bounds_are_never_coarser_than_a_decimal_after_the_second(digits, shown):
    assert interval_cell(10.361, 10.042, 10.758, digits=digits) == shown


def test_a_number_breaks_before_its_interval_only():
    assert (
        '<td class="num">0.451 [0.38,\u00a00.52]</td>'
        in Table(pd.DataFrame({"x": ["0.451 [0.38, 0.52]"]}), "c").to_html()
    )
