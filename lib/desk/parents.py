"""The clean parents of a run's mutants, in the run's own words.

A mutant has a twin that a judge can't tell from it exactly when its parent reads the same, so the parent must be told
in the words of the run: a run of another maker (the paper's released one) has other thoughts and replies than our
oracle, though its calls and observations are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from lib.desk.environment import Instances
from lib.desk.oracle import solve
from lib.records import STRATA, Step, ToolCall, Trajectory, stratum_of

SHORTEST = 3
"""Values of fewer characters are left alone in a text: they may stand there by chance."""


class Parents(NamedTuple):
    """The parents that were found.

    Attributes:
        by_instance: clean trajectory by instance id.
        own, regenerated, reworded, missing: mutants whose parent is a clean trajectory of the run, is made anew (the
            run speaks our oracle's words), is made anew in the words of another clean trajectory of the run, or is
            not known.
        checked, matched: clean trajectories of the run that were told from another one to test the rewording, and
            how many came out exactly as they stand.
    """

    by_instance: dict[str, Trajectory]
    own: int
    regenerated: int
    reworded: int
    missing: int
    checked: int
    matched: int


def clean_parents(trajectories: Iterable[Trajectory], seed: int | None) -> Parents:
    """The parent of each mutant of a run.

    Args:
        seed: that of the run's instances; None if unknown, which leaves only the run's own clean trajectories.
    """
    runs = list(trajectories)
    own = {t.instance_id: t for t in runs if not t.label.faulty}
    mutants = [t for t in runs if t.label.faulty]
    ours = _regenerated(runs, seed)
    known = [t for t in own.values() if t.instance_id in ours]
    spoken = bool(known) and all(_same_words(ours[t.instance_id], t) for t in known)
    told = [] if spoken else [(t, donor) for t in known if (donor := _donor(t, known)) is not None]
    matched = sum(_same_words(reword(ours[t.instance_id], donor), t) for t, donor in told)
    trusted = bool(told) and matched == len(told)
    counts = dict.fromkeys(("own", "regenerated", "reworded", "missing"), 0)
    found = dict(own)
    for mutant in mutants:
        name = mutant.instance_id
        made = ours.get(name)
        donor = _donor(made, known) if made is not None and trusted else None
        if name in own:
            source = "own"
        elif made is not None and spoken:
            source, found[name] = "regenerated", made
        elif made is not None and donor is not None:
            source, found[name] = "reworded", reword(made, donor)
        else:
            source = "missing"
        counts[source] += 1
    return Parents(found, **counts, checked=len(told), matched=matched)


def changed_views(trajectories: Iterable[Trajectory], seed: int | None) -> dict[str, dict[str, bool | None]]:
    """Whether each mutant's fault changes what a judge is shown: in the outcome view (its reply), and in the steps.

    Returns:
        Per view (as ``lib.records.Sees``), by trajectory id; None where the parent is not known.
    """
    runs = list(trajectories)
    parents = clean_parents(runs, seed).by_instance
    outcome: dict[str, bool | None] = {}
    step: dict[str, bool | None] = {}
    for mutant in (t for t in runs if t.label.faulty):
        parent = parents.get(mutant.instance_id)
        name = mutant.trajectory_id
        outcome[name] = None if parent is None else parent.final_answer != mutant.final_answer
        step[name] = None if parent is None else not _same_words(parent, mutant)
    return {"outcome": outcome, "step": step}


def seed_of(manifest: Mapping[str, Any]) -> int | None:
    """The seed of the run's instances, from a manifest of either shape; None where it does not say."""
    collections = manifest.get("runs")
    told = [manifest.get("dataset"), *(collections if isinstance(collections, list) else [])]
    seeds = [one["seed"] for one in told if isinstance(one, dict) and type(one.get("seed")) is int]
    return seeds[0] if len(set(seeds)) == 1 else None


def reword(parent: Trajectory, donor: Trajectory) -> Trajectory:
    """A clean trajectory told in the words of another of its stratum: thoughts and reply, with its own values in them.

    Raises ValueError where the two do not make the same calls.
    """
    if [step.call.tool for step in parent.steps] != [step.call.tool for step in donor.steps]:
        raise ValueError(f"{donor.trajectory_id} makes other calls than {parent.trajectory_id}")
    values = _values(donor, parent)
    longest_first = sorted(values, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, longest_first))})(?!\w)")

    def say(text: str) -> str:
        return pattern.sub(lambda found: values[found[0]], text)

    steps = [
        replace(step, thought=say(said.thought), call=_call(step, say(str(said.call.args.get("text")))))
        for step, said in zip(parent.steps, donor.steps, strict=True)
    ]
    return replace(parent, steps=steps, final_answer=say(donor.final_answer))


def _regenerated(runs: list[Trajectory], seed: int | None) -> dict[str, Trajectory]:
    """Our oracle's trajectory of each instance that is the run's, by what was asked and by the first observation."""
    if seed is None:
        return {}
    first = {t.instance_id: t for t in reversed(runs) if stratum_of(t.instance_id) is not None and t.steps}
    most = len(STRATA) * (len(runs) + 1)  # a judged set takes fewer instances; an id beyond is of another making
    places = {name: place for name in first if (place := int(name.removeprefix("INS-"))) < most}
    instances = Instances(seed, max(places.values(), default=-1) + 1)
    made = {name: solve(instances[place]) for name, place in places.items()}
    return {name: t for name, t in made.items() if _same_case(t, first[name])}


def _same_case(made: Trajectory, stored: Trajectory) -> bool:
    return made.goal == stored.goal and made.steps[0].observation == stored.steps[0].observation


def _same_words(one: Trajectory, other: Trajectory) -> bool:
    return one.steps == other.steps and one.final_answer == other.final_answer


def _donor(told: Trajectory, clean: list[Trajectory]) -> Trajectory | None:
    stratum = stratum_of(told.instance_id)
    others = (t for t in clean if t.instance_id != told.instance_id and stratum_of(t.instance_id) == stratum)
    return next(others, None)


def _call(step: Step, text: str) -> ToolCall:
    return ToolCall(step.call.tool, {"text": text}) if step.call.tool == "reply" else step.call


def _values(donor: Trajectory, parent: Trajectory) -> dict[str, str]:
    """What stands in the donor's observations, each with what stands at the same place in the parent's."""
    values = {donor.goal: parent.goal}
    for said, step in zip(donor.steps, parent.steps, strict=True):
        for key, value in said.observation.data.items():
            shown, own = _shown(value), _shown(step.observation.data.get(key))
            if shown is not None and own is not None:
                values[shown] = own
    return values


def _shown(value: Any) -> str | None:
    """A value as a reply shows it: texts as they are, amounts in cents; None for what is too short to be told."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return value if isinstance(value, str) and len(value) >= SHORTEST else None
