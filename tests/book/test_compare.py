"""Our figures beside the paper's."""

from __future__ import annotations

import pandas as pd

from lib.analysis.scores import score
from lib.show.tables import Table
from lib.book.compare import beside_published, with_bounds
from lib.show.text import Prose
from lib.run.folder import Run


def test_the_shipped_rules_stand_beside_the_published_ones_to_the_printed_digits():
    frames = Run.open("local").frames(text=False)
    table = beside_published(score(*frames, reps=10), ["type_macro_f1", "ece"])
    assert isinstance(table, Table)
    rows = [row for row in table.cells() if row[0] == "rules"]
    assert rows == [
        ["rules", "type macro-F1", "0.667", "0.667", "Section 6"],
        ["rules", "ECE", "0.075", "0.075", "Table 3"],
    ]


def test_only_a_run_with_every_published_judge_is_graded_and_has_seconds():
    trajectories, verdicts = Run.open("local").frames(text=False)
    rules = verdicts[verdicts["judge_id"] == "rules"]
    metrics = ["ece", "seconds_per_trajectory"]
    other = beside_published(score(trajectories, rules, reps=10), metrics)
    assert isinstance(other, Table)
    assert "reproduced" not in other.data.columns
    assert other.data["metric"].tolist() == ["ece"]
    judges = ["rules", "outcome:qwen2.5:14b", "step:qwen2.5:14b", "step:llama3.1:8b", "selfcons3:qwen2.5:14b"]
    everyone = pd.concat([rules.assign(judge_id=judge) for judge in judges])
    papers = beside_published(score(trajectories, everyone, reps=10), metrics)
    assert isinstance(papers, Table)
    assert set(papers.data["metric"]) == set(metrics)
    assert ["rules", "ECE", "0.075", "0.075", "yes", "Table 3"] in papers.cells()


def test_what_this_run_cannot_tell_is_a_dash():
    trajectories, verdicts = Run.open("local").frames(text=False)
    clean = trajectories[~trajectories["faulty"]]
    rules = verdicts[(verdicts["judge_id"] == "rules") & verdicts["trajectory_id"].isin(clean["trajectory_id"])]
    table = beside_published(score(clean, rules, reps=10), ["type_macro_f1"])
    assert isinstance(table, Table)
    assert [row[:4] for row in table.cells()] == [["rules", "type macro-F1", "–", "0.667"]]


def test_a_bound_alone_is_told_as_such():
    assert with_bounds("0.000", "", "0.036") == "0.000 (at most 0.036)"
    assert with_bounds("0.330", "0.24", "0.43") == "0.330 [0.24, 0.43]"


def test_a_run_of_other_judges_gets_a_sentence():
    trajectories, verdicts = Run.open("local").frames(text=False)
    coin: pd.DataFrame = verdicts[verdicts["judge_id"] == "coin"]
    assert isinstance(beside_published(score(trajectories, coin, reps=10), ["ece"]), Prose)
