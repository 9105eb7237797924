"""The same judge asked k times: an ensemble at a temperature, or a repetition with nothing changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from lib.judging.clients import Client, Decoding
from lib.judging.llm import PromptJudge
from lib.judging.prompts import Rubric
from lib.records import About, Judgement, Status, View

TEMPERATURE = 0.7

T = TypeVar("T")
N = TypeVar("N", int, float)


class Repeat:
    """The step judge asked k times with the same settings, for repeatability; its id is ``repeat{k}:{model}``.

    Its verdict is the majority, as in an ensemble; what it is for are its members.
    """

    kind = "repeat"

    def __init__(self, k: int, rubric: Rubric, client: Client, decoding: Decoding) -> None:
        self.judge_id = f"{self.kind}{k}:{client.model}"
        self._judge = PromptJudge(rubric, client, decoding)
        self.batch = self._judge.batch
        self.about = About(kind=self.kind, sees=rubric.sees, model=client.model, members=k, single=self._judge.judge_id)
        self._decoding = decoding

    def settings(self) -> dict[str, Any]:
        return self._judge.settings()

    def judge(self, view: View) -> Judgement:
        return combine([self._judge.ask(view, self._member(view, i)) for i in range(self.about.members)])

    def _member(self, view: View, i: int) -> Decoding:
        return self._decoding


class SelfConsistency(Repeat):
    """k step judges at a temperature, each with its seed (trajectory-judge, Section 7.4): ``selfcons{k}:{model}``."""

    kind = "selfcons"

    def __init__(self, k: int, rubric: Rubric, client: Client, decoding: Decoding) -> None:
        super().__init__(k, rubric, client, decoding.varied(temperature=TEMPERATURE))

    def settings(self) -> dict[str, Any]:
        settings = super().settings()
        if self._decoding.seed is None:
            return settings
        seeds = {"seed": f"sha256 of {self._decoding.seed}, trajectory token and member"}
        return settings | {"decoding": settings["decoding"] | seeds}

    def _member(self, view: View, i: int) -> Decoding:
        return self._decoding.varied(seed=member_seed(self._decoding.seed, view.token, i))


def member_seed(seed: int | None, token: str, member: int) -> int:
    """A member's seed for one trajectory: 31 bits, which every server takes.

    One seed for all trajectories would let the same draw decide at the same place of many replies.
    """
    digest = hashlib.sha256(f"{seed}, {token}, {member}".encode()).digest()
    return int.from_bytes(digest[:4]) >> 1


def combine(members: Sequence[Judgement]) -> Judgement:
    """The strict majority of the members (a tie is clean).

    Confidence is the share of votes that agree with the verdict; step and type are the most common among those
    votes, the first seen on ties; cost is summed. The status is ``ok`` when the members that could be read settle the
    vote whatever the others would have said, else that of the first that could not.
    """
    k = len(members)
    votes = sum(member.faulty for member in members)
    faulty = 2 * votes > k
    status = _status(members)
    agreeing = [member for member in members if member.faulty == faulty]
    return Judgement(
        faulty=faulty,
        failure_step=_most_common(member.failure_step for member in agreeing),
        failure_type=_most_common(member.failure_type for member in agreeing),
        confidence=len(agreeing) / k,
        rationale=f"{votes} of {k} votes for faulty",
        latency_s=sum(member.latency_s for member in members),
        server_s=_total([member.server_s for member in members]),
        prompt_tokens=_total([member.prompt_tokens for member in members]),
        completion_tokens=_total([member.completion_tokens for member in members]),
        cost=_total([member.cost for member in members]),
        status=status,
        reason=None if status == "ok" else next(member.reason for member in members if member.status == status),
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
