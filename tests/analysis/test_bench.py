"""The tidy frame and what is asked of it, on the paper's verdicts; right values were recomputed apart from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lib import RUNS, bench
from lib.analysis.bench import Bench
from lib.errors import UserError

OUTCOME, STEP = "outcome:qwen2.5:14b", "step:qwen2.5:14b"


@pytest.fixture(scope="module")
def paper() -> Bench:
    return bench.open(RUNS / "paper", reps=500)


def row(frame: pd.DataFrame, **keys: object) -> pd.Series:
    for name, value in keys.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_a_row_a_verdict_beside_the_truth(paper: Bench) -> None:
    assert len(paper.verdicts) == 2000
    assert paper.verdicts.groupby("survival").size().to_dict() == {"clean": 500, "loud": 625, "silent": 875}
    assert not paper.verdicts.columns.duplicated().any()


def test_only_two_fault_types_change_what_the_outcome_view_shows_and_all_change_the_steps(paper: Bench) -> None:
    v = paper.verdicts
    changed = v[v["view"].eq("outcome") & v["faulty"]].groupby("fault")["changed"].mean()
    assert changed[changed == 1].index.tolist() == ["premature_stop", "unsupported_claim"]
    assert (changed[changed < 1] == 0).all()
    assert v[v["view"].eq("step") & v["faulty"]]["changed"].all()
    assert v[~v["faulty"]]["changed"].isna().all()


def test_intervals_resample_instances_and_keep_the_cells(paper: Bench) -> None:
    rates = paper.rates(paper.verdicts, "flagged", by=["judge", "survival"])
    silent = row(rates, judge=OUTCOME, survival="silent")
    assert (silent["value"], silent["n"]) == (pytest.approx(79 / 175), 175)
    assert (silent["low"], silent["high"]) == (pytest.approx(0.34, abs=0.01), pytest.approx(0.57, abs=0.01))
    gap = row(paper.score(["loud_minus_silent"]), judge=OUTCOME)
    assert (gap["low"], gap["high"]) == (pytest.approx(0.26, abs=0.01), pytest.approx(0.51, abs=0.01))
    youden = row(paper.score(["youden_j"]), judge=OUTCOME)
    assert (youden["low"], youden["high"]) == (pytest.approx(0.22, abs=0.015), pytest.approx(0.35, abs=0.015))
    step = row(paper.score(["silent_recall"]), judge=STEP)
    assert (step["low"], step["high"]) == (pytest.approx(0.74, abs=0.015), pytest.approx(0.80, abs=0.015))
    between = paper.paired(STEP, OUTCOME, ["silent_recall"]).iloc[0]
    assert (between["low"], between["high"]) == (pytest.approx(0.20, abs=0.015), pytest.approx(0.43, abs=0.015))
    assert between["reading"] == "higher"


def test_a_pair_is_the_two_views_of_one_model_and_has_its_rates_by_name(paper: Bench) -> None:
    o, s = paper.pair("outcome", "step")
    assert (o.id, s.id, o.model) == (OUTCOME, STEP, "qwen2.5:14b")
    assert o.silent == o.silent_recall
    assert o.clean.value == pytest.approx(0.33)
    assert paper.pairs("outcome", "step") == [(OUTCOME, STEP)]


def test_fixed_rules_have_no_interval_and_a_difference_to_them_has(paper: Bench) -> None:
    rules = row(paper.score(["recall"]), judge="rules")
    assert np.isnan(rules["low"])
    assert not paper.paired("rules", OUTCOME, ["recall"])["low"].isna().any()


def test_a_mistyped_name_says_which_there_are(paper: Bench) -> None:
    with pytest.raises(UserError, match="this run has rules, outcome"):
        bench.open(RUNS / "paper", judges=["outcom"])
    with pytest.raises(UserError, match="no metric recal; there are precision, recall"):
        paper.score(["recal"])
    with pytest.raises(UserError, match="no column flaged; there are judge"):
        paper.rates(paper.verdicts, "flaged")
    with pytest.raises(UserError, match="2 judges are of kind step; name one of"):
        paper.judge("step")
    with pytest.raises(UserError, match="no metric silnt"):
        _ = paper.judge("outcome").silnt


def test_readings_of_replies_that_were_not_read_are_withheld() -> None:
    local = bench.open(RUNS / "local", reps=200)
    unread = "outcome:qwen2.5-coder:0.5b"
    assert local.unread[unread] == pytest.approx(189 / 200)
    assert set(local.paired(unread, "outcome:qwen2.5-coder:1.5b")["reading"]) == {"withheld: most replies unread"}


def test_scores_are_the_same_bytes_for_the_same_seed_and_do_not_depend_on_which_judges_are_asked_for() -> None:
    whole = bench.open(RUNS / "paper", reps=300).score()
    alone = bench.open(RUNS / "paper", judges=[STEP], reps=300).score()
    pd.testing.assert_frame_equal(whole[whole["judge"] == STEP].reset_index(drop=True), alone, rtol=1e-12)


def test_a_pair_that_no_model_has_is_two_judges_without_values(paper: Bench) -> None:
    a, b = paper.pair("direct", "step")
    assert (a.id, b.id, a.model) == ("", "", None)
    assert np.isnan(a.silent.value)
    assert paper.paired(a.id, b.id, ["recall"])["reading"].tolist() == ["too few"]
