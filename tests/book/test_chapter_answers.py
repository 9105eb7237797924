"""The sentences of chapters 2 to 4 follow the data: each says something else when the verdicts are others."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from lib import ROOT
from lib.analysis.attention import commonest_sentences
from lib.analysis.scores import score
from lib.book.chapters import claims, claims_words, consistency, floor
from lib.book.chapters.consistency_words import difference_cell
from lib.records import Label, Observation, Step, ToolCall, Trajectory, Verdict
from lib.run.folder import Run
from lib.trajectories import VERDICTS

PUBLISHED = ROOT.parent / "shared" / "published"
KINDS = ("unsupported_claim", "wrong_tool")
STEP, ENSEMBLE = "step:m:1.5b", "selfcons3:m:1.5b"


def trajectories(kinds: tuple[str, ...] = KINDS) -> list[Trajectory]:
    """Twelve clean trajectories, and twelve of each kind of fault."""
    found = []
    for kind in (None, *kinds):
        for i in range(12):
            name = f"INS-{i:05d}-{kind or 'clean'}"
            claim = list(claims.NAMES)[i % 4] if kind == "unsupported_claim" else ""
            label = Label(kind is not None, 0 if kind else None, kind, True)
            answer = f"Done. {claim}"
            step = Step(0, "Reply.", ToolCall("reply", {"text": answer}), Observation(True, {"sent": True}))
            found.append(Trajectory(name, f"INS-{i:05d}", "Refund ORD-1.", [step], answer, label))
    return found


def run_of(folder: Path, verdicts: list[Verdict], kinds: tuple[str, ...] = KINDS) -> Run:
    run = Run.create(folder / "run", {}, trajectories(kinds))
    (run.folder / "verdicts.jsonl").write_bytes(b"".join(VERDICTS.spelling.encode(verdict) for verdict in verdicts))
    return run


def said(judge: str, flagged, *, kinds: tuple[str, ...] = KINDS, **fields) -> list[Verdict]:
    """A judge that flags the trajectories for which ``flagged`` holds."""
    given = {"confidence": 0.9, "rationale": "The steps are fine.", "completion_tokens": 20, "latency_s": 2.0} | fields
    return [
        Verdict(trajectory_id=t.trajectory_id, judge_id=judge, faulty=flagged(t), **given) for t in trajectories(kinds)
    ]


def everything(_: Trajectory) -> bool:
    return True


def nothing(_: Trajectory) -> bool:
    return False


def faults(t: Trajectory) -> bool:
    return t.label.faulty


def vouchers(t: Trajectory) -> bool:
    return "voucher" in t.final_answer


def claims_text(run: Run) -> str:
    frames = run.frames(text=False)
    return str(claims.gather(run, frames, list(run.judges(frames.verdicts))).answer())


def floor_text(run: Run) -> str:
    frames = run.frames(text=False)
    judges = run.manifest.get("judges", {})
    return str(floor.gather(frames, score(*frames, reps=50), judges).answer())


def consistency_text(run: Run) -> str:
    frames = run.frames(text=False)
    judges = list(run.judges(frames.verdicts))
    return str(consistency.answer(consistency.gather(run, frames, judges, 50, 0), judges))


def test_judge_that_flags_everything_does_not_detect_claims(tmp_path):
    text = claims_text(run_of(tmp_path, said(STEP, everything)))
    assert "No judge flags replies with an unsupported claim more often" in text
    assert f"`{STEP}` (1.000 against 1.000)" in text
    assert "It matters what is claimed" not in text


def test_judge_that_knows_one_sentence_is_told_so(tmp_path):
    text = claims_text(
        run_of(tmp_path, said(STEP, lambda t: "voucher" in t.final_answer or "courier" in t.final_answer))
    )
    assert "1 of 1 judges flags replies" in text
    assert "lets 6 of 12 pass" in text
    assert "in 3 of 3 replies, but a replacement or a cancelled subscription in 0 of 6" in text
    assert "what the claim says is mentioned in 0 of the 6 that let it pass, and in 0 of the 6 that flag it." in text
    assert "held to 95 %" not in text  # there is only one judge


def test_several_judges_that_are_tested_at_once_come_with_the_chance_of_one_passing_blind(tmp_path):
    many = said(STEP, lambda t: "voucher" in t.final_answer or "courier" in t.final_answer)
    several = [*many, *said("step:n:3b", nothing), *said("rules", nothing)]
    assert "were the 2 judges with an interval all blind, one or more would seem to see with a probability of at most 5%" in (
        claims_text(run_of(tmp_path, several))
    )


def test_the_judge_that_always_says_the_same_is_named_with_its_sentence(tmp_path):
    run = run_of(tmp_path, [*said(STEP, faults), *said("step:n", nothing, rationale="<b>All</b> is `well`.")])
    text = str(claims_words.stock_answer(commonest_sentences(run.verdicts())))
    assert f"`{STEP}` are the most alike: one sentence stands in 36 of 36, of which 12 come with the verdict clean" in text
    table = claims_words.stock_table(commonest_sentences(run.verdicts()))
    assert table.cells()[1] == ["step:n", "<b>All</b> is `well`.", "36 of 36", "36"]
    assert claims_words.shortened("word " * 1000).endswith("word …")
    assert claims_words.shortened("x" * 100_000) == "x" * 160 + " …"
    assert claims_words.stock_table(commonest_sentences([])) is None
    assert "No judge of this run gives reasons" in str(claims_words.stock_answer(commonest_sentences([])))


def test_run_without_claims_says_so(tmp_path):
    kinds = ("wrong_tool",)
    run = run_of(tmp_path, said(STEP, faults, kinds=kinds), kinds)
    frames = run.frames(text=False)
    found = claims.gather(run, frames, [STEP])
    assert str(found.answer()) == str(claims.prose(claims.NOTHING))
    assert "no judge let such a claim pass with a reason" in str(claims.miss_caption(found.miss))


def test_miss_is_introduced_with_its_rule(tmp_path):
    run = run_of(tmp_path, said(STEP, nothing))
    text = str(claims.miss_caption(claims.gather(run, run.frames(text=False), [STEP]).miss))
    assert "`INS-00000-unsupported_claim`, where the reply speaks of a replacement, passed at confidence 0.90" in text


def test_baselines_are_no_judges_of_claims(tmp_path):
    run = run_of(tmp_path, [*said("always-faulty", everything), *said("rules", nothing)])
    assert "always" not in claims_text(run)
    assert claims_text(run).startswith("No model has judged this run so far")


@pytest.mark.parametrize(
    ("flagged", "words"),
    [
        (nothing, "No judge with a model can tell faulty trajectories from clean ones"),
        (nothing, "(flagging nothing)"),
        (everything, "(flagging everything)"),
        (lambda t: not faults(t), "(flagging clean trajectories more often than faulty ones)"),
        (faults, f"better than a judge that does not look: `{STEP}`"),
    ],
)
def test_floor_says_who_passes_and_why_not(tmp_path, flagged, words):
    assert words in floor_text(run_of(tmp_path, said(STEP, flagged))).replace("\\", "")


def test_size_is_only_read_from_different_sizes(tmp_path):
    assert "Models of only one size have judged" in floor_text(run_of(tmp_path, said(STEP, faults)))


@pytest.mark.parametrize(
    ("small", "large", "words"),
    [
        (nothing, faults, "The floor lies between 500M, the largest model that fails, and 1.5B"),
        (faults, nothing, "a judge of 1.5B fails while one of 500M passes"),
        (nothing, everything, "No size tried is enough; the largest is 1.5B"),
        (faults, faults, "Every size tried is enough; the smallest is 500M"),
    ],
)
def test_size_is_read_as_the_grades_fall(tmp_path, small, large, words):
    assert words in floor_text(run_of(tmp_path, [*said("step:m:0.5b", small), *said(STEP, large)]))


@pytest.mark.parametrize(
    ("within", "high", "passed", "words"),
    [
        ((-0.1, 0.1), 0.5, True, "nothing is left of the J of `step:m`"),
        ((0.1, 0.2), 0.5, True, ""),
        ((0.1, 0.2), -0.1, False, "`step:m` flags faulty trajectories more often than clean ones after all"),
        ((0.0, 0.0), -0.1, False, "nothing is left of the J of `step:m`"),
        ((float("nan"), float("nan")), 0.5, True, ""),
    ],
)
def test_j_that_comes_from_the_kind_of_case_is_said(within, high, passed, words):
    row = {"judge_id": "step:m", "passed": passed, "high": high, "within_low": within[0], "within_high": within[1]}
    found = floor.case_reading(pd.DataFrame([row]))
    assert (found is None) == (words == "")
    assert words in str(found)


def test_f1_above_that_of_a_judge_that_passes_is_said(tmp_path):
    few = said("step:n:7b", lambda t: t.label.faulty and int(t.instance_id[4:]) < 6)
    text = floor_text(run_of(tmp_path, [*said(STEP, everything), *few]))
    assert f"`{STEP}` fails with 0.800, `step:n:7b` passes with 0.667" in text
    assert "passes with" not in floor_text(run_of(tmp_path / "alone", said(STEP, everything)))


def test_floor_without_models_says_so(tmp_path):
    text = floor_text(run_of(tmp_path, said("rules", faults)))
    assert text.startswith("No model has judged this run so far")


def test_floor_table_has_size_tokens_and_the_absent_baselines(tmp_path):
    run = run_of(tmp_path, [*said(ENSEMBLE, faults, completion_tokens=60), *said("rules", faults)])
    frames = run.frames(text=False)
    found = floor.gather(frames, score(*frames, reps=20), run.manifest.get("judges", {}))
    assert found.groups == ["no model", "1.5B"]
    assert found.models.iloc[0]["tokens"] == 20  # a third of what three members wrote
    assert found.absent["judge_id"].tolist() == ["always-faulty", "always-clean", "coin"]
    assert found.bar == pytest.approx(2 * 24 / (36 + 24))


def test_without_an_ensemble_the_chapter_says_so(tmp_path):
    text = consistency_text(run_of(tmp_path, said(STEP, faults)))
    assert text == str(consistency.prose(consistency.NONE))
    alone = consistency_text(run_of(tmp_path / "alone", said(ENSEMBLE, faults, confidence=1.0)))
    assert f"Without a single pass of its model on the same trajectories to compare with: `{ENSEMBLE}`" in alone


def test_an_ensemble_and_a_pass_on_other_trajectories_are_not_compared(tmp_path):
    text = consistency_text(run_of(tmp_path, [*said(STEP, faults)[:10], *said(ENSEMBLE, faults, confidence=1.0)[10:]]))
    assert text.startswith(str(consistency.prose(consistency.NONE)))
    assert f"on the same trajectories to compare with: `{ENSEMBLE}`" in text


def test_an_ensemble_whose_replies_could_not_be_read_is_warned_of(tmp_path):
    torn = said(ENSEMBLE, nothing, confidence=0.5, status="truncated")
    text = consistency_text(run_of(tmp_path, [*said(STEP, faults), *torn]))
    assert f"Most replies of `{ENSEMBLE}` could not be read and count as clean" in text


def test_equal_judges_cannot_be_told_apart(tmp_path):
    text = consistency_text(
        run_of(tmp_path, [*said(STEP, faults), *said(ENSEMBLE, faults, confidence=0.9, latency_s=6.0)])
    )
    assert "on none of" in text
    assert "F1 changes by +0.000, which has no interval" in text  # both treat every cell alike
    assert "3.0 times the seconds" in text
    assert "vote alike" not in text  # 0.9 is no share of three votes


def test_a_majority_that_only_flags_more_gains_f1_but_no_ability(tmp_path):
    def one_in(n: int) -> Callable[[Trajectory], bool]:
        return lambda t: zlib.crc32(t.trajectory_id.encode()) % n == 0

    run = run_of(tmp_path, [*said(STEP, one_in(8)), *said(ENSEMBLE, one_in(2), confidence=1.0)])
    text = consistency_text(run)
    assert "better on F1" in text
    assert "But Youden's J changes by" in text
    assert "F1 rises when a judge merely flags more" in text
    able = consistency_text(run_of(tmp_path / "able", [*said(STEP, nothing), *said(ENSEMBLE, faults, confidence=1.0)]))
    assert "But Youden's J" not in able


def test_judges_that_flag_nothing_leave_nothing_to_improve(tmp_path):
    text = consistency_text(run_of(tmp_path, [*said(STEP, nothing), *said(ENSEMBLE, nothing, confidence=1.0)]))
    assert "neither flags a single fault" in text
    assert "No member ever flags anything" in text


def test_members_that_are_blind_together_are_told_from_chance(tmp_path):
    run = run_of(tmp_path, [*said(STEP, faults), *said(ENSEMBLE, vouchers, confidence=1.0)])
    frames = run.frames(text=False)
    (pair,) = consistency.gather(run, frames, [STEP, ENSEMBLE], 50, 0)
    assert not pair.kept
    assert "kept no members" in str(pair.source())
    assert "All of them miss 21 of 24 faults" in str(pair.answer())
    assert "A majority cannot repair what all of them miss." in str(pair.answer())
    assert consistency.growth([pair])["members"].tolist() == ["one greedy pass", "k = 1", "k = 3"]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((-0.0092, -0.0204, -0.0001), "-0.009 [-0.020, +0.000]"),
        ((0.3, float("nan"), float("nan")), "+0.300"),
        ((float("nan"),) * 3, "–"),
    ],
)
def test_difference_is_shown_with_its_sign_and_never_as_minus_zero(numbers, text):
    assert difference_cell(*numbers) == text


def test_published_run_reads_as_the_paper_does():
    if not PUBLISHED.is_dir():
        pytest.skip("the paper's released run is not beside the project (shared/published)")
    run = Run.open(PUBLISHED)
    assert "catches a voucher in 8 of 8 replies, but a courier or a replacement in 0 of 32" in claims_text(run)
    assert "The floor lies between 8B, the largest model that fails, and 14B" in floor_text(run)
    frames = run.frames(text=False)
    (pair,) = consistency.gather(run, frames, list(run.judges(frames.verdicts)), 1000, 0)
    assert isinstance(pair.distribution(), pd.DataFrame)
    assert "All of them miss 32 of 300 faults" in str(pair.answer())
