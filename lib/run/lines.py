"""One record a line: reading with errors a user can act on, and writing that other readers can trust.

Lines end at ``\\n`` only; a byte-order mark and ``\\r\\n`` are tolerated, blank lines are skipped. Lone surrogate
escapes (which strict JSON readers reject) load and are written back as they were.
"""

from __future__ import annotations

import codecs
import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from lib.errors import UserError
from lib.records import FAULT_TYPES

T = TypeVar("T")

BOM = b"\xef\xbb\xbf"
MOST_PROBLEMS = 10
_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")

VALID = {
    "confidence": "a number from 0.5 to 1: the judge's probability that its own verdict is right",
    "failure_type": f"null or one of {', '.join(FAULT_TYPES)}",
    "failure_step": "null or the index of a step, counted from 0",
    "latency_s": "seconds, from zero to a billion",
    "load_s": "null or seconds, from zero to a billion",
    "prompt_tokens": "null or a whole number, from zero to 2^63 - 1",
    "completion_tokens": "null or a whole number, from zero to 2^63 - 1",
    "server_s": "null or seconds, from zero to a billion",
    "log_odds": "null or a finite number: the log of p(faulty) / p(not faulty)",
    "cost": "null or an amount of money, from zero to a billion",
    "status": "one of ok, unparseable, truncated, refused",
    "faulty": "true or false",
}


class Line(NamedTuple):
    """A non-blank line of a file: 1-based number, byte offset, bytes without line end, and whether it had one."""

    number: int
    offset: int
    raw: bytes
    terminated: bool
    last: bool


class Problem(Exception):
    """What is wrong with one line; the reader adds file and line number."""

    def __init__(self, field: str | None, what: str) -> None:
        super().__init__(f"field {field}: {what}" if field else what)


class Problems:
    """Collects what is wrong with a file, so that one error reports several lines at once."""

    def __init__(self, path: Path, remedy: str) -> None:
        self.path, self.remedy, self.lines = path, remedy, list[str]()

    def add(self, where: int | str, problem: Problem | str) -> None:
        """Note a problem at a line number or an id; raises once there are ten."""
        self.lines.append(f"{self.path}, {f'line {where}' if isinstance(where, int) else where}: {problem}")
        if len(self.lines) >= MOST_PROBLEMS:
            self.lines.append("(and perhaps more: reading stopped here)")
            self.raise_any()

    def raise_any(self) -> None:
        """Raise UserError if anything was noted."""
        if self.lines:
            raise UserError("\n".join([*self.lines, self.remedy]))


def lines(path: Path) -> Iterator[Line]:
    """The non-blank lines of a file, holding one at a time; ``last`` marks the last of them."""
    held: Line | None = None
    offset = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                text = raw.removeprefix(BOM) if number == 1 else raw
                if text.strip():
                    if held:
                        yield held
                    held = Line(number, offset, text.rstrip(b"\r\n"), raw.endswith(b"\n"), False)
                offset += len(raw)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}).") from error
    if held:
        yield held._replace(last=True)


def is_torn(line: Line) -> bool:
    """Whether a last line was cut while it was written: the start of one JSON object, or zeros of a power cut.

    Anything else that is no record (another format, several objects on a line) was never written here, so it is not
    ours to set aside.
    """
    return line.last and _is_cut(line.raw.rstrip(b"\0"))


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


def decode(raw: bytes, decoder: msgspec.json.Decoder[T], kind: type[T]) -> T:
    """One record from one line. Raises Problem, with the field and its valid values where there is one."""
    try:
        record = decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return convert(loads(raw), kind)
    # The decoder takes the last of two equal keys. Python's reader tells them, but is slow: it is asked only where
    # the colons after a key (not those after a quote inside a text) are not as many as the different keys.
    spaced = b'" :' in raw or b'"\t:' in raw or b'"\r:' in raw
    if spaced or raw.count(b'":') - raw.count(b'\\":') != len(_TOP.decode(raw)):
        loads(raw)
    return record


def loads(raw: bytes) -> Any:
    """JSON as Python reads it (lone surrogates allowed), but for NaN and Infinity. Raises Problem."""
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise Problem(None, f"not UTF-8 text (byte {error.start + 1} of the line)") from error
    except json.JSONDecodeError as error:
        raise Problem(None, f"not JSON: {error.msg} (character {error.pos + 1} of the line)") from error
    except (ValueError, RecursionError) as error:
        raise Problem(None, f"not JSON that can be read: {error}") from error


def convert(value: Any, kind: type[T]) -> T:
    """A record from plain objects; strict (a boolean is no number). Raises Problem naming the field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _explain(str(error), value) from error
    except UnicodeEncodeError:
        # A lone surrogate where no text is expected, which msgspec cannot name: it can with the surrogate replaced.
        try:
            msgspec.convert(json.loads(_SURROGATE.sub(rb"?", json.dumps(value).encode())), kind)
        except msgspec.ValidationError as error:
            raise _explain(str(error), value) from error
        raise Problem(None, "a lone surrogate where no text can hold one") from None
    except OverflowError as error:
        raise Problem(None, f"not JSON that can be read: {error}") from error


def encode(record: Any, *, first: tuple[str, ...] = (), may_omit: frozenset[str] = frozenset()) -> bytes:
    """One line of ASCII JSON with its end.

    Args:
        first: keys that come first, in this order.
        may_omit: keys left out where they hold nothing (None or an empty list).

    Raises:
        ValueError: the record holds NaN or Infinity.
    """
    fields: dict[str, Any] = msgspec.to_builtins(record)
    ordered = {key: fields[key] for key in first if key in fields} | fields
    kept = {key: value for key, value in ordered.items() if key not in may_omit or value not in (None, [])}
    return json.dumps(kept, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def mend(path: Path) -> str | None:
    """Make a file ready to be appended to.

    A torn last line is moved to ``<name>.torn``, a missing line end is added, a file without any line is removed.
    Everything else in it must have been read without an error before.

    Returns:
        What was done with a torn line, in words, or None if there was none.
    """
    if not os.path.lexists(path):
        return None
    last = None
    for line in lines(path):
        last = line
    if last is None:
        path.unlink()
        return None
    if is_torn(last):
        side = path.with_name(path.name + ".torn")
        with writing(side), path.open("r+b") as file:
            file.seek(last.offset)
            with side.open("ab") as kept:
                kept.write(file.read().rstrip(b"\n") + b"\n")
                kept.flush()
                os.fsync(kept.fileno())
            file.truncate(last.offset)
        if last.offset == 0:
            path.unlink()
        return f"{path}, line {last.number}: cut short, so it was dropped (its bytes are kept in {side.name})."
    if not last.terminated:
        with writing(path), path.open("ab") as file:
            file.write(b"\n")
    return None


def _is_cut(raw: bytes) -> bool:
    """Whether bytes are nothing at all, or a proper start of one JSON object in UTF-8 (perhaps inside a character)."""
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


def _explain(message: str, value: Any) -> Problem:
    """msgspec's message in our words: the field, the value found there, and the valid ones."""
    missing = re.search(r"missing required field `(.+?)`", message)
    path = re.search(r" - at `\$\.?(.*?)`$", message)
    field = path[1] if path else None
    if missing:
        return Problem(f"{field}.{missing[1]}" if field else missing[1], "missing")
    if field is None:
        return Problem(None, f"{message.removesuffix(' - at `$`')}")
    found = value
    for key in re.findall(r"[^.\[\]]+", field):
        try:
            found = found[int(key) if isinstance(found, list) else key]
        except (KeyError, IndexError, ValueError, TypeError):
            return Problem(field, message.split(" - at ")[0])
    name = field.rpartition(".")[2]
    valid = VALID.get(name) or message.split(" - at ")[0][:1].lower() + message.split(" - at ")[0][1:]
    shown = json.dumps(found) if len(json.dumps(found)) <= 80 else json.dumps(found)[:77] + "…"
    return Problem(field, f"{shown} is not valid; valid is: {valid}")
