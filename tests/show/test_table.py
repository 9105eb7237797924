"""Tables: what is shown is what is downloaded, folded under a figure, and text in every cell."""

from __future__ import annotations

import io
import math

import pandas as pd

from lib.show import table, wide

FRAME = pd.DataFrame({"judge": ["<b>a</b>", "b"], "value": [0.45142, math.nan], "p": [0.0001, 0.5], "n": [1200, 3]})


def test_cells_are_text_with_few_digits() -> None:
    assert table(FRAME, "c", digits={"value": 2}).cells() == [
        ["<b>a</b>", "0.45", "< 0.001", "1,200"],
        ["b", "–", "0.500", "3"],
    ]


def test_the_csv_is_the_table() -> None:
    read = pd.read_csv(io.StringIO(table(FRAME, "c").to_csv()))
    assert list(read.columns) == list(FRAME.columns)
    assert read["value"][0] == 0.45142
    indexed = pd.read_csv(io.StringIO(table(FRAME.set_index("judge"), "c").to_csv()))
    assert list(indexed.columns) == list(FRAME.columns)


def test_everything_is_escaped_and_numbers_stand_to_the_right() -> None:
    html = table(FRAME, "<i>c</i>").to_html()
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count('class="num"') == 3 * 3
    assert table(FRAME, "c", fold=True).to_html().startswith('<details class="numbers"><summary>Numbers</summary>')


def test_an_empty_table_shows_nothing() -> None:
    assert table(FRAME.head(0), "c")._repr_mimebundle_() == {"text/plain": ""}


def test_rates_stand_in_rows_and_columns_in_their_order() -> None:
    rates = pd.DataFrame(
        {"fault": ["z", "z", "a", "a"], "judge": ["j", "i"] * 2, "value": [0.5, 0, 1, 1], "low": [0.4, None, 0.9, 0.9]}
    ).assign(high=1.0)
    told = wide(rates, "fault", "judge")
    assert (list(told.index), list(told.columns)) == (["z", "a"], ["j", "i"])
    assert told.loc["z"].tolist() == ["0.50\u00a0[0.40,\u00a01.00]", "0.00"]
