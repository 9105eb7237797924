"""Agreement of judges, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lib.analysis.agreement import judge_agreement


def test_agreement_by_hand(rows):
    lazy = rows.sort_values("trajectory").assign(judge="lazy")
    lazy["flagged"] = lazy["trajectory"].isin(["w0", "w1", "u0"])
    (row,) = judge_agreement(pd.concat([rows, lazy])).to_dict("records")
    assert [row[name] for name in ("n", "both_flag", "only_a", "only_b", "neither")] == [8, 2, 3, 1, 2]
    by_chance = 5 / 8 * 3 / 8 + 3 / 8 * 5 / 8
    assert row["kappa"] == pytest.approx((4 / 8 - by_chance) / (1 - by_chance))


def test_kappa_of_two_judges_that_always_say_one_thing_is_undefined(rows):
    (row,) = judge_agreement(pd.concat([rows.assign(flagged=True, judge=judge) for judge in "ab"])).to_dict("records")
    assert row["agreement"] == 1
    assert np.isnan(row["kappa"])


def test_judges_agree_over_what_both_judged(rows):
    assert judge_agreement(pd.concat([rows, rows.head(3).assign(judge="part")]))["n"].tolist() == [3]
