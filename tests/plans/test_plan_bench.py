"""A run of part II on the bench: intervals of alignment, skill and areas, with records as units."""

import pytest

from lib.analysis.ranking import area
from lib.errors import UserError
from lib.plans import bench
from lib.plans.faults import plans
from lib.plans.measures import skill
from lib.plans.records import METRICS, TIERS, Levels, PlanVerdict, view_of
from lib.plans.score import BASELINES, score
from lib.plans.study import PLANS, RECORDS
from lib.run.folder import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory, records):
    """A judge that is right but for rounding down, and the baselines; one reply was not read."""
    made = [(record, plan) for record in records[:24] for plan in plans(record, 7)[::4]]
    folder = tmp_path_factory.mktemp("plans") / "run"
    run = Run.create(folder, {"dataset": {"seed": 7}}, [p for _, p in made], PLANS, {RECORDS.file: records[:24]})
    with run.collecting() as store:
        store.register_judge("with:m", {"about": {"kind": "with", "model": "m"}})
        for name in BASELINES:
            store.register_judge(name, {"about": {"kind": name, "baseline": True, "fixed": True}})
        for record, plan in made:
            truth = score(plan.calls, record.expected)
            strict = Levels(*(int(2 * getattr(truth, metric)) / 2 for metric in METRICS))
            for tier in TIERS:
                said = {
                    "with:m": strict,
                    **{name: judge(view_of(record, plan, tier, None)) for name, judge in BASELINES.items()},
                }
                for judge, levels in said.items():
                    lost = judge == "with:m" and tier == "hard" and plan is made[0][1]
                    fields = {"levels": None, "status": "unparseable"} if lost else {"levels": levels}
                    store.add_verdict(PlanVerdict(plan_id=plan.plan_id, tier=tier, judge_id=judge, **fields))
    return run


@pytest.fixture(scope="module")
def opened(run):
    return bench.open(run, reps=200)


def test_always_one_has_the_alignment_of_the_floor_and_no_skill(opened):
    judge = opened.judge("always-1")
    assert judge.alignment.value == pytest.approx(judge.floor.value)
    assert judge.skill.value == pytest.approx(0)
    assert [judge.metrics[f"area.{metric}"].value for metric in METRICS] == [0.5] * 4


def test_a_judge_that_sees_beats_it_although_its_alignment_is_hardly_higher(opened):
    judge = opened.judge("with:m")
    assert judge.skill.low > 0.5
    assert judge.skill.low < judge.skill.value < judge.skill.high
    assert judge.metrics["area.sequence"].value == 1
    assert judge.alignment.value - opened.judge("always-1").alignment.value < 0.25
    assert judge.bias.value < 0


def test_values_are_those_of_the_measures_on_the_frame(opened):
    own = opened.verdicts[opened.verdicts.judge == "coin"]
    judge = opened.judge("coin")
    assert judge.alignment.value == pytest.approx(own.aligned.mean())
    assert judge.skill.value == pytest.approx(skill(own.aligned.mean(), own.floor.mean(), own.ceiling.mean()))
    for metric, rows in own.groupby("metric"):
        assert judge.metrics[f"area.{metric}"].value == pytest.approx(area(rows, within=None).value)


def test_a_reply_that_was_not_read_counts_as_the_policy_says(run, opened):
    excluded = opened.judge("with:m").alignment
    worst, best = (bench.open(run, ["with:m"], reps=1, nulls=nulls).judge("with:m") for nulls in ("worst", "best"))
    assert worst.alignment.value < excluded.value < best.alignment.value
    assert worst.alignment.n == excluded.n + 4
    assert opened.judge("with:m").unread.value > 0


def test_rates_and_differences_work_on_the_frame(opened):
    by_tier = opened.rates(opened.verdicts, "aligned", by=["judge", "tier"])
    assert len(by_tier) == 5 * 3
    gap = opened.paired("with:m", "always-half", ["alignment", "skill"]).set_index("metric")
    assert (gap.reading == "higher").all()


def test_a_judge_or_number_that_cannot_be_is_refused(run):
    with pytest.raises(UserError, match="no verdicts of nobody; this run has with:m"):
        bench.open(run, ["nobody"])
    with pytest.raises(UserError, match="reps must be at least 1"):
        bench.open(run, reps=0)
