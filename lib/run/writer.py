"""Writing into a run: one collector at a time, one line a record, nothing lost and nothing twice."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import filelock

from lib.errors import UserError
from lib.run import manifest
from lib.run.lines import Problem, encode, opened, writing
from lib.run.study import Kind, Known, Study

FAILURES = "failures.jsonl"
REPLACED = "verdicts.replaced.jsonl"
SECONDS_BETWEEN_SYNCS = 1.0


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run for writing.

    The lock is the operating system's, so it ends with the process that holds it, however that process ends.

    Raises:
        UserError: another collector holds it; says which process, on which machine, since when.
    """
    lock = filelock.FileLock(folder / "collector.lock", timeout=0)
    holder = folder / "holder.lock"
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise UserError(
            f"{folder}: another collector is writing to this run ({_holder(holder)})."
            " Wait until it ends, or stop it; what it has written stays."
        ) from error
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise UserError(
                f"{folder}: this folder cannot be written to. Copy the run to one that is yours."
            ) from error
        raise UserError(
            f"{folder / 'collector.lock'}: cannot be locked ({error.strerror or error}). Is there another thing in its"
            " place, or is the disk full? Remove it, and start again."
        ) from error
    try:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"pid": os.getpid(), "host": socket.gethostname(), "since": now}
        with writing(holder):
            manifest.replace(holder, json.dumps(about).encode())
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


def _holder(path: Path) -> str:
    try:
        with opened(path) as file:
            held = json.loads(file.read())
        return f"process {held['pid']} on {held['host']}, since {held['since']}"
    except (UserError, ValueError, KeyError, TypeError):
        return "it has not said which process it is"


class Appender:
    """Lines at the end of a file, each whole or not at all. Threads may share one.

    A line is one write to the operating system, so a killed process loses none that ``add`` returned from. It is
    forced to the disk at most once a second (and on closing): a power cut can lose the last second of verdicts,
    which the next collection asks for again; forcing each line would cost more than a fast judge does.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: int | None = None
        self._synced = time.monotonic()

    def add(self, line: bytes) -> None:
        """Append a line that has its end. Raises UserError when the disk refuses it; the file is then as before."""
        with self._lock:
            try:
                if self._file is None:
                    self._file = self._open(line)
                else:
                    self._append(self._file, line)
            except OSError as error:
                raise UserError(
                    f"{self.path}: cannot be written ({error.strerror}). Nothing written before this is lost:"
                    " put it right (is the disk full, the folder yours?) and start again."
                ) from error

    def close(self) -> None:
        """Force what was written to the disk. Raises UserError when the disk refuses it."""
        with self._lock, writing(self.path):
            if self._file is not None:
                file, self._file = self._file, None
                try:
                    os.fsync(file)
                finally:
                    os.close(file)

    def _open(self, line: bytes) -> int:
        """A new file appears with its first line in it, so that there never is an empty one."""
        flags = os.O_WRONLY | os.O_APPEND
        if not self.path.exists():
            manifest.replace(self.path, line)
            return os.open(self.path, flags)
        file = os.open(self.path, flags)
        self._append(file, line)
        return file

    def _append(self, file: int, line: bytes) -> None:
        size = os.fstat(file).st_size
        if os.write(file, line) != len(line):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if time.monotonic() - self._synced > SECONDS_BETWEEN_SYNCS:
            os.fsync(file)
            self._synced = time.monotonic()


class Store:
    """A run that is held for writing; made by ``Run.collecting``. Methods may be called from several threads.

    Attributes:
        notices: what was found torn and set aside on opening, in words.
    """

    def __init__(self, folder: Path, study: Study, known: Mapping[str, Known], done: Mapping[str, set[Any]]) -> None:
        self.folder, self.study, self._known, self._done = folder, study, known, done
        self.notices: list[str] = []
        self._guard = threading.Lock()
        self._files: dict[str, Appender] = {}

    @property
    def done(self) -> set[Any]:
        """Keys of the verdicts that are there, kept up to date."""
        return self.keys(self.study.verdicts)

    def keys(self, kind: Kind) -> set[Any]:
        """Keys of the records of a kind that are there, kept up to date."""
        return self._done[kind.file]

    def register_judge(
        self, judge_id: str, settings: Mapping[str, Any], collection: Mapping[str, Any] | None = None
    ) -> None:
        """Record a judge in run.json before its first verdict.

        Args:
            settings: what makes its verdicts what they are; compared on a second start.
            collection: date and machine of this start; appended to the judge's ``collections``, never compared.

        Raises:
            UserError: recorded with other settings, or verdicts of unknown settings are there already.
        """
        place = self.study.verdicts.key.index("judge_id")
        with self._guard:
            about = manifest.read(self.folder)
            judges = about.get("judges", {})
            if judge_id not in judges and any(key[place] == judge_id for key in self.done):
                raise UserError(
                    f"{self.folder}: verdicts of {judge_id} are there already, but {manifest.NAME} does not say with"
                    f" what settings. Collect into another run (make one with `{self.study.make}`)."
                )
            entry = manifest.registered(judges.get(judge_id), settings, collection, f"Judge {judge_id}")
            manifest.write(self.folder, {**about, "judges": {**judges, judge_id: entry}})

    def register_maker(self, name: str, settings: Mapping[str, Any], collection: Mapping[str, Any]) -> None:
        """Record in run.json, under a name of its own, what makes records; arguments and errors as for a judge."""
        with self._guard:
            about = manifest.read(self.folder)
            entry = manifest.registered(about.get(name), settings, collection, f"The entry {name}")
            manifest.write(self.folder, {**about, name: entry})

    def add_verdict(self, verdict: Any) -> None:
        """``add`` for the study's verdicts."""
        self.add(self.study.verdicts, verdict)

    def add(self, kind: Kind, record: Any) -> None:
        """Write a record; when this returns it survives the end of the process.

        Raises:
            ValueError: the record breaks a rule of a stored run, or its key is there already.
            UserError: the disk refuses it.
        """
        key = attrgetter(*kind.key)(record)
        name = " of ".join(reversed(key)) if isinstance(key, tuple) else key
        try:
            line = kind.spelling.encode(record)
            kind.check(record, self._known[kind.file])
        except (ValueError, Problem) as problem:
            raise ValueError(f"{name}: {problem}") from problem
        with self._guard:
            if key in self._done[kind.file]:
                raise ValueError(f"{name} is there already")
            self._file(kind.file).add(line)
            self._done[kind.file].add(key)

    def set_aside(self, chosen: Callable[[Any], bool]) -> None:
        """Move verdicts to verdicts.replaced.jsonl, so that they are asked for again; to be called before any ``add``.

        They are written there before they are taken away here, so that a kill between loses none.
        """
        kind, aside = self.study.verdicts, self.folder / REPLACED
        path, key = self.folder / kind.file, attrgetter(*kind.key)
        lines = [line + b"\n" for line in path.read_bytes().split(b"\n") if line.strip()] if path.exists() else []
        read = {line: kind.spelling.decode(line.strip()) for line in lines}
        moved = {line: verdict for line, verdict in read.items() if chosen(verdict)}
        if not moved:
            return
        before = aside.read_bytes() if aside.exists() else b""
        with self._guard, writing(path):
            manifest.replace(aside, before + b"".join(line for line in moved if line not in before))
            if kept := b"".join(line for line in lines if line not in moved):
                manifest.replace(path, kept)
            else:
                path.unlink()
            self._done[kind.file] -= {key(verdict) for verdict in moved.values()}

    def add_failure(self, failure: Mapping[str, Any]) -> None:
        """Write a failure that is not a verdict: its key and what happened, as plain JSON values."""
        line = encode(failure)
        with self._guard:
            self._file(FAILURES).add(line)

    def close(self) -> None:
        """Force everything to the disk."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _file(self, name: str) -> Appender:
        if name not in self._files:
            self._files[name] = Appender(self.folder / name)
        return self._files[name]
