"""Files of AgentJudgeBench, read from a folder: its data set, its generators' plans and its judged rows.

The layout is that of the released code: ``<generator>/<tier>.jsonl`` for plans and
``<generator>/judged_by_<judge>/[<run>/]…<tier>….json`` for judged rows. Everything is checked before it is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import pandas as pd

from lib.errors import UserError
from lib.plans.records import METRICS, TIERS, TOPOLOGIES, Edge, Parameter, Plan, Record, Tier, Tool, Topology
from lib.plans.replies import Unread, read_call
from lib.records import ToolCall
from lib.run.lines import BOM, Problem, Problems, Spelling, loads, opened, read

REQUESTS: dict[Tier, str] = {"easy": "user_message", "medium": "query_medium", "hard": "query_hard"}
RESPONSES = {"with": "judge_response", "without": "judge_response_no_gt"}
_TIER = re.compile(rf"(?<![a-z])({'|'.join(TIERS)})(?![a-z])")
_REMEDY = "Correct the row or remove it."


class _Row(NamedTuple):
    """A row of a file, with words for what is wrong with it."""

    file: Path
    number: int
    fields: dict[str, Any]

    def bad(self, field: str, problem: str) -> NoReturn:
        raise UserError(f"{self.file}, row {self.number}, field {field}: {problem}. {_REMEDY}")

    def text(self, field: str) -> str:
        value = self.fields.get(field)
        if not isinstance(value, str) or not value.strip():
            self.bad(field, "a text is needed")
        return value

    def decoded(self, field: str) -> Any:
        """The value of a field that holds JSON, as text or as it is."""
        return self.unpacked(field, self.fields.get(field))

    def unpacked(self, field: str, value: Any) -> Any:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            self.bad(field, "its text is no JSON")

    def calls(self, field: str, value: Any) -> list[ToolCall]:
        try:
            return [read_call(call) for call in self.listed(field, value)]
        except Unread as unread:
            self.bad(field, str(unread))

    def listed(self, field: str, value: Any) -> list[Any]:
        value = self.unpacked(field, value)
        if not isinstance(value, list):
            self.bad(field, "a list is needed")
        return value

    def topology(self) -> Topology:
        kind = self.text("dag_type").replace("-", "_").replace(" ", "_")
        if kind not in TOPOLOGIES:
            self.bad("dag_type", f"{kind} is none of {', '.join(TOPOLOGIES)}")
        return kind


def read_records(folder: Path) -> list[Record]:
    """The records of the data set's files (``.json`` or ``.jsonl``) in a folder; a tier that fell back stays in.

    Topology is the one that is named there. Edges join each assistant turn's calls to the next turn's, since calls of
    one turn run side by side. Raises UserError for a file, row or field that cannot be read, or an id given twice.
    """
    records: dict[str, Record] = {}
    for path in _files(folder, ""):
        for row in _rows(path):
            record = _record(row)
            if records.setdefault(record.record_id, record) != record:
                row.bad("id", f"{record.record_id} was given before, and differently")
    return list(records.values())


def read_plans(folder: Path) -> list[Plan]:
    """What generators planned, from ``<generator>/<tier>.jsonl``; a null or empty plan is left out, as it is there.

    Other files beside them, such as those with a corrupted reference, hold the same plans again and are not read.
    """
    return [
        Plan(
            plan_id=f"{path.parent.name}/{_tier(path)}/{row.text('id')}",
            record_id=row.text("id"),
            planner=path.parent.name,
            tier=_tier(path),
            fault=None,
            rate=None,
            calls=row.calls("generated_tool_calls", row.fields["generated_tool_calls"]),
        )
        for path in _files(folder, "*/")
        if path.stem in TIERS and not path.parent.name.startswith("judged_by_")
        for row in _rows(path)
        if row.fields.get("generated_tool_calls") not in (None, "", [], "[]")
    ]


def read_judged(folder: Path) -> pd.DataFrame:
    """One row a verdict and metric: planner, model, run, tier, kind, topology, metric, instance, truth, level.

    ``model`` is the judge and ``kind`` how it was asked (``with`` or ``without`` a reference), ``instance`` the record.
    ``truth`` is the programmatic judge's and ``level`` the model's, NaN where it gave none. ``run`` is the folder in
    which a judge's file lies, if it has one of its own. Raises UserError, also for two files of one planner, judge, run
    and tier: the released code writes all conditions into one folder.
    """
    cells: dict[tuple[str, ...], Path] = {}
    frames = []
    for path in _files(folder, "**/judged_by_*/**/"):
        parts = path.relative_to(folder).parts
        place = next(i for i, part in enumerate(parts) if part.startswith("judged_by_"))
        judge, run = parts[place].removeprefix("judged_by_"), "/".join(parts[place + 1 : -1])
        planner = parts[place - 1] if place else folder.name
        cell = (planner, judge, run, _tier(path))
        if cell in cells:
            raise UserError(
                f"{path} and {cells[cell]} both hold {' '.join(filter(None, cell))}; perhaps of two conditions. "
                "Put each condition's files into a folder of its own under judged_by_…, or remove one."
            )
        cells[cell] = path
        rows = pd.DataFrame([line for row in _rows(path) for line in _judged(row)], columns=_COLUMNS)
        frames.append(rows.assign(planner=planner, model=judge, run=run, tier=_tier(path)))
    whole = pd.concat(frames, ignore_index=True)
    few = ["planner", "model", "run", "tier", "kind", "topology", "metric"]
    return whole.astype(dict.fromkeys(few, "category"))[[*few, "instance", "truth", "level"]]


_COLUMNS = ["instance", "topology", "kind", "metric", "truth", "level"]


def _judged(row: _Row) -> Iterator[tuple[Any, ...]]:
    truth, topology = row.decoded("programmatic_judge_response"), row.topology()
    for condition, field in RESPONSES.items():
        said = row.decoded(field)
        for metric in METRICS:
            p = _level(row, "programmatic_judge_response", truth, metric)
            if p is None:
                row.bad("programmatic_judge_response", f"{metric}_accuracy is missing")
            yield row.text("id"), topology, condition, metric, p, _level(row, field, said, metric)


def _level(row: _Row, field: str, response: Any, metric: str) -> float | None:
    said = response.get(f"{metric}_accuracy") if isinstance(response, dict) else None
    value = said.get("accuracy") if isinstance(said, dict) else None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        row.bad(field, f"{metric}_accuracy is {value!r:.40}; valid is a number from 0 to 1")
    return float(value)


def _record(row: _Row) -> Record:
    messages = row.listed("expected_responses", row.fields.get("expected_responses"))
    turns = [m for m in messages if isinstance(m, dict) and m.get("role") == "assistant" and m.get("tool_calls")]
    expected: list[ToolCall] = []
    edges: list[Edge] = []
    before: range = range(0)
    for turn in turns:
        made = row.calls("expected_responses", turn["tool_calls"])
        now = range(len(expected), len(expected) + len(made))
        edges += [(a, b) for a in before for b in now]
        expected, before = expected + made, now
    return Record(
        record_id=row.text("id"),
        domain="",
        topology=row.topology(),
        tools=[_tool(row, tool) for tool in row.listed("available_tools", row.fields.get("available_tools"))],
        expected=expected,
        edges=edges,
        requests={tier: row.text(field) for tier, field in REQUESTS.items()},
    )


def _tool(row: _Row, tool: Any) -> Tool:
    told = tool.get("function", tool) if isinstance(tool, dict) else {}
    name, schema = told.get("name"), told.get("parameters") or {}
    held = schema.get("properties", {}) if isinstance(schema, dict) else None
    if not isinstance(name, str) or not isinstance(held, dict) or not all(isinstance(p, dict) for p in held.values()):
        row.bad("available_tools", "a tool has no name, or its parameters are no schema")
    required = schema.get("required") or []
    parameters = [
        Parameter(
            name=key,
            type=str(p.get("type", "any")),
            description=str(p.get("description", "")),
            required=key in required,
            choices=[str(choice) for choice in p.get("enum") or []],
        )
        for key, p in held.items()
    ]
    return Tool(name, str(told.get("description", "")), parameters)


def _files(folder: Path, below: str) -> list[Path]:
    found = sorted(path for end in ("json", "jsonl") for path in folder.glob(f"{below}*.{end}"))
    if not found:
        raise UserError(f"{folder} holds no file {below}*.json or {below}*.jsonl. Name the folder of the download.")
    return found


def _tier(path: Path) -> Tier:
    """The last tier that a file's name holds, since a model's name may hold one too."""
    named = _TIER.findall(path.stem)
    if not named:
        raise UserError(f"{path}: its name must hold one of {', '.join(TIERS)}. Rename the file.")
    return cast(Tier, named[-1])


def _rows(path: Path) -> Iterator[_Row]:
    """The objects of a JSON array, or of the lines of a file."""
    if path.suffix == ".jsonl":
        found: Iterable[tuple[int, Any]] = read(path, Spelling(dict), Problems(path, _REMEDY), torn_ok=False)
    else:
        with opened(path) as file:
            found = enumerate(_array(path, file.read()), start=1)
    number = 0
    for number, fields in found:
        if not isinstance(fields, dict):
            raise UserError(f"{path}, row {number}: it is no object. {_REMEDY}")
        yield _Row(path, number, fields)
    if not number:
        raise UserError(f"{path} holds no list of rows. Download it again, or remove it.")


def _array(path: Path, raw: bytes) -> list[Any]:
    try:
        whole = loads(raw.removeprefix(BOM))
    except Problem as problem:
        raise UserError(f"{path}: {problem}. Download it again.") from problem
    return whole if isinstance(whole, list) else []
