"""Our figures beside the paper's."""

from __future__ import annotations

import pandas as pd

from lib.analysis.scores import score
from lib.analysis.tables import Table
from lib.book.compare import beside_published
from lib.book.show import Prose
from lib.runs import Run


def test_the_shipped_rules_stand_beside_the_published_ones_to_the_printed_digits():
    frames = Run.open("local").frames(text=False)
    table = beside_published(score(*frames, reps=10), ["type_macro_f1", "ece"])
    assert isinstance(table, Table)
    rows = [row for row in table.cells() if row[0] == "rules"]
    assert rows == [
        ["rules", "type macro-F1", "0.667", "0.667", "yes", "Section 6"],
        ["rules", "ECE", "0.075", "0.075", "yes", "Table 3"],
    ]


def test_a_run_of_other_judges_gets_a_sentence():
    trajectories, verdicts = Run.open("local").frames(text=False)
    coin: pd.DataFrame = verdicts[verdicts["judge_id"] == "coin"]
    assert isinstance(beside_published(score(trajectories, coin, reps=10), ["ece"]), Prose)
