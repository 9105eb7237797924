"""A run on disk: ``run.json``, ``trajectories.jsonl``, ``verdicts.jsonl``, ``failures.jsonl``, ``episodes.jsonl``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lib import RUNS
from lib.errors import COMMAND, UserError
from lib.records import Trajectory, Verdict
from lib.run import lines as jsonl
from lib.run import manifest
from lib.run.loading import iter_trajectories, load_failures, load_verdicts, trajectory_frame, verdict_frame
from lib.run.writer import FILES, Store, locked

MAKE = f"{COMMAND} dataset --out DIR"
TRAJECTORIES = "trajectories.jsonl"


class Frames(NamedTuple):
    """A run as two tables: one row per trajectory, and one row per verdict in file order."""

    trajectories: pd.DataFrame
    verdicts: pd.DataFrame


class Run:
    """A run folder. Nothing is cached: each call reads the files as they are now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, about: Mapping[str, Any], trajectories: Iterable[Trajectory]) -> Run:
        """Make a run from trajectories, which are written as they come.

        Args:
            about: the manifest; ``dataset.sha256`` (of trajectories.jsonl) is added to it.

        Returns:
            The new run, or the one that is there if its dataset is the same.

        Raises:
            UserError: the folder holds another run, other trajectories, or verdicts without a run.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{folder}: no folder can be made there ({error.strerror}). Choose another.") from error
        path, partial = folder / TRAJECTORIES, folder / f"{TRAJECTORIES}.partial"
        try:
            dataset = {**about.get("dataset", {}), "sha256": _write_trajectories(partial, trajectories)}
            recorded = os.path.lexists(folder / manifest.NAME)
            if recorded:
                _refuse_another(folder, dataset, manifest.read(folder).get("dataset"))
            elif left := [name for name in FILES if os.path.lexists(folder / name)]:
                raise UserError(f"{folder} holds {', '.join(left)} but no {manifest.NAME}: choose an empty folder.")
            _put(partial, path, dataset["sha256"])
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        if recorded:
            return cls.open(folder)
        manifest.write(
            folder, {"name": folder.resolve().name, **about, "dataset": dataset, "judges": about.get("judges", {})}
        )
        return cls.open(folder)

    @classmethod
    def open(cls, run: str | Path) -> Run:
        """A run by its name under ``data/runs``, or by its folder. Raises UserError if there is none."""
        try:
            return cls._found(run)
        except OSError as error:
            raise UserError(f"{run!s:.200}: no run can be read there ({error.strerror}).") from error

    @classmethod
    def _found(cls, run: str | Path) -> Run:
        folder = Path(run)
        if len(folder.parts) == 1 and (RUNS / folder / manifest.NAME).is_file():
            folder = RUNS / folder
        if not folder.is_dir():
            names = sorted(path.parent.name for path in RUNS.glob(f"*/{manifest.NAME}"))
            known = f"runs here: {', '.join(names)}" if names else "there are no runs yet"
            raise UserError(f"There is no run {run} ({known}). Make one with `{MAKE}`, or `{COMMAND} fetch paper`.")
        missing = [name for name in (manifest.NAME, TRAJECTORIES) if not (folder / name).is_file()]
        if missing:
            raise UserError(f"{folder} is not a run: {' and '.join(missing)} missing. Make one with `{MAKE}`.")
        return cls(folder)

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def manifest(self) -> dict[str, Any]:
        """``run.json`` as it stands, also in the released run's shape."""
        return manifest.read(self.folder)

    def judges(self, verdicts: pd.DataFrame | None = None) -> dict[str, dict[str, Any] | None]:
        """Settings of each judge in the run's order: that of run.json, then of first appearance (settings None).

        Args:
            verdicts: the run's table of verdicts, if it is loaded already.
        """
        if verdicts is None:
            verdicts = self.frames(text=False).verdicts
        recorded: dict[str, dict[str, Any]] = self.manifest.get("judges", {})
        return {**recorded, **{judge: None for judge in verdicts["judge_id"].unique() if judge not in recorded}}

    def iter_trajectories(self) -> Iterator[Trajectory]:
        """Trajectories in file order, one at a time."""
        path = self.folder / TRAJECTORIES
        empty = True
        for trajectory in iter_trajectories(path):
            empty = False
            yield trajectory
        if empty:
            raise UserError(f"{path}: holds no trajectory. Move it away, and make the dataset again with `{MAKE}`.")

    def trajectories(self) -> dict[str, Trajectory]:
        """Trajectories by id, in file order."""
        return {trajectory.trajectory_id: trajectory for trajectory in self.iter_trajectories()}

    def verdicts(self) -> list[Verdict]:
        """Verdicts in file order, with all their text."""
        return load_verdicts(self._verdict_file(), self._steps())

    def episodes(self) -> dict[str, Trajectory]:
        """Agent episodes by id, in file order; empty where there are none."""
        path = self.folder / "episodes.jsonl"
        found = iter_trajectories(path, episodes=True) if os.path.lexists(path) else ()
        return {episode.trajectory_id: episode for episode in found}

    def failures(self) -> list[dict[str, Any]]:
        """Transport failures in file order: kept, never scored."""
        return load_failures(self.folder / "failures.jsonl")

    def frames(self, *, text: bool = True) -> Frames:
        """Trajectories and verdicts as data frames; without ``text`` the verdicts' rationale and raw reply stay out."""
        trajectories = trajectory_frame(self.iter_trajectories())
        steps = dict(zip(trajectories["trajectory_id"], trajectories["n_steps"].tolist(), strict=True))
        return Frames(trajectories, verdict_frame(self._verdict_file(), steps, text=text))

    @property
    def altered(self) -> bool:
        """Whether trajectories.jsonl is other than run.json records, byte for byte; False where that says nothing."""
        recorded = self.manifest.get("dataset", {}).get("sha256")
        return recorded is not None and recorded != checksum(self.folder / TRAJECTORIES)

    def verdict_checksum(self) -> str:
        """SHA-256 of the bytes of verdicts.jsonl (of no bytes where there is no such file)."""
        return checksum(self.folder / "verdicts.jsonl")

    @contextmanager
    def collecting(self) -> Iterator[Store]:
        """Hold the run for writing; once every file is found sound, torn last lines are set aside.

        Raises:
            UserError: another collector holds the run, a file of it is broken, or the trajectories were altered.
        """
        with locked(self.folder):
            if self.altered:
                raise UserError(
                    f"{self.folder / TRAJECTORIES}: is not the file that {manifest.NAME} records, so that new verdicts "
                    "would be on other texts than the old ones. Restore it: move it away, and make the dataset again."
                )
            steps = self._steps()
            verdicts = verdict_frame(self.folder / "verdicts.jsonl", steps, text=False)
            done = set(zip(verdicts["trajectory_id"], verdicts["judge_id"], strict=True))
            self.failures()
            store = Store(self.folder, steps, done, self.episodes())
            # Only now that every file has been read: nothing is moved in a run that holds an error.
            store.notices.extend(notice for name in FILES if (notice := jsonl.mend(self.folder / name)))
            try:
                yield store
            finally:
                store.close()

    def _verdict_file(self) -> Path:
        """verdicts.jsonl, which a run without verdicts does not have; one that is there but empty lost something."""
        path = self.folder / "verdicts.jsonl"
        if os.path.lexists(path) and next(jsonl.lines(path), None) is None:
            raise UserError(
                f"{path}: is empty. Restore it, or collect (`{COMMAND} collect --run {self.folder} --judge rules`)."
            )
        return path

    def _steps(self) -> dict[str, int]:
        return {trajectory.trajectory_id: len(trajectory.steps) for trajectory in self.iter_trajectories()}


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    if os.path.lexists(path):
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror}).") from error
    return digest.hexdigest()


def _write_trajectories(path: Path, trajectories: Iterable[Trajectory]) -> str:
    digest = hashlib.sha256()
    with jsonl.writing(path), path.open("wb") as file:
        for trajectory in trajectories:
            line = jsonl.encode(trajectory)
            digest.update(line)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _put(partial: Path, path: Path, sha256: str) -> None:
    """Put the data set in its place, unless it is there; what else is there stays."""
    if not os.path.lexists(path):
        with jsonl.writing(path):
            os.replace(partial, path)
    elif checksum(path) != sha256:
        raise UserError(f"{path}: is not this data set. Move it away, or choose another folder; nothing was changed.")


def _refuse_another(folder: Path, dataset: Any, recorded: Any) -> None:
    changes = manifest.differences(recorded or {}, dataset)
    if changes:
        raise UserError(
            f"{folder} holds a run of another dataset already:\n"
            + "\n".join(f"  {line}" for line in changes)
            + "\nChoose another folder; nothing was changed."
        )
