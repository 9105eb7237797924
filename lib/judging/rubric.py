"""A rubric, or a brief, of one's own: text files that need no code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from lib.desk.environment import TOOLS
from lib.errors import UserError
from lib.judging.prompts import CONFIDENCE, DESK, Brief, Rubric, reply_form, reply_schema, rubrics
from lib.judging.roster import MODEL_FREE, MODEL_JUDGES
from lib.records import FAULT_TYPES, Sees, Trajectory, judge_id_fault, stratum_of
from lib.run.lines import opened

PLACES = ("procedure", "view", "reply form")
TYPES_BEGIN = "Failure types:"
MOST_BYTES = 100_000

_PLACE = re.compile(r"\{([A-Za-z][A-Za-z _-]{0,40})\}")
_TYPE = re.compile(r"-\s+([a-z_]+):\s+(\S.*)")


def chosen(
    names: Collection[str], prompt: Path | None, name: str | None, sees: Sees, brief: Path | None
) -> dict[str, Rubric]:
    """The rubrics by which the judges of these names ask: the project's own, or on a brief or by a prompt of a file.

    Raises UserError where a file does not hold what it should, or a rubric lacks its prompt or name.
    """
    told = DESK if brief is None else read_brief(brief)
    found = rubrics(told)
    if "rubric" in names:
        if prompt is None or name is None:
            raise UserError("The judge 'rubric' asks by a prompt of your own: give --prompt FILE and --name NAME.")
        found["rubric"] = read_rubric(prompt, name, sees, told)
    elif prompt is not None or name is not None:
        raise UserError("--prompt and --name are of --judge rubric: add it, or leave them out.")
    return found


def read_brief(path: Path) -> Brief:
    """A procedure in any words, a line ``Failure types:``, and a line ``- type: what it means`` for each type.

    Raises UserError where a part is missing, or a type is none of ``FAULT_TYPES``.
    """
    text, sha256 = _read(path)
    procedure, *rest = re.split(rf"^{TYPES_BEGIN}[ \t]*$", text, flags=re.MULTILINE)
    if len(rest) != 1 or not procedure.strip():
        raise UserError(f"{path}: a procedure is expected, then one line {TYPES_BEGIN!r}, then a line for each type.")
    types: dict[str, str] = {}
    for line in filter(None, map(str.strip, rest[0].splitlines())):
        match = _TYPE.fullmatch(line)
        if match is None or match[1] not in FAULT_TYPES or match[1] in types:
            known = ", ".join(FAULT_TYPES)
            raise UserError(f"{path}: {line[:60]!a} is not one of {known}, each at most once, as in '- type: meaning'.")
        types[match[1]] = match[2]
    if not types:
        raise UserError(
            f"{path}: no failure type stands after {TYPES_BEGIN!r}; give '- type: meaning' for one or more."
        )
    files = {"brief_sha256": sha256}
    return Brief(opening="You are auditing an agent.", procedure=procedure.strip(), types=types, files=files)


def read_rubric(path: Path, name: str, sees: Sees, brief: Brief) -> Rubric:
    """A prompt with each of ``PLACES`` once, in curly brackets. Raises UserError."""
    if name in MODEL_FREE or name in MODEL_JUDGES or ":" in name or judge_id_fault(name):
        raise UserError(f"--name {name!a} is taken, holds a colon, or cannot be shown; choose another name.")
    text, sha256 = _read(path)
    found = _PLACE.findall(text)
    if unknown := [place for place in found if place not in PLACES]:
        places = ", ".join(f"{{{place}}}" for place in PLACES)
        raise UserError(f"{path}: {{{unknown[0]}}} is no place that is known; there are {places}.")
    if wrong := [place for place in PLACES if found.count(place) != 1]:
        raise UserError(f"{path}: {{{wrong[0]}}} has to stand there once, not {found.count(wrong[0])} times.")
    schema = reply_schema(sees, brief.types)
    filled = {
        "procedure": f"{brief.procedure}\n\n{TYPES_BEGIN}\n{brief.taxonomy()}",
        "reply form": f"{reply_form(schema)}\n{CONFIDENCE}",
    }
    before, after = (_PLACE.sub(lambda place: filled[place[1]], part) for part in text.split("{view}"))
    return Rubric(
        name=name,
        kind="rubric",
        sees=sees,
        before=f"{before}--- BEGIN ---\n",
        after=after.removeprefix("\n"),
        schema=schema,
        states_form=True,
        files={"rubric_sha256": sha256} | brief.files,
    )


def refuse_foreign(names: Iterable[str], trajectories: Iterable[Trajectory], brief: bool) -> None:
    """Raises UserError where judges would hold trajectories of another making to the desk's procedure.

    The desk's own are of its instances (``INS-…``) and call no tool but its tools.
    """
    bound = [name for name in names if name == "rules" or (name in MODEL_JUDGES and not brief)]
    for trajectory in trajectories if bound else ():
        tools = [step.call.tool for step in trajectory.steps if step.call.tool not in TOOLS]
        if tools or stratum_of(trajectory.instance_id) is None:
            why = f"it calls {tools[0]!a}" if tools else f"its instance is {trajectory.instance_id!a}"
            remedy = "Leave them out" if bound[0] == "rules" else "Give the procedure to be followed: --brief FILE"
            raise UserError(
                f"{trajectory.trajectory_id} is no trajectory of the refund desk ({why}), but {bound[0]} would hold it"
                f" to the desk's procedure. {remedy}."
            )


def _read(path: Path) -> tuple[str, str]:
    """A file's text and its checksum."""
    with opened(path) as file:
        data = file.read(MOST_BYTES + 1)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is no UTF-8 text (byte {error.start + 1}); save it as UTF-8.") from error
    if len(data) > MOST_BYTES or not text.strip():
        raise UserError(f"{path}: is empty, or longer than {MOST_BYTES} bytes.")
    return text, hashlib.sha256(data).hexdigest()
