"""J within kinds of case, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from lib.analysis.within import within_strata


def rows_of(judge: str, **strata: tuple[str, str]) -> pd.DataFrame:
    """Per stratum the verdicts on faulty and on clean trajectories: 1 flagged, 0 passed."""
    found = [
        (judge, name, faulty, flag == "1")
        for name, both in strata.items()
        for faulty, flags in zip((True, False), both, strict=True)
        for flag in flags
    ]
    return pd.DataFrame(found, columns=["judge_id", "stratum", "faulty", "flagged"])


def test_judge_of_the_case_and_not_of_the_fault_has_nothing_left():
    rows = rows_of("step:m", happy=("1111", "1"), expired=("0", "0000"))
    flagged = rows.groupby("faulty")["flagged"].mean()
    assert flagged[True] - flagged[False] == pytest.approx(4 / 5 - 1 / 5)  # its J
    assert within_strata(rows).iloc[0].tolist() == ["step:m", 2, 0, 0, 0]


def test_difference_is_weighted_by_both_sizes():
    (row,) = within_strata(rows_of("step:m", happy=("11", "00"), expired=("1000", "0000"))).to_dict("records")
    assert row["value"] == pytest.approx((1 * 1 + 2 * 0.25) / (1 + 2))  # weights 2·2/4 and 4·4/8


def test_interval_of_one_stratum_by_hand():
    # 6 of 10 against 2 of 10: P = (100·2 − 100·6) / 400 = −1, Q = (6·8 + 2·4) / 40 = 1.4, weight 5
    (row,) = within_strata(rows_of("step:m", happy=("1" * 6 + "0" * 4, "1" * 2 + "0" * 8))).to_dict("records")
    assert row["value"] == pytest.approx(0.4)
    assert row["high"] - row["value"] == pytest.approx(1.959964 * (0.4 * -1 + 1.4) ** 0.5 / 5)


def test_strata_without_a_clean_or_a_faulty_run_tell_nothing():
    table = within_strata(rows_of("step:m", happy=("11", ""), expired=("", "00")))
    assert table["strata"].tolist() == [0]
    assert table["value"].isna().all()


def test_fixed_rules_get_no_interval_and_unknown_strata_are_one():
    rows = rows_of("rules", happy=("11", "00")).assign(stratum=None)
    (row,) = within_strata(rows).to_dict("records")
    assert (row["strata"], row["value"]) == (1, 1)
    assert pd.isna(row["low"])


def test_published_outcome_judge_sees_something_within_the_case(published_rows):
    table = within_strata(published_rows).set_index("judge_id")
    assert table.loc["outcome:qwen2.5:14b", "low"] > 0
    assert table.loc["step:llama3.1:8b", "low"] <= 0
