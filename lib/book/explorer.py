"""The data of the verdict explorer: for each run one script of scores, and its trajectories in parts.

A page that is opened from a file can't fetch JSON, so every file here is a script that calls ``explorerData`` with its
name and its content. The page loads the scores at once, a part when a trajectory of it is opened, and all parts when
their text is searched. Whatever comes from models or data is in these files as JSON strings in ASCII, and nowhere in
the page itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lib.book.layout import Shown
from lib.desk.checker import check
from lib.records import FAULT_TYPES, STRATA, About, Judgement, Step, Trajectory, Verdict, stratum_of
from lib.released import wording
from lib.run.folder import Run
from lib.show import style
from lib.show.trajectory import call_text, observation_text

FOLDER = "explorer-data"
PART_BYTES = 64_000
"""A part is closed before it grows beyond this, unless one trajectory alone does."""

EPISODES = "/episodes"
"""Ends the name under which a run's episodes are offered; no run's own name holds a slash."""

NONE = -1


def write_explorer(html: Path, shown: Sequence[Shown]) -> None:
    """Write the explorer's data into a built book; the same runs give the same bytes.

    Args:
        html: the folder with the book's pages.
        shown: the runs to offer, the first one at first.
    """
    folder = html / FOLDER
    runs: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    for one in shown:
        kept = Run.open(one.folder)
        run = wording(kept) or kept
        for name, found in ((one.name, run_files), (one.name + EPISODES, episode_files)):
            if of_run := found(name, run):
                version = hashlib.sha256(b"".join(of_run.values())).hexdigest()[:12]
                runs.append({"name": name, "version": version})
                files |= of_run
    files["runs"] = script("runs", runs)
    wanted = {folder / f"{name}.js": content for name, content in files.items()}
    for path in set(folder.rglob("*.js")) - set(wanted):
        path.unlink()
    for path, content in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def run_files(name: str, run: Run) -> dict[str, bytes]:
    """The scripts of one run, without their ending ``.js``: ``name/index`` and ``name/part-000`` and so on."""
    trajectories = sorted(run.trajectories().values(), key=lambda trajectory: trajectory.trajectory_id)
    verdicts = run.verdicts()
    about = run.judges(pd.DataFrame({"judge_id": [verdict.judge_id for verdict in verdicts]}, dtype=object))
    given = {(verdict.trajectory_id, verdict.judge_id): verdict for verdict in verdicts}
    judged = {judge for _, judge in given}
    about = {judge: told for judge, told in about.items() if judge in judged}
    judges = list(about)
    index = {
        "judges": judge_looks(about),
        "verdicts": [verdict_columns([given.get((t.trajectory_id, judge)) for t in trajectories]) for judge in judges],
        "wordless": bool(verdicts) and not any(verdict.rationale for verdict in verdicts),
    }
    detailed = [details(trajectory, _said_of(trajectory, judges, given)) for trajectory in trajectories]
    return _files(name, trajectories, index, detailed)


def episode_files(name: str, run: Run) -> dict[str, bytes]:
    """The scripts of a run's episodes: no judge saw them, but each says which rules its steps break. None: no file."""
    episodes = sorted(run.episodes().values(), key=lambda episode: episode.trajectory_id)
    if not episodes:
        return {}
    detailed = [{**details(one, {}), "broken": _broken(one)} for one in episodes]
    return _files(name, episodes, {"judges": [], "verdicts": [], "episodes": True}, detailed)


def _files(
    name: str, trajectories: Sequence[Trajectory], index: dict[str, Any], detailed: Sequence[dict[str, Any]]
) -> dict[str, bytes]:
    parts = parts_of(detailed)
    starts = [sum(map(len, parts[:number])) for number in range(len(parts))]
    files = {f"{name}/index": script(f"{name}/index", {**trajectory_columns(trajectories), **index, "starts": starts})}
    for number, part in enumerate(parts):
        key = f"{name}/part-{number:03d}"
        files[key] = script(key, part)
    return files


def _broken(episode: Trajectory) -> list[tuple[int, str]]:
    return [(found.step, found.message) for found in check(episode.goal, episode.steps)]


def script(key: str, content: Any) -> bytes:
    """A script that hands over ``content``: ASCII only, and nothing in it can end a script or begin a tag."""
    return f"explorerData({json.dumps(key)},{_json(content)});\n".replace("<", "\\u003c").encode("ascii")


def trajectory_columns(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """What the page filters trajectories by, one list per column; -1 stands for none."""
    instances = sorted({trajectory.instance_id for trajectory in trajectories})
    place = {instance: position for position, instance in enumerate(instances)}
    labels = [trajectory.label for trajectory in trajectories]
    return {
        "types": FAULT_TYPES,
        "strata": STRATA,
        "instances": instances,
        "instance_strata": [_code(STRATA, stratum_of(instance)) for instance in instances],
        "ids": [trajectory.trajectory_id for trajectory in trajectories],
        "instance": [place[trajectory.instance_id] for trajectory in trajectories],
        "faulty": "".join("01"[label.faulty] for label in labels),
        "type": [_code(FAULT_TYPES, label.failure_type) for label in labels],
        "step": [_number(label.failure_step) for label in labels],
        "correct": "".join("01"[label.outcome_correct] for label in labels),
    }


def verdict_columns(verdicts: Sequence[Verdict | None]) -> dict[str, Any]:
    """What the page filters verdicts by: those of one judge in the order of the trajectories.

    ``said`` has a character for each: ``1`` flagged, ``0`` passed, ``-`` no verdict; ``status`` the first letter of it.
    """
    return {
        "said": "".join("-" if verdict is None else "01"[verdict.faulty] for verdict in verdicts),
        "status": "".join("-" if verdict is None else verdict.status[0] for verdict in verdicts),
        "type": [NONE if verdict is None else _code(FAULT_TYPES, verdict.failure_type) for verdict in verdicts],
        "step": [NONE if verdict is None else _number(verdict.failure_step) for verdict in verdicts],
        "confidence": [NONE if verdict is None else verdict.confidence for verdict in verdicts],
    }


def judge_looks(about: Mapping[str, About]) -> list[dict[str, Any]]:
    """Id, colour and shape of each judge, as in the charts, and whether it is a baseline.

    Agreement between judges is counted without baselines, which see nothing of the trajectory.
    """
    style.judges(about)
    scales = style.judge_scales()
    looks = zip(about, scales.colour.range, scales.shape.range, strict=True)
    return [
        {"id": judge, "colour": colour, "shape": shape, "baseline": about[judge].baseline}
        for judge, colour, shape in looks
    ]


def details(trajectory: Trajectory, verdicts: Mapping[int, Verdict]) -> dict[str, Any]:
    """What the page shows of an opened trajectory.

    Args:
        verdicts: by the judge's place among the run's judges.
    """
    return {
        "goal": trajectory.goal,
        "steps": [_step(step) for step in trajectory.steps],
        "answer": trajectory.final_answer,
        "verdicts": [{"judge": place, **_judgement(verdict)} for place, verdict in verdicts.items()],
    }


def parts_of(detailed: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The details in consecutive parts of about ``PART_BYTES`` each."""
    parts: list[list[dict[str, Any]]] = []
    room = 0
    for one in detailed:
        size = len(_json(one))
        if not parts or size > room:
            parts.append([])
            room = PART_BYTES
        parts[-1].append(one)
        room -= size
    return parts


def _said_of(
    trajectory: Trajectory, judges: Sequence[str], given: Mapping[tuple[str, str], Verdict]
) -> dict[int, Verdict]:
    keys = ((place, (trajectory.trajectory_id, judge)) for place, judge in enumerate(judges))
    return {place: given[key] for place, key in keys if key in given}


def _step(step: Step) -> dict[str, Any]:
    return {
        "thought": step.thought,
        "tool": step.call.tool,
        "call": call_text(step),
        "ok": step.observation.ok,
        "observation": observation_text(step),
    }


def _judgement(said: Judgement) -> dict[str, Any]:
    """A judgement without what is empty; a reply's own words only where they were not simply taken as they stood."""
    read = said.status != "ok" or said.coercions or said.error
    shown = {
        "flagged": said.faulty,
        "step": said.failure_step,
        "type": said.failure_type,
        "confidence": said.confidence,
        "rationale": said.rationale,
        "status": None if said.status == "ok" else said.status,
        "seconds": said.latency_s,
        "prompt_tokens": said.prompt_tokens,
        "completion_tokens": said.completion_tokens,
        "error": said.error,
        "coercions": said.coercions,
        "raw_step": None if said.raw_step is None else json.dumps(said.raw_step, ensure_ascii=False),
        "raw_reply": said.raw_reply if read else None,
        "finish_reason": said.finish_reason if read else None,
        "members": [_judgement(member) for member in said.members],
    }
    return {name: value for name, value in shown.items() if value is not None and value not in ("", [])}


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _code(names: Sequence[str], name: str | None) -> int:
    return NONE if name is None else names.index(name)


def _number(value: int | None) -> int:
    return NONE if value is None else value
