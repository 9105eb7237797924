"""The released files of the trajectory-judge paper, from their public repository or from a folder.

The run ``paper`` that we ship holds their figures; these are for those who want the sentences too.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import requests

from lib import ROOT
from lib.errors import COMMAND, UserError
from lib.run.folder import Run, checksum

ADDRESS = "https://raw.githubusercontent.com/mohammadi-hadi/trajectory-judge/4a60c595c018b759f2914a159c7b2bc3f0392ff2"
SECONDS = 30
MOST_BYTES = 2**26  # the files have 3 MB; a server may send without end
ORIGINAL = ROOT / "data" / "released" / "paper"


class Released(NamedTuple):
    """A file of the released run: its name in a run folder, its path in the repository, and its SHA-256."""

    name: str
    path: str
    sha256: str


FILES = (
    Released(
        "trajectories.jsonl",
        "results/raw/trajectories.jsonl",
        "e3459122dbc1b6ccd2a903bf85fab68ec38e121f2f1326e80ace49c02a4c7986",
    ),
    Released(
        "verdicts.jsonl",
        "results/raw/verdicts.jsonl",
        "de05ad76b17da958255aa54ed38c8d647cd92c29e71d2ee75962b07302e2b1e6",
    ),
    Released(
        "run.json",
        "results/raw/run.json",
        "03abcf004b352d61f14b608a451bfab75b1f72a9ddf8802536a10e1acaba8598",
    ),
    Released(
        "episodes.jsonl",
        "results/agent/trajectories.jsonl",
        "84a991c3ac390da3aaaa8896bac560854edb7254cc4d76deeb3948c59fc2f6c6",
    ),
)


def fetch_paper(source: Path | None = None, target: Path = ORIGINAL, *, address: str = ADDRESS) -> Run:
    """Put the four released files into a run folder; all of them or none.

    Args:
        source: a folder that holds them, under either name, at any depth; None to download them.
        target: the run folder; files that are there already and are the released ones stay.
        address: where the repository's files are served.

    Raises:
        UserError: a file is missing, or is not the released one (both checksums are named), or there is no network.
    """
    lacking = [file for file in FILES if not _is_there(target / file.name, file)]
    if not lacking:
        return Run.open(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _fetch_into(target, lacking, source, address)
    except OSError as error:
        raise UserError(
            f"{target}: the run cannot be put there ({error.strerror}). Nothing in it was changed."
        ) from error
    return Run.open(target)


def is_fetched(target: Path = ORIGINAL) -> bool:
    """Whether all four files are there. Raises UserError where one of them is not the released one."""
    return all(_is_there(target / file.name, file) for file in FILES)


def _fetch_into(target: Path, lacking: Sequence[Released], source: Path | None, address: str) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as staging:
        for file in lacking:
            staged = Path(staging) / file.name
            if source is None:
                _download(file, staged, address)
            else:
                shutil.copyfile(_find(file, source), staged)
        target.mkdir(exist_ok=True)
        for file in reversed(lacking):
            os.replace(Path(staging) / file.name, target / file.name)


def _is_there(path: Path, file: Released) -> bool:
    if not path.exists():
        return False
    if (found := checksum(path)) != file.sha256:
        raise UserError(
            f"{path} is not the released file: its SHA-256 is {found}, the released one's is {file.sha256}."
            f" Move the folder {path.parent} away (you may have collected into it) and fetch again."
        )
    return True


def _find(file: Released, source: Path) -> Path:
    """The released file in a folder: by checksum among the files that bear one of its two names."""
    if not source.is_dir():
        raise UserError(f"{source} is not a folder. --from takes the folder that holds the released files.")
    names = {file.name, Path(file.path).name}
    candidates = sorted(path for path in source.rglob("*") if path.name in names and path.is_file())
    found = {path: checksum(path) for path in candidates}
    for path, sha256 in found.items():
        if sha256 == file.sha256:
            return path
    expected = f"{file.name} ({file.path} in the released repository, SHA-256 {file.sha256})"
    others = {other.sha256 for other in FILES}
    wrong = [f"\n  {path} has SHA-256 {sha256}" for path, sha256 in found.items() if sha256 not in others]
    if wrong:
        raise UserError(f"{source}: no file there is the released {expected}:{''.join(wrong)}\nNothing was written.")
    raise UserError(f"{source}: there is no {expected}. Nothing was written.")


def _download(file: Released, target: Path, address: str) -> None:
    url = f"{address}/{file.path}"
    elsewhere = f"Fetch the four files on another machine, then run `{COMMAND} fetch paper --from FOLDER`."
    try:
        with requests.get(url, timeout=SECONDS, stream=True) as response, target.open("wb") as written:
            response.raise_for_status()
            for block in response.iter_content(2**16):
                written.write(block)
                if written.tell() > MOST_BYTES:
                    raise OSError(f"more than {MOST_BYTES} bytes")
    except (requests.RequestException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{url} cannot be downloaded ({reason:.200}). Is this machine online? {elsewhere}") from error
    if (found := checksum(target)) != file.sha256:
        raise UserError(
            f"{url} is not the released {file.name}: its SHA-256 is {found}, {file.sha256} is expected."
            f" Something in between may have changed it. {elsewhere}"
        )
