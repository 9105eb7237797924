"""Judges and planners of part II: what they ask, and what is kept of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lib.errors import UserError
from lib.judging.clients import Client, Completion, Decoding, TokenLogprob
from lib.judging.collect import Making, Task
from lib.judging.llm import model_settings, spent
from lib.judging.log_odds import log_odds
from lib.judging.neutralise import neutralise
from lib.judging.prompts import checksum
from lib.judging.reply import LONGEST_REPLY, kept_reply, storable_text, value_at
from lib.plans.prompts import (
    CONDITIONS,
    PLANNER_SCHEMA,
    PLANNING,
    instructions,
    judge_prompt,
    judge_schema,
    planner_prompt,
)
from lib.plans.records import METRICS, TIERS, Metric, Plan, PlanJudgement, PlanView, Record, Tier
from lib.plans.replies import Unread, read_plan, read_verdict
from lib.plans.score import BASELINES
from lib.plans.study import PLANS, RECORDS
from lib.records import About, Status
from lib.run.folder import Run


class PlanJudge:
    """Asks a model under one condition; its id is ``{condition}:{model}``."""

    def __init__(self, condition: str, client: Client, decoding: Decoding) -> None:
        self._condition, self._client, self._decoding = CONDITIONS[condition], client, decoding
        self.judge_id = self.batch = f"{condition}:{client.model}"
        self.about = About(kind=condition, model=client.model, scored=decoding.logprobs > 0)

    def settings(self) -> dict[str, Any]:
        texts = {"prompt": instructions(self._condition), "schema": judge_schema(self._condition)}
        sums = {f"{name}_sha256": checksum(text) for name, text in texts.items()}
        return model_settings(self._client, self._decoding) | sums

    def judge(self, view: PlanView) -> PlanJudgement:
        text = storable_text(judge_prompt(self._condition, view, neutralise))
        completion = self._client.complete(text, judge_schema(self._condition), self._decoding)
        told = spent(completion) | {"raw_reply": kept_reply(completion.text)[0]}
        if unread := _unusable(completion):
            return PlanJudgement(levels=None, status=unread[0], reason=unread[1], **told)
        try:
            said = read_verdict(completion.text)
        except Unread as problem:
            return PlanJudgement(levels=None, status="unparseable", reason=str(problem), **told)
        odds = _log_odds(completion.logprobs or (), completion.text)
        return PlanJudgement(
            levels=said.levels, justifications=said.justifications, overall=said.overall, log_odds=odds, **told
        )


class Baseline:
    """A judge of ``lib.plans.score``, which asks no model."""

    batch = "baseline"

    def __init__(self, name: str) -> None:
        self.judge_id = name
        looks = name == "schema"
        self.about = About(kind="rules" if looks else "baseline", fixed=name != "coin", baseline=not looks)

    def settings(self) -> dict[str, Any]:
        return {"backend": "none"}

    def judge(self, view: PlanView) -> PlanJudgement:
        return PlanJudgement(levels=BASELINES[self.judge_id](view), prompt_tokens=0, completion_tokens=0)


def planned(run: Run, client: Client, decoding: Decoding, n: int | None = None) -> Making:
    """A model's plans for the first ``n`` records of a run at each tier: by record, so that a server keeps its tools.

    Raises UserError for a run of another study.
    """
    if run.study is not PLANS:
        raise UserError(f"{run.folder} is a run of {run.study.name}, which holds no requests to plan for.")
    sums = {"prompt_sha256": checksum(PLANNING), "schema_sha256": checksum(PLANNER_SCHEMA)}
    tasks = [
        Task((_plan_id(record, tier, client), tier), f"planner:{client.model}", plan, (record, tier, client, decoding))
        for record in [*run.records(RECORDS).values()][:n]
        for tier in TIERS
    ]
    return Making(PLANS.items, f"planner:{client.model}", model_settings(client, decoding) | sums, tasks, "plan")


def plan(record: Record, tier: Tier, client: Client, decoding: Decoding) -> Plan:
    """One plan; a reply that is none is kept with its status and reason.

    Raises CallFailed (see ``lib.judging.clients``) when the model gave no answer.
    """
    text = storable_text(planner_prompt(record.tools, record.requests[tier], neutralise))
    completion = client.complete(text, PLANNER_SCHEMA, decoding)

    def made(**fields: Any) -> Plan:
        return Plan(
            plan_id=_plan_id(record, tier, client),
            record_id=record.record_id,
            planner=client.model,
            tier=tier,
            fault=None,
            rate=None,
            raw_reply=kept_reply(completion.text)[0],
            **fields,
        )

    if unread := _unusable(completion):
        return made(calls=[], status=unread[0], reason=unread[1])
    try:
        whole = made(calls=read_plan(completion.text))
        PLANS.items.spelling.encode(whole)
    except Unread as problem:
        return made(calls=[], status="unparseable", reason=str(problem))
    except (ValueError, RecursionError):
        return made(calls=[], status="unparseable", reason="an argument that cannot be stored")
    return whole


def _plan_id(record: Record, tier: Tier, client: Client) -> str:
    return f"{client.model}/{tier}/{record.record_id}"


def _unusable(completion: Completion) -> tuple[Status, str | None] | None:
    """Status and reason of a completion that is not even read."""
    if completion.status:
        return completion.status, completion.reason
    if completion.finish_reason == "length":
        return "truncated", "cut off at the cap on tokens"
    return ("unparseable", "the reply is far too long") if len(completion.text) > LONGEST_REPLY else None


def _log_odds(tokens: tuple[TokenLogprob, ...], reply: str) -> dict[Metric, float]:
    """By metric, the log-odds of 1 against the lower levels, where they are found in a reply that was read."""
    return {metric: odds for metric, tail in _tails(reply) if (odds := log_odds(tokens, tail, ("1", "0"))) is not None}


def _tails(reply: str) -> Iterator[tuple[Metric, str]]:
    """What follows in the reply from each metric's level on."""
    start = reply.find("{", reply.rfind("</think>") + 1)
    for metric in METRICS:
        at = value_at(reply, start, metric, f"{metric}_accuracy")
        yield metric, reply[value_at(reply, at, "accuracy") if reply[at] == "{" else at :]
