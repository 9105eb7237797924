"""Every figure that the paper prints comes out again, by its own method."""

from __future__ import annotations

import pandas as pd
import pytest

from lib import REFERENCE, RUNS, bench
from lib.analysis.bench import Bench
from lib.analysis.published import is_papers_run, published_comparison
from lib.errors import UserError


@pytest.fixture(scope="module")
def paper() -> Bench:
    return bench.open(RUNS / "paper")


@pytest.fixture(scope="module")
def figures() -> pd.DataFrame:
    return pd.read_csv(REFERENCE / "trajectory_judge_figures.csv", dtype=str)


def test_every_published_figure_of_the_judges_is_reproduced(paper: Bench, figures: pd.DataFrame) -> None:
    table = published_comparison(paper, figures)
    assert table[~table["reproduced"]].empty
    of_judges = figures[~figures["judge"].str.startswith("episodes:")]
    assert len(figures) == 62
    assert table.groupby(["judge", "metric", "where"]).ngroups == len(of_judges)


def test_only_a_run_with_all_the_papers_judges_is_the_papers(paper: Bench, figures: pd.DataFrame) -> None:
    assert is_papers_run(paper, figures)
    assert not is_papers_run(bench.open(RUNS / "paper", judges=["rules"], reps=10), figures)


def test_a_value_that_does_not_round_to_the_printed_one_is_not_reproduced(paper: Bench, figures: pd.DataFrame) -> None:
    off = figures[figures["metric"].eq("silent_recall")].assign(value="0.999")
    table = published_comparison(paper, off)
    assert not table[table["part"] == "value"]["reproduced"].any()


def test_figures_are_read_as_text(paper: Bench) -> None:
    with pytest.raises(UserError, match="dtype=str"):
        published_comparison(paper, pd.read_csv(REFERENCE / "trajectory_judge_figures.csv"))
