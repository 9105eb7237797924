"""What differs between studies: the kinds of record that a run's files hold, and how they hang together."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from lib.errors import COMMAND
from lib.records import About
from lib.run.lines import Problem, Problems, Spelling, read

Known = Mapping[Hashable, Any]
ColumnType = Literal["word", "text", "bool", "float", "int", "count"]
ROWS_AT_ONCE = 2_000
_DTYPES: dict[str, Any] = {"word": "i4", "text": object, "bool": bool, "float": float, "int": "i8", "count": "i8"}


@dataclass(frozen=True, eq=False)
class Kind:
    """A file of a run and the records in it.

    Attributes:
        file: its name; ``appended``: collectors add to it, so that its last line may be torn.
        key: fields that name a record; a second record of that key must be the same.
        columns: of the table of these records, by name; ``word`` is a text out of few, ``text`` is left out on
            demand, ``count`` may be missing.
        row: the values of these columns.
        check: the record (under the names used here), or Problem where it contradicts itself or what is known.
        parent: the kind that a record must belong to; ``known`` is the column of its table that checks look at.
    """

    file: str
    spelling: Spelling
    key: tuple[str, ...]
    columns: Mapping[str, ColumnType]
    row: Callable[[Any], tuple[Any, ...]]
    check: Callable[[Any, Known], Any]
    appended: bool = False
    parent: Kind | None = None
    known: str = ""

    def records(self, folder: Path, known: Known) -> dict[Hashable, Any]:
        """Records by key, in file order. Raises UserError."""
        problems, found, lines = self._problems(folder), dict[Hashable, Any](), dict[Hashable, int]()
        get = attrgetter(*self.key)
        for number, record in self._read(folder, known, problems):
            key = get(record)
            if found.setdefault(key, record) != record:
                problems.add(number, _contradiction(key, lines[key], found[key], record))
            lines.setdefault(key, number)
        problems.raise_any()
        return found

    def table(self, folder: Path, known: Known, *, text: bool = True) -> pd.DataFrame:
        """Records as columns, each key once, holding few records at a time. Raises UserError."""
        columns = _Columns(self, text=text)
        for _, record in self._read(folder, known, self._problems(folder)):
            columns.add(record)
        repeated = columns.repeated(self.key)
        if repeated.any():
            self.records(folder, known)
        frame = columns.frame()
        return frame[~repeated].reset_index(drop=True) if repeated.any() else frame

    def frame(self, records: Iterable[Any]) -> pd.DataFrame:
        """Records as columns."""
        columns = _Columns(self, text=True)
        for record in records:
            columns.add(record)
        return columns.frame()

    def _problems(self, folder: Path) -> Problems:
        again = (
            f"Correct these lines, or remove them: what is removed from {self.file} is collected again the next time."
            if self.appended
            else f"Correct the file, or move it away and make it again (`{COMMAND} dataset --help`)."
        )
        return Problems(folder / self.file, again)

    def _read(self, folder: Path, known: Known, problems: Problems) -> Iterator[tuple[int, Any]]:
        if not os.path.lexists(folder / self.file):
            return
        for number, record in read(folder / self.file, self.spelling, problems, torn_ok=self.appended):
            try:
                checked = self.check(record, known)
            except Problem as problem:
                problems.add(number, problem)
                continue
            yield number, checked


class Case(NamedTuple):
    """One thing to be judged.

    Attributes:
        key: of a verdict on it, but for the judge, which comes last.
        alike: cases whose prompts begin alike follow one another in this order.
        view: what a judge is shown, from how it describes itself.
    """

    key: tuple[str, ...]
    alike: tuple[Any, ...]
    view: Callable[[About], Any]


@dataclass(frozen=True, eq=False)
class Study:
    """The kinds of a study: ``items`` are judged, ``verdicts`` say of them; ``others`` come along.

    Attributes:
        cases: what there is to judge in a run of it, in the run's order.
        make: the command that makes a run of it.
        counted: columns of the table of items that ``check`` counts, with their values' order (None: sorted).
        described: judges of runs that do not describe them.
    """

    name: str
    items: Kind
    verdicts: Kind
    others: tuple[Kind, ...]
    cases: Callable[[Any], Sequence[Case]]
    make: str
    counted: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    described: Mapping[str, About] = field(default_factory=dict)

    @property
    def given(self) -> list[Kind]:
        """Kinds that a run is made with, parents first."""
        return [*(kind for kind in self.others if not kind.appended), self.items]

    @property
    def appended(self) -> list[Kind]:
        """Kinds that collectors add to."""
        return [kind for kind in (self.items, self.verdicts, *self.others) if kind.appended]


def _contradiction(key: Hashable, first: int, one: Any, two: Any) -> str:
    before, now = msgspec.to_builtins(one), msgspec.to_builtins(two)
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    shown = ", ".join(f"{name} {before.get(name)!r:.60} and {now.get(name)!r:.60}" for name in changed)
    name = " of ".join(reversed(key)) if isinstance(key, tuple) else key
    return f"{name} was given on line {first} already, and differently ({shown})"


class _Columns:
    """Records taken apart into growing arrays, some rows at a time; a word is a number until the end."""

    def __init__(self, kind: Kind, *, text: bool) -> None:
        self._kind = kind
        self._types = {name: column for name, column in kind.columns.items() if text or column != "text"}
        self._rows: list[tuple[Any, ...]] = []
        self._words: dict[str | None, int] = {}
        self._parts: dict[str, Any] = {
            name: [] if column == "text" else bytearray() for name, column in self._types.items()
        }

    def add(self, record: Any) -> None:
        self._rows.append(self._kind.row(record))
        if len(self._rows) == ROWS_AT_ONCE:
            self._pack()

    def repeated(self, key: Sequence[str]) -> Any:
        """By row, whether its key was there before."""
        self._pack()
        number = np.zeros(1, "i8")
        for name in key:
            number = number * len(self._words) + _array(self._parts[name], "word")
        return pd.Series(number).duplicated().to_numpy()

    def frame(self) -> pd.DataFrame:
        """The table; what it was made of is given up."""
        self._pack()
        words = np.array([*self._words], dtype=object)
        whole = {name: _whole(self._parts.pop(name), column, words) for name, column in self._types.items()}
        return pd.DataFrame(whole, copy=False)

    def _pack(self) -> None:
        for name, values in zip(self._kind.columns, zip(*self._rows, strict=True), strict=False):
            column = self._types.get(name)
            if column == "text":
                self._parts[name] += values
            elif column:
                self._parts[name] += self._numbers(values, column).tobytes()
        self._rows.clear()

    def _numbers(self, values: Sequence[Any], column: ColumnType) -> Any:
        if column == "word":
            values = [self._words.setdefault(value, len(self._words)) for value in values]
        elif column == "count":
            values = [-1 if value is None else value for value in values]
        return np.array(values, dtype=_DTYPES[column])


def _array(part: Any, column: ColumnType) -> Any:
    return np.frombuffer(part, dtype=_DTYPES[column]) if part else np.array([], dtype=_DTYPES[column])


def _whole(part: Any, column: ColumnType, words: Any) -> Any:
    values = np.array(part, dtype=object) if column == "text" else _array(part, column)
    if column == "count":
        return pd.arrays.IntegerArray(np.maximum(values, 0), values < 0)
    if column == "word":
        values = words[values]
    return pd.Series(values, dtype=values.dtype, copy=False)
