"""A run on disk: ``run.json``, the files of its study, and ``failures.jsonl``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lib import RUNS
from lib.errors import UserError
from lib.records import About, Trajectory
from lib.run import manifest
from lib.run.lines import Problems, Spelling, convert, is_empty, mend, opened, read, writing
from lib.run.study import Kind, Study
from lib.run.writer import FAILURES, Store, locked
from lib.trajectories import EPISODES, TRAJECTORIES


class Frames(NamedTuple):
    """A run as two tables: one row per judged item, and one row per verdict in file order."""

    trajectories: pd.DataFrame
    verdicts: pd.DataFrame


class Run:
    """A run folder of a study. Nothing is cached: each call reads the files as they are now."""

    def __init__(self, folder: Path, study: Study = TRAJECTORIES) -> None:
        self.folder, self.study = folder, study

    @classmethod
    def create(
        cls,
        folder: Path,
        about: Mapping[str, Any],
        items: Iterable[Any],
        study: Study = TRAJECTORIES,
        others: Mapping[str, Iterable[Any]] | None = None,
    ) -> Run:
        """Make a run from what is to be judged, which is written as it comes.

        Args:
            about: the manifest; the SHA-256 of what is written is added to its ``dataset``.
            others: by file name, what else the run is made with.

        Returns:
            The new run, or the one that is there if its dataset is the same.

        Raises:
            UserError: the folder holds another run, other items, or verdicts without a run.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{folder}: no folder can be made there ({error.strerror}). Choose another.") from error
        contents = {**(others or {}), study.items.file: items}
        given = {kind: folder / f"{kind.file}.partial" for kind in study.given}
        try:
            sums = {_sum(kind, study): _write(path, kind, contents[kind.file]) for kind, path in given.items()}
            size = {"bytes": given[study.items].stat().st_size} if study.items.appended else {}
            _settle(folder, study, {**about, "dataset": {**about.get("dataset", {}), **sums, **size}})
        finally:
            with suppress(OSError):
                for path in given.values():
                    path.unlink(missing_ok=True)
        return cls.open(folder, study)

    @classmethod
    def open(cls, run: str | Path, *studies: Study) -> Run:
        """A run by its name under ``data/runs``, or by its folder.

        Args:
            studies: those that the run may be of; part I's by default.

        Raises:
            UserError: there is no run, or it is of another study.
        """
        known = {study.name: study for study in studies or (TRAJECTORIES,)}
        try:
            folder = _found(run)
            of = manifest.read(folder).get("study", TRAJECTORIES.name)
            if of not in known:
                raise UserError(f"{folder} is a run of {of!r:.60}; one of {' or '.join(known)} is needed here.")
            if not (folder / known[of].items.file).is_file():
                raise UserError(_no_run(folder, known[of].items.file, known[of].make))
        except OSError as error:
            raise UserError(f"{run!s:.200}: no run can be read there ({error.strerror}).") from error
        return cls(folder, known[of])

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def manifest(self) -> dict[str, Any]:
        """``run.json`` as it stands, also in the released run's shape."""
        return manifest.read(self.folder)

    def judges(self, verdicts: pd.DataFrame | None = None) -> dict[str, About]:
        """What each judge is, in the run's order: that of run.json, then of first appearance.

        A judge that nobody describes is one of the user's own, of which nothing is assumed.

        Args:
            verdicts: the run's table of verdicts, if it is loaded already.
        """
        if verdicts is None:
            verdicts = self.frames(text=False).verdicts
        recorded: dict[str, dict[str, Any]] = self.manifest.get("judges", {})
        described = {name: convert(entry["about"], About) for name, entry in recorded.items() if "about" in entry}
        names = dict.fromkeys([*recorded, *verdicts["judge_id"].unique()])
        return {name: {**self.study.described, **described}.get(name, About(kind="own")) for name in names}

    def records(self, kind: Kind) -> dict[Any, Any]:
        """Records of a kind by key, in file order; none where the file is one that collectors begin."""
        self._refuse_empty(kind)
        return kind.records(self.folder, self._known(kind))

    def trajectories(self) -> dict[str, Trajectory]:
        """What is judged in part I, by id, in file order."""
        return self.records(self.study.items)

    def episodes(self) -> dict[str, Trajectory]:
        """Agent episodes by id, in file order."""
        return self.records(EPISODES)

    def verdicts(self) -> list[Any]:
        """Verdicts in file order, with all their text."""
        return [*self.records(self.study.verdicts).values()]

    def failures(self) -> list[dict[str, Any]]:
        """Failures in file order: kept, never scored."""
        path = self.folder / FAILURES
        remedy = f"Correct these lines, or remove them: what is removed from {FAILURES} is not counted any more."
        if not os.path.lexists(path):
            return []
        return [value for _, value in read(path, Spelling(dict), Problems(path, remedy), torn_ok=True)]

    def frames(self, *, text: bool = True) -> Frames:
        """Items and verdicts as data frames; without ``text`` the verdicts' rationale and raw reply stay out."""
        items, verdicts = self._table(self.study.items), self.study.verdicts
        self._refuse_empty(verdicts)
        return Frames(items, verdicts.table(self.folder, _known(items, verdicts), text=text))

    @property
    def altered(self) -> list[str]:
        """Files that are other than run.json records, byte for byte, or begin otherwise where more was added."""
        dataset = self.manifest.get("dataset", {})
        told = {kind: dataset.get(_sum(kind, self.study)) for kind in self.study.given}
        return [kind.file for kind, made in told.items() if made not in (None, _made_with(self.folder, kind, dataset))]

    def verdict_checksum(self) -> str:
        """SHA-256 of the bytes of the file of verdicts (of no bytes where there is no such file)."""
        return checksum(self.folder / self.study.verdicts.file)

    @contextmanager
    def collecting(self) -> Iterator[Store]:
        """Hold the run for writing; once every file is found sound, torn last lines are set aside.

        Raises:
            UserError: another collector holds the run, a file of it is broken, or what is judged was altered.
        """
        with locked(self.folder):
            if altered := self.altered:
                raise UserError(
                    f"{self.folder / altered[0]}: is not the file that {manifest.NAME} records, so that new verdicts "
                    "would be on other texts than the old ones. Restore it: move it away, and make the dataset again."
                )
            known, done = {}, {}
            for kind in self.study.appended:
                known[kind.file] = self._known(kind)
                table = kind.table(self.folder, known[kind.file], text=False)
                keys = [table[name] for name in kind.key]
                done[kind.file] = set(keys[0]) if len(keys) == 1 else set(zip(*keys, strict=True))
            self.failures()
            store = Store(self.folder, self.study, known, done)
            # Only now that every file has been read: nothing is moved in a run that holds an error.
            files = [*(kind.file for kind in self.study.appended), FAILURES]
            store.notices.extend(notice for name in files if (notice := mend(self.folder / name)))
            try:
                yield store
            finally:
                store.close()

    def _known(self, kind: Kind) -> dict[Any, Any]:
        return _known(self._table(kind.parent), kind) if kind.parent else {}

    def _table(self, kind: Kind) -> pd.DataFrame:
        self._refuse_empty(kind)
        return kind.table(self.folder, self._known(kind))

    def _refuse_empty(self, kind: Kind) -> None:
        """A file that is there but empty lost what it held; one that collectors begin need not be there."""
        path = self.folder / kind.file
        if (kind.appended and not os.path.lexists(path)) or not is_empty(path):
            return
        again = f"Move it away, and make it again with `{self.study.make}`"
        raise UserError(f"{path}: is empty. {again if not kind.appended else 'Restore it, or collect again'}.")


def checksum(path: Path, size: int | None = None) -> str:
    """SHA-256 of a file's bytes (or of its first ``size``); of no bytes where it does not exist."""
    if not os.path.lexists(path):
        return hashlib.sha256().hexdigest()
    with opened(path) as file:
        if size is not None:
            return hashlib.sha256(file.read(size)).hexdigest()
        return hashlib.file_digest(file, "sha256").hexdigest()


def _made_with(folder: Path, kind: Kind, dataset: Mapping[str, Any]) -> str:
    """The checksum of what a run was made with, without what was added."""
    return checksum(folder / kind.file, dataset.get("bytes") if kind.appended else None)


def _found(run: str | Path) -> Path:
    folder = Path(run)
    if len(folder.parts) == 1 and (RUNS / folder / manifest.NAME).is_file():
        return RUNS / folder
    if not folder.is_dir():
        names = sorted(path.parent.name for path in RUNS.glob(f"*/{manifest.NAME}"))
        known = f"runs here: {', '.join(names)}" if names else "there are no runs yet"
        raise UserError(f"There is no run {run} ({known}). Make one with `{TRAJECTORIES.make}`.")
    if not (folder / manifest.NAME).is_file():
        raise UserError(_no_run(folder, manifest.NAME, TRAJECTORIES.make))
    return folder


def _no_run(folder: Path, missing: str, make: str) -> str:
    return f"{folder} is not a run: {missing} is missing. Make one with `{make}`."


def _known(parents: pd.DataFrame, kind: Kind) -> dict[Any, Any]:
    return dict(zip(parents.iloc[:, 0], parents[kind.known].tolist(), strict=True))


def _sum(kind: Kind, study: Study) -> str:
    """Under what name of ``dataset`` the checksum of a file stands."""
    return "sha256" if kind is study.items else f"{kind.file.removesuffix('.jsonl')}_sha256"


def _write(path: Path, kind: Kind, records: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    with suppress(OSError):
        path.unlink(missing_ok=True)
    with writing(path), path.open("wb") as file:
        for record in records:
            line = kind.spelling.encode(record)
            digest.update(line)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _settle(folder: Path, study: Study, about: dict[str, Any]) -> None:
    """Put what was written in its place, unless it is there; what else is there stays."""
    recorded = os.path.lexists(folder / manifest.NAME)
    if recorded and (changes := manifest.differences(manifest.read(folder).get("dataset", {}), about["dataset"])):
        lines = "".join(f"\n  {line}" for line in changes)
        raise UserError(
            f"{folder} holds a run of another dataset already:{lines}\nChoose another; nothing was changed."
        )
    begun = [kind.file for kind in study.appended if kind is not study.items]
    if not recorded and (left := [name for name in begun if os.path.lexists(folder / name)]):
        raise UserError(f"{folder} holds {', '.join(left)} but no {manifest.NAME}: choose an empty folder.")
    for kind in study.given:
        path = folder / kind.file
        if not os.path.lexists(path):
            with writing(path):
                os.replace(folder / f"{kind.file}.partial", path)
        elif _made_with(folder, kind, about["dataset"]) != about["dataset"][_sum(kind, study)]:
            raise UserError(
                f"{path}: is not this data set. Move it away, or choose another folder; nothing was changed."
            )
    if not recorded:
        study_name = {} if study is TRAJECTORIES else {"study": study.name}
        manifest.write(
            folder, {"name": folder.resolve().name, **study_name, **about, "judges": about.get("judges", {})}
        )
