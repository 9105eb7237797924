"""Self-consistency: the same judge asked k times at a temperature, and the majority of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from lib.judging.clients import Client, Decoding
from lib.judging.llm import PromptJudge, model_settings
from lib.judging.prompts import prompt_checksums
from lib.records import Judgement, Status, View

TEMPERATURE = 0.7

T = TypeVar("T")
N = TypeVar("N", int, float)


class SelfConsistency:
    """k step judges that differ in their seed (trajectory-judge, Section 7.4); its id is ``selfcons{k}:{model}``."""

    shows_steps = True

    def __init__(self, k: int, model: str, client: Client, decoding: Decoding) -> None:
        self.judge_id = f"selfcons{k}:{model}"
        self.batch = f"step:{model}"
        self._client = client
        self._decodings = [decoding.varied(temperature=TEMPERATURE, seed=(decoding.seed or 0) + i) for i in range(k)]
        self._members = [PromptJudge("step", model, client, member) for member in self._decodings]

    def settings(self) -> dict[str, Any]:
        first = model_settings(self._client, self._decodings[0])
        seeds = {"seed": [member.seed for member in self._decodings]}
        return first | {"decoding": first["decoding"] | seeds} | prompt_checksums("step")

    def judge(self, view: View) -> Judgement:
        return combine([member.judge(view) for member in self._members])


def combine(members: Sequence[Judgement]) -> Judgement:
    """The strict majority of the members (a tie is clean).

    Confidence is the share of votes that agree with the verdict; step and type are the most common among those
    votes, the first seen on ties; cost is summed. The status is ``ok`` when the members that could be read settle the
    vote whatever the others would have said, else that of the first that could not.
    """
    k = len(members)
    votes = sum(member.faulty for member in members)
    faulty = 2 * votes > k
    agreeing = [member for member in members if member.faulty == faulty]
    return Judgement(
        faulty=faulty,
        failure_step=_most_common(member.failure_step for member in agreeing),
        failure_type=_most_common(member.failure_type for member in agreeing),
        confidence=len(agreeing) / k,
        rationale=f"{votes} of {k} votes for faulty",
        latency_s=sum(member.latency_s for member in members),
        prompt_tokens=_total([member.prompt_tokens for member in members]),
        completion_tokens=_total([member.completion_tokens for member in members]),
        status=_status(members),
        load_s=_total([member.load_s for member in members]),
        members=list(members),
    )


def _most_common(values: Iterable[T | None]) -> T | None:
    """The most common value that is given, the first seen on ties; None when none is."""
    counted = Counter(value for value in values if value is not None)
    return counted.most_common(1)[0][0] if counted else None


def _total(values: Sequence[N | None]) -> N | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _status(members: Sequence[Judgement]) -> Status:
    unread = [member.status for member in members if member.status != "ok"]
    flagged = sum(member.faulty for member in members)
    settled = 2 * flagged > len(members) or 2 * (flagged + len(unread)) <= len(members)
    return "ok" if settled else unread[0]
