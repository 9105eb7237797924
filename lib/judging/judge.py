"""The interface of a judge, and the three baselines that every judge is read against."""

from __future__ import annotations

import random
from typing import Any, Protocol

from lib.records import About, Judgement, View


class Judge(Protocol):
    """Anything that turns a view into a judgement, each of its study (``View`` and ``Judgement`` in part I).

    ``about`` says among others which view it is handed; ``settings`` is what run.json records beside it, and judges of
    one ``batch`` are taken trajectory by trajectory, since they share a prompt that a server keeps cached.
    """

    judge_id: str
    about: About
    batch: str

    def settings(self) -> dict[str, Any]: ...

    def judge(self, view: Any) -> Any: ...


class Constant:
    """Says the same of every trajectory, at confidence 0.5."""

    about = About(kind="baseline", fixed=True, baseline=True)
    batch = "baseline"

    def __init__(self, judge_id: str, faulty: bool) -> None:
        self.judge_id = judge_id
        self._faulty = faulty

    def settings(self) -> dict[str, Any]:
        return {"backend": "none"}

    def judge(self, view: View) -> Judgement:
        return _unasked(self._faulty, "the same for every trajectory")


class Coin:
    """A fair coin, seeded by the trajectory: it falls the same way each time, and yet stands for a random draw."""

    judge_id = "coin"
    about = About(kind="baseline", baseline=True)
    batch = "baseline"

    def settings(self) -> dict[str, Any]:
        return {"backend": "none"}

    def judge(self, view: View) -> Judgement:
        faulty = random.Random(f"coin-{view.token}").random() < 0.5
        return _unasked(faulty, "a coin seeded by the trajectory")


def _unasked(faulty: bool, rationale: str) -> Judgement:
    return Judgement(faulty=faulty, confidence=0.5, rationale=rationale, prompt_tokens=0, completion_tokens=0)
