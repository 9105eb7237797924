"""Chapter 1 says what intervals allow, and cautions where a judge does not look."""

from __future__ import annotations

import pandas as pd
import pytest

from lib import RUNS
from lib.analysis.agreement import by_stratum, matched_pairs, mcnemar
from lib.analysis.joined import joined
from lib.analysis.scores import score
from lib.show.tables import DASH
from lib.book.chapters.blind_spot import Focus, answer, pair_table, pairs_answer, pairs_table, type_frame, type_table
from lib.book.chapters.deployment import gate_answer, gate_table
from lib.book.chapters.limits import hidden_table, limits_answer, limits_table
from lib.book.chapters.strata import strata_answer, strata_frame, strata_rows, strata_table
from lib.book.views import views_of
from lib.run.folder import Frames, Run
from tests.chapter_runs import everything, faulty, loud, model_free_frames, scored, verdicts_of


@pytest.fixture(scope="module")
def frames() -> Frames:
    return model_free_frames()


@pytest.fixture(scope="module")
def nothing(frames):
    return ~everything(frames)


def silent(trajectories: pd.DataFrame) -> pd.Series:
    return trajectories["faulty"].astype(bool) & trajectories["outcome_correct"].astype(bool)


def test_a_gain_is_called_one_only_with_its_interval_above_zero(frames):
    scores = scored(frames, {"outcome:a": loud(frames), "step:a": faulty(frames)})
    text = answer(scores, Focus.of(scores)).markdown
    assert "the difference is 1.000 [0.97, 1.00], a gain" in text
    assert "it is the silent faults that it misses" in text
    assert "does not tell" not in text
    same = scored(frames, {"outcome:a": loud(frames), "step:a": loud(frames)})
    assert "from which no change can be read" in answer(same, Focus.of(same)).markdown


def test_recall_of_a_judge_that_flags_everything_carries_a_caution(frames):
    scores = scored(frames, {"outcome:a": loud(frames), "step:a": everything(frames)})
    text = answer(scores, Focus.of(scores)).markdown
    assert "the steps cost false alarms" in text
    assert "`step:a` does not tell faulty from clean at all" in text


def test_a_pair_with_few_trajectories_in_common_carries_a_caution(frames):
    given = [
        verdicts_of(frames, {"outcome:a": loud(frames)}),
        verdicts_of(frames, {"step:a": ~everything(frames)}, n=6),
    ]
    assert frames.trajectories["faulty"].head(6).all()
    scores = score(frames.trajectories, pd.concat(given), reps=200)
    text = answer(scores, Focus.of(scores)).markdown
    assert "No clean trajectory was judged in both views" in text
    assert "`step:a` judged so few faulty or clean trajectories that this says little" in text
    assert "undefined" not in text


def test_without_a_pair_the_chapter_shows_what_there_is(frames):
    scores = score(*frames, reps=20)
    focus = Focus.of(scores)
    assert focus.judges == ["rules"]
    assert "No model has judged this run in both views" in answer(scores, focus).markdown
    assert "no pair" in pair_table(scores, focus).markdown
    one = scored(frames, {"rules": loud(frames), "step:a": loud(frames)})
    assert Focus.of(one).judges == ["step:a"]


def test_pair_table_has_both_views_and_their_difference(frames):
    scores = scored(frames, {"outcome:a": loud(frames), "rules": loud(frames), "step:a": faulty(frames)})
    table = pair_table(scores, Focus.of(scores))
    assert table.cells()[0][:2] == ["a", "silent recall"]
    assert table.cells()[0][4:] == ["1.000 [0.97, 1.00]", "400"]
    assert set(table.data["a"]) | set(table.data["b"].dropna()) == {"outcome:a", "step:a"}


def test_type_table_begins_with_the_false_alarms(frames):
    scores = scored(frames, {"step:a": loud(frames)})
    rows = type_table(type_frame(scores, ["step:a"])).cells()
    assert rows[0][0] == "false alarms"
    assert len(rows) == 7


def test_matched_pairs_tell_disliking_the_case_from_seeing_the_fault(frames):
    """A judge that flags all of three strata has a recall there, and never flags a fault whose parent it passed."""
    strata = frames.trajectories["stratum"].isin(["happy", "restocking", "already_refunded"])
    scores = scored(frames, {"outcome:a": strata})
    rows = joined(frames.trajectories, verdicts_of(frames, {"outcome:a": strata}))
    text = pairs_answer(mcnemar(matched_pairs(rows)), scores).markdown
    assert "for no fault type" in text
    text = strata_answer(by_stratum(rows)).markdown
    assert "all fall in 3 of 6 strata (`happy` 17 of 17, `restocking` 17 of 17, `already_refunded` 16 of 16)" in text
    assert "it flags every clean trajectory there, and none elsewhere" in text


def test_pairs_of_a_judge_that_sees_every_fault_are_all_discordant(frames):
    scores = scored(frames, {"outcome:a": faulty(frames)})
    tests = mcnemar(matched_pairs(joined(frames.trajectories, verdicts_of(frames, {"outcome:a": faulty(frames)}))))
    assert "for each of the 6 fault types" in pairs_answer(tests, scores).markdown
    assert pairs_table(tests).cells()[0][:4] == ["outcome:a", "all", "251", "0"]


def test_strata_rows_keep_the_two_sides_of_a_stratum_together(frames):
    table = by_stratum(joined(frames.trajectories, frames.verdicts, ["rules"]))
    assert strata_rows(table)[:3] == ["happy: faulty", "happy: clean", "restocking: faulty"]
    assert strata_frame(table)[["low", "high"]].isna().all(axis=None)  # verdicts by rules are no sample
    assert strata_table(table).cells()[0][:4] == ["rules", "happy", "43 of 61", "34 of 52"]


def test_gate_says_what_passes_and_what_an_alarm_is_worth(frames, nothing):
    scores = scored(frames, {"outcome:a": loud(frames), "step:a": everything(frames), "step:b": nothing})
    text = gate_answer(scores, ["outcome:a", "step:a", "step:b"], 0.05).markdown
    assert "`outcome:a` lets 1000 [979, 1000] pass" in text
    assert "the share of true ones among its alarms is 0.050" in text
    assert "It raises no alarm at all" in text
    assert gate_table(scores, 0.05).cells()[1][1:] == ["0 [0, 21]", "1000 [964, 1000]", "0.050 [0.05, 0.05]"]


def test_views_without_a_silent_fault_in_common_are_not_compared(frames):
    others = frames.trajectories[~silent(frames.trajectories)]
    given = verdicts_of(frames, {"outcome:a": loud(frames), "step:a": faulty(frames)})
    scores = score(others, given[given["trajectory_id"].isin(others["trajectory_id"])], reps=20)
    assert "No silent fault was judged by `a` in both views" in answer(scores, Focus.of(scores)).markdown


def test_limits_are_those_of_what_each_judge_was_shown(frames):
    views = views_of(Run.open(RUNS / "local"))
    assert "50 of 175 silent and 50 of 125 loud cases" in limits_answer(views).markdown
    scores = scored(frames, {"outcome:a": loud(frames), "step:a": loud(frames)}, n=200)
    verdicts = verdicts_of(frames, {"outcome:a": loud(frames), "step:a": loud(frames)}, n=200)
    table = limits_table(views, scores, verdicts, ["outcome:a", "step:a"])
    shown = frames.trajectories.head(200)
    claims = (shown["failure_type"] == "unsupported_claim").sum()
    assert table.cells()[0][2] == f"{claims / silent(shown).sum():.3f}"
    assert table.cells()[1][2] == "1.000"
    others = verdicts[verdicts["trajectory_id"].isin(shown["trajectory_id"][~silent(shown)])]
    assert limits_table(views, scores, others, ["outcome:a"]).cells()[0][2] == DASH
    assert hidden_table(views).data.loc["wrong_tool/silent"].tolist() == [50, 0, 50]
