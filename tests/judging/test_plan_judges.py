"""Judges and planners of plans: what they are shown, what is kept of their replies, all through the one collector."""

from __future__ import annotations

import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lib.__main__ import main
from lib.errors import UserError
from lib.judging.clients import Decoding, TokenLogprob, TransportError
from lib.judging.collect import Collected, Collector
from lib.judging.plans import PlanJudge, planned
from lib.judging.roster import make_judges
from lib.plans import bench
from lib.plans.faults import plans
from lib.plans.generate import generate
from lib.plans.prompts import CONDITIONS
from lib.plans.records import METRICS, TIERS, Levels, Record, view_of
from lib.plans.study import PLANS, RECORDS
from lib.run.folder import Run
from tests.judging import fake_server as fake
from tests.judging.fake_server import serving
from tests.judging.fakes import Script

GRADES = json.dumps({"tool_selection": 1, "parameter_structure": 0.5, "sequence": 0, "query_coverage": 1})
PLANNED = json.dumps({"calls": [{"tool": "get_order", "arguments": {"order_code": "ORD-1"}}]})


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return generate(7, 1)[:2]


@pytest.fixture
def run(tmp_path: Path, records: list[Record]) -> Run:
    """Two records, four plans, twelve cases."""
    made = [plan for record in records for plan in plans(record, 7)[:2]]
    return Run.create(tmp_path / "run", {"dataset": {"seed": 7}}, made, PLANS, {RECORDS.file: records})


def collected(run: Run, client: Script, *names: str, **options: Any) -> Collected:
    with ThreadPoolExecutor(1) as threads:
        judges = make_judges(names, client, Decoding(), study=PLANS)
        return Collector(threads).verdicts(run, judges, **options)


def test_cases_are_asked_by_record_tier_and_plan_so_that_a_server_keeps_what_they_share(run: Run) -> None:
    client = Script([GRADES] * 24)
    assert collected(run, client, "with", "without") == Collected(kept=24)
    prompts = [prompt for prompt, _, _ in client.asked]
    assert len({prompt.partition("## Plan")[0] for prompt in prompts[:2]}) == 1
    assert len({prompt.partition("## Request")[0] for prompt in prompts[:6]}) == 1
    assert [("## Reference" in prompt) for prompt in prompts] == [True] * 12 + [False] * 12
    place = [*run.records(RECORDS)]
    keys = [(place.index(v.plan_id.split("/")[0]), TIERS.index(v.tier), v.plan_id) for v in run.verdicts()[:12]]
    assert keys == sorted(keys)
    entry = run.manifest["judges"]["without:m"]
    assert entry["about"] == {"kind": "without", "model": "m", "scored": True}
    assert entry["prompt_sha256"] != run.manifest["judges"]["with:m"]["prompt_sha256"]


def test_no_view_of_a_judge_tells_a_score_or_what_was_broken(run: Run, records: list[Record]) -> None:
    for case in PLANS.cases(run):
        for judge in make_judges(["without", "schema", "coin"], Script([]), Decoding(), study=PLANS):
            shown = repr(case.view(judge.about))
            assert case.key[0] not in shown
            assert "fault" not in shown
            assert "reference=None" in shown
    one = plans(records[0], 7)[1]
    assert view_of(records[0], one, "easy", None) == view_of(records[0], replace(one, fault=None), "easy", None)


def test_a_reply_that_is_no_verdict_has_no_levels_and_a_reason_and_is_asked_again_on_demand(run: Run) -> None:
    client = Script(["fine by me", *[GRADES] * 11])
    done = collected(run, client, "with")
    assert (done.kept, done.unread) == (12, {("unparseable", "no JSON"): 1})
    unread, read = run.verdicts()[:2]
    assert (unread.levels, unread.status, unread.reason, unread.raw_reply) == (
        None,
        "unparseable",
        "no JSON",
        "fine by me",
    )
    assert (read.levels, read.log_odds, read.latency_s, read.prompt_tokens) == (Levels(1, 0.5, 0, 1), {}, 0.5, 10)
    assert collected(run, Script([GRADES]), "with", again="unread") == Collected(kept=1)
    assert {v.status for v in run.verdicts()} == {"ok"}


def test_a_failed_call_is_kept_under_plan_and_tier_and_made_up_for(run: Run) -> None:
    done = collected(run, Script([TransportError("cut", attempts=4), *[GRADES] * 11]), "with")
    assert (done.kept, done.failures) == (11, 1)
    [failure] = run.failures()
    assert [*failure][:3] == ["plan_id", "tier", "judge_id"]
    assert collected(run, Script([GRADES]), "with") == Collected(kept=1)


@pytest.mark.parametrize("form", ["with", "justified", "reasoned"])
def test_each_level_has_the_log_odds_of_its_own_token(form: str, records: list[Record]) -> None:
    """The second metric says 0.5 and the third 0; a sentence that quotes a level leads nowhere."""
    levels = {"tool_selection": 1, "parameter_structure": 0.5, "sequence": 0, "query_coverage": 1}
    said = {"accuracy": 0, "justification": 'not "accuracy": 1 but 0'}
    order = reversed(said) if form == "reasoned" else iter(said)
    names = list(order)
    nested = {f"{m}_accuracy": {n: {**said, "accuracy": level}[n] for n in names} for m, level in levels.items()}
    reply = json.dumps(levels if form == "with" else nested | {"overall_assessment": "1"})
    odds = iter([0.9, 0.2, 0.1, 0.7])
    tokens, at = [], 0
    for metric, level in levels.items():
        start = reply.index(metric, at)
        mark = '"accuracy": ' if form != "with" else '": '
        start = reply.index(mark + str(level), start) + len(mark)
        p = next(odds)
        tops = {"1": math.log(p), "0": math.log(1 - p)}
        tokens += [TokenLogprob(reply[at:start], -0.1, {}), TokenLogprob(reply[start], tops[reply[start]], tops)]
        at = start + 1
    tokens.append(TokenLogprob(reply[at:], -0.1, {}))
    judge = PlanJudge(form, Script([reply], logprobs=tuple(tokens)), Decoding())
    given = judge.judge(view_of(records[0], plans(records[0], 7)[0], "easy", records[0].expected))
    assert given.levels == Levels(1, 0.5, 0, 1)
    expected = [math.log(p / (1 - p)) for p in (0.9, 0.2, 0.1, 0.7)]
    assert [given.log_odds[metric] for metric in METRICS] == pytest.approx(expected)


def test_a_model_plans_for_each_tier_and_what_was_not_read_is_kept_and_not_judged(run: Run) -> None:
    before = run.folder.joinpath("plans.jsonl").read_bytes()
    replies = [PLANNED, '{"calls": []}', '{"calls": [{"tool": "a", "arguments": {"x": NaN}}]}', *[PLANNED] * 2]
    client = Script([*replies, TransportError("gone")])
    with ThreadPoolExecutor(1) as threads:
        done = Collector(threads).make(run, planned(run, client, Decoding()))
        assert (done.kept, done.not_ok, done.failures) == (5, 2, 1)
        again = Collector(threads).make(run, planned(run, Script([PLANNED]), Decoding()))
    assert again == Collected(kept=1)
    assert run.folder.joinpath("plans.jsonl").read_bytes().startswith(before)
    assert run.altered == []
    own = [plan for plan in run.records(PLANS.items).values() if plan.planner == "m"]
    assert {(plan.tier, plan.record_id) for plan in own} == {(t, r) for t in TIERS for r in run.records(RECORDS)}
    assert [plan.reason for plan in own if plan.status != "ok"] == [
        *("the plan is empty", "an argument that cannot be stored")
    ]
    cases = [case.key for case in PLANS.cases(run) if case.key[0].startswith("m/")]
    assert sorted(cases) == sorted((plan.plan_id, plan.tier) for plan in own if plan.status == "ok")
    run.folder.joinpath("plans.jsonl").write_bytes(before.replace(b'"fault":"none"', b'"fault":"swap"', 1))
    assert run.altered == ["plans.jsonl"]


def lib(*arguments: str | Path) -> int:
    sys.argv = ["lib", *map(str, arguments)]
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_a_run_of_plans_is_made_planned_judged_and_scored_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    with serving() as server:
        asking = ["--run", folder, "--model", "m", "--backend", "openai", "--base-url", f"http://{server.address}/v1"]
        assert lib("plans", "--out", folder, "--n", "1", "--each", "2") == 0
        server.otherwise = fake.good(text=PLANNED)
        assert lib("plan", *asking, "--n", "1") == 0
        server.otherwise = fake.good(text=GRADES)
        assert lib("collect", *asking, "--judge", "with,without", "--workers", "2") == 0
    assert lib("collect", "--run", folder, "--judge", "schema,always-1") == 0
    said = capsys.readouterr().out
    assert "6 records, 18 plans" in said
    assert "3 plans (0 of them not ok), 0 failures" in said
    assert "114 verdicts (0 of them not ok), 0 failures" in said
    assert lib("score", "--run", folder, "--reps", "50") == 0
    table = capsys.readouterr().out
    assert all(
        name in table for name in ("alignment", "floor", "ceiling", "skill", "area.sequence", "grades of plans judged")
    )
    assert bench.open(folder, reps=50).judge("always-1").skill.value == pytest.approx(0)
    assert lib("collect", "--run", folder, "--judge", "step") == 1
    assert "no judge 'step' of plans; choose from always-1" in capsys.readouterr().err
    assert lib("score", "--run", folder, "--base-rate", "0.1") == 1
    assert "--base-rate is for judges that flag" in capsys.readouterr().err


def test_a_run_of_trajectories_holds_nothing_to_plan_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no requests to plan for"):
        planned(Run(tmp_path), Script([]), Decoding())
    assert CONDITIONS.keys().isdisjoint({"outcome", "step"})
