"""What a judge's id says: its kind, its model, the model's size, and which single pass an ensemble is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_ENSEMBLE = re.compile(r"selfcons([2-9]|[1-9][0-9]{1,2})")
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s*([bBmM])(?![A-Za-z0-9])")
_UNITS = {"b": 1e9, "m": 1e6}
NO_MODEL = "no model"
UNKNOWN_SIZE = "size unknown"


class JudgeName(NamedTuple):
    """The parts of a judge's id, as in ``selfcons3:qwen2.5:14b``.

    Attributes:
        kind: ``outcome``, ``step``, ``selfcons``, or the whole id of a judge without a model.
        k: how often the model is asked per trajectory.
        model: the model's name; None for a judge without one.
    """

    kind: str
    k: int
    model: str | None

    @property
    def reasons(self) -> bool:
        """Whether its rationale is a model's own words (an ensemble's is a count of votes)."""
        return self.model is not None and self.kind != "selfcons"

    @property
    def sees_steps(self) -> bool:
        return self.kind != "outcome"


def judge_name(judge_id: str) -> JudgeName:
    kind, colon, model = judge_id.partition(":")
    if not colon:
        return JudgeName(judge_id, 1, None)
    ensemble = _ENSEMBLE.fullmatch(kind)
    return JudgeName("selfcons", int(ensemble[1]), model) if ensemble else JudgeName(kind, 1, model)


def with_model(judge_ids: Iterable[str]) -> list[str]:
    """The judges that ask a model, in their order."""
    return [judge for judge in judge_ids if judge_name(judge).model is not None]


def ensembles(judge_ids: Iterable[str]) -> dict[str, str]:
    """Each ensemble with the step judge of the same model, where the run has that too."""
    judges = list(judge_ids)
    single = {judge: f"step:{judge_name(judge).model}" for judge in judges if judge_name(judge).kind == "selfcons"}
    return {judge: step for judge, step in single.items() if step in judges}


def model_size(judge_id: str, settings: Mapping[str, Any] | None = None) -> float | None:
    """Number of parameters: what the server told (``weights`` in run.json), else what the model's name says.

    Args:
        settings: the judge's entry in run.json.

    Returns:
        None for a judge without a model, and where neither says it.
    """
    model = judge_name(judge_id).model
    if model is None:
        return None
    weights = (settings or {}).get("weights")
    told = weights if isinstance(weights, Mapping) else {}
    counted = told.get("n_params")
    if isinstance(counted, int | float) and counted > 0:
        return float(counted)
    found = [_SIZE.search(str(text)) for text in (told.get("parameter_size"), model)]
    return next((float(size[1]) * _UNITS[size[2].lower()] for size in found if size), None)


def size_text(judge_id: str, size: float | None) -> str:
    """A size in three digits, as in ``14.8B`` or ``135M``; in words where there is none."""
    if size is None:
        return NO_MODEL if judge_name(judge_id).model is None else UNKNOWN_SIZE
    return f"{size / 1e9:.3g}B" if size >= 999.5e6 else f"{size / 1e6:.3g}M"
