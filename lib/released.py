"""The run ``paper``: the figures of the released verdicts, on trajectories that our own code makes.

Kept are what a verdict says in figures and what an agent called; left out is every sentence (goals, thoughts, replies,
reasons, rationales). ``python -m lib.released`` makes the folder from the fetched original.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from lib import RUNS
from lib.desk.checker import PROSE_TOOLS
from lib.desk.environment import Instance, Instances, Move, replay
from lib.desk.injector import JudgedSet
from lib.errors import COMMAND, UserError
from lib.fetch import ADDRESS, FILES, ORIGINAL, fetch_paper, is_fetched
from lib.records import Step, ToolCall, Trajectory, Verdict
from lib.run.folder import Run
from lib.trajectories import EPISODES, QWEN, RELEASED, VERDICTS

PAPER = RUNS / "paper"
SEED, N, N_EPISODES = 7, 400, 60
WITHOUT = "WITHOUT_ORIGINAL"
"""Variable that is set while stored outputs are made or compared: they must not depend on what was fetched."""
FIGURES = (
    *("trajectory_id", "judge_id", "faulty", "failure_step", "failure_type", "confidence"),
    *("latency_s", "prompt_tokens", "completion_tokens", "error"),
)


def wording(run: Run) -> Run | None:
    """A run with its sentences: the original of the shipped ``paper`` once it is fetched, else the run itself.

    None where sentences were left out and are not here (``python -m lib fetch paper`` brings them).
    """
    if "source" not in run.manifest:
        return run
    return Run.open(ORIGINAL) if not os.environ.get(WITHOUT) and is_fetched(ORIGINAL) else None


def make(original: Run, folder: Path) -> Run:
    """The run without sentences, from the released files. Raises UserError where ours and theirs are not the same."""
    ours, theirs = list(JudgedSet(N, SEED)), list(original.trajectories().values())
    for mine, released in zip(ours, theirs, strict=True):
        if _facts(mine) != _facts(released):
            raise UserError(f"{original.folder}: {released.trajectory_id} is not what our own code makes.")
    run = Run.create(folder, _about(), ours)
    instances = Instances(SEED, N_EPISODES)
    played = zip(instances, original.episodes().values(), strict=True)
    kept = {
        "verdicts.jsonl": [VERDICTS.spelling.encode(_figures(verdict)) for verdict in original.verdicts()],
        "episodes.jsonl": [EPISODES.spelling.encode(_without_prose(instance, episode)) for instance, episode in played],
    }
    for name, lines in kept.items():
        (folder / name).write_bytes(b"".join(lines))
    return run


def _figures(verdict: Verdict) -> Verdict:
    return Verdict(**{name: getattr(verdict, name) for name in FIGURES})


def _without_prose(instance: Instance, episode: Trajectory) -> Trajectory:
    """An episode's calls played again on our desk; equal texts become one stand-in, so that repeats stay countable."""
    stand_ins = {"": ""}

    def stand_in(text: str) -> str:
        return stand_ins.setdefault(text, f"[text {len(stand_ins)}, not kept here]")

    def bare(call: ToolCall) -> ToolCall:
        prose = call.tool in PROSE_TOOLS
        return ToolCall(call.tool, {name: stand_in(value) if prose else value for name, value in call.args.items()})

    steps = replay(instance, [Move("", bare(step.call)) for step in episode.steps])
    answer = stand_in(episode.final_answer)
    made = Trajectory(episode.trajectory_id, instance.instance_id, instance.goal, steps, answer, episode.label)
    if _facts(made) != _facts(episode):
        raise UserError(f"{episode.trajectory_id}: our desk answers these calls otherwise.")
    return made


def _facts(trajectory: Trajectory) -> tuple[Any, ...]:
    """What is to be the same of theirs and ours: all but the sentences."""
    steps = [_bare(step) for step in trajectory.steps]
    return trajectory.trajectory_id, trajectory.instance_id, trajectory.label, steps


def _bare(step: Step) -> tuple[Any, ...]:
    """A step without its sentences; the desk repeats a reason to escalate in its observation."""
    prose = step.call.tool in PROSE_TOOLS
    data = {name: value for name, value in step.observation.data.items() if name != "reason" or not prose}
    return step.index, step.call.tool, {} if prose else step.call.args, step.observation.ok, data


def _about() -> dict[str, Any]:
    _, _, _, owner, repository, commit = ADDRESS.split("/")
    return {
        "name": "paper",
        "dataset": {"seed": SEED, "n": N, "shortfall": 0},
        "source": {
            "title": "trajectory-judge: What Outcome-Only LLM Judges Miss on Agent Trajectories",
            "author": "Hadi Mohammadi",
            "arxiv": "2609.00038",
            "repository": f"https://github.com/{owner}/{repository}",
            "commit": commit,
            "licence": "MIT",
            "kept": "figures of each verdict; the agent's calls, on this project's own desk",
            "left_out": f"goals, thoughts, replies, reasons and rationales: `{COMMAND} fetch paper`",
            "files": [file._asdict() for file in FILES],
        },
        "judges": {judge: {"about": to_builtins(about)} for judge, about in RELEASED.items()},
        "episodes": {"model": QWEN, "collections": [{"limit": N_EPISODES}]},
    }


def main() -> None:
    """Make data/runs/paper anew from the fetched original."""
    original = fetch_paper()
    with tempfile.TemporaryDirectory() as folder:
        made = make(original, Path(folder) / "paper")
        shutil.copytree(made.folder, PAPER, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
