"""One record a line: reading with errors a user can act on, and writing that other readers can trust.

Lines end at ``\\n`` only; a byte-order mark and ``\\r\\n`` are tolerated, blank lines are skipped. Lone surrogate
escapes (which strict JSON readers reject) load and are written back as they were.
"""

from __future__ import annotations

import codecs
import io
import json
import logging
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lib.errors import UserError

log = logging.getLogger(__name__)

BOM = b"\xef\xbb\xbf"
MOST_PROBLEMS = 10
_ENCODER = msgspec.json.Encoder()
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Problem(Exception):
    """What is wrong with one record; the reader adds file and line number."""

    def __init__(self, field: str | None, what: str) -> None:
        super().__init__(f"field {field}: {what}" if field else what)


class Problems:
    """Collects what is wrong with a file, so that one error reports several lines at once."""

    def __init__(self, path: Path, remedy: str) -> None:
        self.path, self.remedy, self.lines = path, remedy, list[str]()

    def add(self, number: int, problem: Problem | str) -> None:
        """Note a problem at a line; raises once there are ten."""
        self.lines.append(f"{self.path}, line {number}: {problem}")
        if len(self.lines) >= MOST_PROBLEMS:
            self.lines.append("(and perhaps more: reading stopped here)")
            self.raise_any()

    def raise_any(self) -> None:
        """Raise UserError if anything was noted."""
        if self.lines:
            raise UserError("\n".join([*self.lines, self.remedy]))


class Last(NamedTuple):
    """The last line of a file that is not blank: 1-based number, byte offset, bytes, and whether it had an end."""

    number: int
    offset: int
    raw: bytes
    terminated: bool


class Spelling:
    """How records of one type are spelled on a line, and read back.

    A line that reads as it would be written hides nothing. Any other one goes through Python's reader, which is slow
    but sees a key that comes twice; so what we wrote loads fast, and what others wrote loads as safely.

    Args:
        kind: a msgspec struct; ``valid``: in words, what each field may be.
        first: keys that are written first, though they are the type's last fields.
    """

    def __init__(self, kind: type[Any], valid: Mapping[str, str] | None = None, first: tuple[str, ...] = ()) -> None:
        self.kind, self._valid, self._first = kind, valid or {}, first
        self._decoder = msgspec.json.Decoder(kind)
        self._keys = f',"{first[0]}":'.encode() if first else b""

    def decode(self, raw: bytes) -> Any:
        """One record from one line without blanks around it. Raises Problem."""
        try:
            record = self._decoder.decode(raw)
            if self._spell(record) == raw:
                return record
        except (msgspec.DecodeError, RecursionError, UnicodeError, OverflowError):
            pass
        return convert(loads(raw), self.kind, self._valid)

    def encode(self, record: Any) -> bytes:
        """One line of ASCII JSON with its end. Raises ValueError where a record would not be read back as it is."""
        try:
            line = self._spell(record)
        except (UnicodeEncodeError, OverflowError):
            line = b"\xff"
        if not line.isascii():
            fields = msgspec.to_builtins(record)
            line = encode({key: fields[key] for key in self._first} | fields)[:-1]
        try:
            same = self.decode(line) == record
        except Problem as problem:
            raise ValueError(str(problem)) from problem
        if not same:
            raise ValueError("holds what JSON does not know, such as NaN")
        return line + b"\n"

    def _spell(self, record: Any) -> bytes:
        line = _ENCODER.encode(record)
        if not self._first:
            return line
        # No text holds this: a quotation mark in it would have a backslash before. The keys are the last there is.
        place = line.rfind(self._keys)
        return b"{" + line[place + 1 : -1] + b"," + line[1:place] + b"}"


def encode(fields: Mapping[str, Any]) -> bytes:
    """One line of ASCII JSON with its end, from plain values. Raises ValueError for NaN and Infinity."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """A file for reading. Raises UserError where it cannot be read, or is a pipe or device (which may never end)."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise UserError(f"{path}: cannot be read (it is no regular file). Put a file in its place.")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}).") from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the system's refusal to write into a UserError that names the place."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written ({error.strerror or error}). Put it right"
            " (is the disk full, the folder yours, another thing in the file's place?) and start again."
        ) from error


def read(path: Path, spelling: Spelling, problems: Problems, *, torn_ok: bool) -> Iterator[tuple[int, Any]]:
    """Line number and record of each sound line; the others are noted in ``problems``, which raises in the end.

    With ``torn_ok`` a last line that was cut short is left out with a notice: the next collection sets it aside.
    """
    with opened(path) as file:
        for number, raw in _lines(file):
            try:
                yield number, spelling.decode(raw)
            except Problem as problem:
                if torn_ok and (last := last_line(path)) and last.number == number and is_torn(last.raw):
                    log.warning("%s, line %d: cut short, so it is not counted.", path, number)
                    break
                if other := _layout(raw) if number == 1 else None:
                    problems.add(number, f"the file seems to be {other}; one object a line is expected (JSON Lines)")
                    break
                problems.add(number, problem)
    problems.raise_any()


def _lines(file: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(file, 1):
        text = (raw.removeprefix(BOM) if number == 1 else raw).strip(b" \t\r\n")
        if text:
            yield number, text


def _layout(raw: bytes) -> str | None:
    """What other layout of JSON a first line is the start of."""
    return "a JSON array" if raw.startswith(b"[") else "spread over several lines" if raw == b"{" else None


def is_empty(path: Path) -> bool:
    """Whether a file holds nothing but blanks."""
    with opened(path) as file:
        return next(_lines(file), None) is None


def last_line(path: Path) -> Last | None:
    """The last line that is not blank; None where there is none."""
    last, offset = None, 0
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            text = raw.removeprefix(BOM) if number == 1 else raw
            if text.strip():
                last = Last(number, offset, text.rstrip(b"\r\n"), raw.endswith(b"\n"))
            offset += len(raw)
    return last


def is_torn(raw: bytes) -> bool:
    """Whether a last line was cut while it was written: the start of one JSON object, or zeros of a power cut.

    Anything else that is no record (another format, several objects on a line) was never written here, so it is not
    ours to set aside.
    """
    raw = raw.rstrip(b"\0")
    if not raw:
        return True
    if not raw.lstrip().startswith(b"{"):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw, final=False)
        # The decoder takes lone surrogates and numbers cut after a sign, point or exponent for errors.
        msgspec.json.decode(_SURROGATE.sub(rb"\\u0000", raw).rstrip(b"+-.eE"))
    except msgspec.DecodeError as error:
        return "truncated" in str(error)
    except (UnicodeDecodeError, RecursionError):
        return False
    return False


def mend(path: Path) -> str | None:
    """Make a file ready to be appended to.

    A torn last line is moved to ``<name>.torn``, a missing line end is added, a file without any line is removed.
    Everything else in it must have been read without an error before.

    Returns:
        What was done with a torn line, in words, or None if there was none.
    """
    if not os.path.lexists(path):
        return None
    last = last_line(path)
    if last is None:
        path.unlink()
    elif is_torn(last.raw):
        _set_aside(path, last)
        return f"{path}, line {last.number}: cut short, so it was dropped (its bytes are kept in {path.name}.torn)."
    elif not last.terminated:
        with writing(path), path.open("ab") as file:
            file.write(b"\n")
    return None


def _set_aside(path: Path, last: Last) -> None:
    side = path.with_name(path.name + ".torn")
    with writing(side):
        if side.exists() and not side.is_file():
            raise OSError("it is no regular file")
        with path.open("r+b") as file:
            file.seek(last.offset)
            with side.open("ab") as kept:
                kept.write(file.read().rstrip(b"\n") + b"\n")
                kept.flush()
                os.fsync(kept.fileno())
            file.truncate(last.offset)
        if last.offset == 0:
            path.unlink()


def loads(raw: bytes) -> Any:
    """JSON as Python reads it (lone surrogates allowed), but for NaN, Infinity and repeated keys. Raises Problem."""
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise Problem(None, f"not UTF-8 text (byte {error.start + 1} of the line)") from error
    except json.JSONDecodeError as error:
        raise Problem(None, f"not JSON: {error.msg} (character {error.pos + 1} of the line)") from error
    except (ValueError, RecursionError) as error:
        raise Problem(None, f"not JSON that can be read: {error}") from error


def convert(value: Any, kind: type[Any], valid: Mapping[str, str] | None = None) -> Any:
    """A record from plain objects; strict (a boolean is no number). Raises Problem naming the field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _explain(str(error), value, valid or {}) from error
    except UnicodeEncodeError:
        # A lone surrogate where no text is expected, which msgspec cannot name: it can with the surrogate replaced.
        try:
            msgspec.convert(json.loads(_SURROGATE.sub(rb"?", json.dumps(value).encode())), kind)
        except msgspec.ValidationError as error:
            raise _explain(str(error), value, valid or {}) from error
        raise Problem(None, "a lone surrogate where no text can hold one") from None
    except OverflowError as error:
        raise Problem(None, f"not JSON that can be read: {error}") from error


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number that JSON knows")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {json.dumps(repeated)} comes twice in one object")
    return fields


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large for a number")
    return value


def _explain(message: str, value: Any, valid: Mapping[str, str]) -> Problem:
    """msgspec's message in our words: the field, the value found there, and the valid ones."""
    told, _, place = message.partition(" - at ")
    path = re.fullmatch(r"`\$\.?(.*)`", place)
    field = path[1] if path else ""
    if named := re.search(r"missing required field `(.+?)`", told):
        return Problem(f"{field}.{named[1]}".removeprefix("."), "missing")
    if named := re.search(r"unknown field `(.+?)`", told):
        return Problem(f"{field}.{named[1]}".removeprefix("."), "is no field of such a record; take it out")
    if not field:
        return Problem(None, told)
    found = value
    for key in re.findall(r"[^.\[\]]+", field):
        try:
            found = found[int(key) if isinstance(found, list) else key]
        except (KeyError, IndexError, ValueError, TypeError):
            return Problem(field, told)
    shown = json.dumps(found) if len(json.dumps(found)) <= 80 else json.dumps(found)[:77] + "…"
    return Problem(field, f"{shown} is not valid; valid is: {valid.get(field.rpartition('.')[2], _lower(told))}")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
