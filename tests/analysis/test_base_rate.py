"""Every judge of a run as a gate, at the reader's base rate."""

from __future__ import annotations

from lib import bench
from lib.analysis.base_rate import gates


def test_gates_are_every_judge_at_the_base_rate() -> None:
    paper = bench.open("paper", reps=10)
    quiet = paper.verdicts[paper.verdicts["survival"] != "loud"]
    table = gates(quiet, 0.05).set_index("judge")
    assert list(table.index) == paper.judges
    assert table.loc["outcome:qwen2.5:14b", ["pays_from", "pays_to"]].round(1).tolist() == [13.9, 23.2]
