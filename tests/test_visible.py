"""What a run's files hold is read, never run: no cell of a CSV is a formula."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.show import table
from lib.visible import to_csv

FORMULAS = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-cmd", "\t=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_judge_id_that_looks_like_a_formula_is_none_in_csv(text: str) -> None:
    frame = pd.DataFrame({"judge_id": [text], text: [-0.5]})
    rows = pd.read_csv(pd.io.common.StringIO(to_csv(frame)))
    assert rows.columns.tolist() == ["judge_id", f"'{text}"]
    assert rows.iloc[0].tolist() == [f"'{text}", -0.5]
    shown = table(frame.set_index("judge_id"), "A caption.").to_csv()
    assert f"'{text}" in shown.replace('"', "")


def test_numbers_and_plain_text_stay_as_they_are() -> None:
    frame = pd.DataFrame({"judge_id": ["step:m", "-0.5 [-0.6, 0.1]", "-.5"], "value": [-1.5, 2.0, float("nan")]})
    assert to_csv(frame) == 'judge_id,value\nstep:m,-1.5\n"-0.5 [-0.6, 0.1]",2.0\n-.5,\n'
