"""The released run comes whole, by checksum, or not at all."""

from __future__ import annotations

import gzip
import hashlib
import socket
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from run_builders import line, make_run
from werkzeug import Response

import lib.fetch
from lib import ROOT
from lib.errors import UserError
from lib.fetch import FILES, Released, fetch_paper

PUBLISHED = ROOT.parent / "shared" / "published"
NAMES = ["episodes.jsonl", "run.json", "trajectories.jsonl", "verdicts.jsonl"]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A released run of two trajectories in place of the real one; returns its files by their released paths."""
    run = make_run(tmp_path / "made", line() + b"\n")
    contents = {file.path: (run.folder / file.name).read_bytes() for file in FILES[:3]}
    contents[FILES[3].path] = contents[FILES[0].path].replace(b"INS-00001-", b"INS-00002-")
    released = tuple(Released(file.name, file.path, hashlib.sha256(contents[file.path]).hexdigest()) for file in FILES)
    monkeypatch.setattr(lib.fetch, "FILES", released)
    monkeypatch.setenv("NO_PROXY", "*")
    return contents


def as_released(folder: Path, contents: dict[str, bytes]) -> Path:
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the released run is not on this machine")
def test_the_released_files_are_recognised_by_their_checksums(tmp_path: Path) -> None:
    run = fetch_paper(PUBLISHED, tmp_path / "paper")
    assert names(run.folder) == NAMES
    assert len(run.verdicts()) == 2000
    assert len(run.episodes()) == 60


def test_files_are_found_in_the_layout_of_the_repository(tmp_path: Path, small: dict[str, bytes]) -> None:
    run = fetch_paper(as_released(tmp_path / "checkout", small), tmp_path / "paper")
    assert names(run.folder) == NAMES
    assert names(tmp_path) == ["checkout", "made", "paper"]
    assert len(run.trajectories()) == 2
    assert next(iter(run.episodes())).startswith("INS-00002-")


def test_files_are_found_under_the_names_of_a_run(tmp_path: Path, small: dict[str, bytes]) -> None:
    first = fetch_paper(as_released(tmp_path / "checkout", small), tmp_path / "paper")
    again = fetch_paper(first.folder, tmp_path / "copy")
    assert again.verdict_checksum() == first.verdict_checksum()


def test_a_file_of_another_content_is_refused_and_nothing_is_written(tmp_path: Path, small: dict[str, bytes]) -> None:
    small["results/raw/verdicts.jsonl"] += b"\n"
    source = as_released(tmp_path / "checkout", small)
    with pytest.raises(UserError) as refused:
        fetch_paper(source, tmp_path / "paper")
    assert f"{source / 'results/raw/verdicts.jsonl'} has SHA-256 " in str(refused.value)
    assert hashlib.sha256(small["results/raw/verdicts.jsonl"]).hexdigest() in str(refused.value)
    assert lib.fetch.FILES[1].sha256 in str(refused.value)
    assert names(tmp_path) == ["checkout", "made"]


def test_a_missing_file_is_named_by_both_names(tmp_path: Path, small: dict[str, bytes]) -> None:
    del small["results/agent/trajectories.jsonl"]
    with pytest.raises(UserError, match=r"there is no episodes\.jsonl \(results/agent/trajectories\.jsonl in the rel"):
        fetch_paper(as_released(tmp_path / "checkout", small), tmp_path / "paper")
    assert names(tmp_path) == ["checkout", "made"]


def test_a_source_that_is_no_folder_is_an_error(tmp_path: Path, small: dict[str, bytes]) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        fetch_paper(tmp_path / "nowhere", tmp_path / "paper")


def test_what_is_there_already_stays_and_what_is_missing_is_added(tmp_path: Path, small: dict[str, bytes]) -> None:
    source = as_released(tmp_path / "checkout", small)
    run = fetch_paper(source, tmp_path / "paper")
    (run.folder / "episodes.jsonl").unlink()
    kept = (run.folder / "verdicts.jsonl").stat().st_mtime_ns
    fetch_paper(source, tmp_path / "paper")
    assert names(run.folder) == NAMES
    assert (run.folder / "verdicts.jsonl").stat().st_mtime_ns == kept
    fetch_paper(None, tmp_path / "paper", address="http://127.0.0.1:9")


def test_a_run_that_was_collected_into_is_not_overwritten(tmp_path: Path, small: dict[str, bytes]) -> None:
    source = as_released(tmp_path / "checkout", small)
    run = fetch_paper(source, tmp_path / "paper")
    with (run.folder / "verdicts.jsonl").open("ab") as file:
        file.write(line(judge_id="mine") + b"\n")
    before = (run.folder / "verdicts.jsonl").read_bytes()
    with pytest.raises(UserError, match=r"verdicts\.jsonl is not the released file: .* Move the folder"):
        fetch_paper(source, tmp_path / "paper")
    assert (run.folder / "verdicts.jsonl").read_bytes() == before


def test_files_are_downloaded_from_the_repository(
    tmp_path: Path, small: dict[str, bytes], httpserver: HTTPServer
) -> None:
    for path, content in small.items():
        httpserver.expect_request(f"/commit/{path}").respond_with_data(content)
    run = fetch_paper(None, tmp_path / "paper", address=httpserver.url_for("/commit"))
    assert names(run.folder) == NAMES
    assert len(run.verdicts()) == 1


def test_a_download_of_another_content_is_refused(
    tmp_path: Path, small: dict[str, bytes], httpserver: HTTPServer
) -> None:
    for path in small:
        httpserver.expect_request(f"/{path}").respond_with_data(b"<html>please log in</html>")
    with pytest.raises(UserError, match=r"is not the released trajectories\.jsonl: its SHA-256 is .* --from FOLDER"):
        fetch_paper(None, tmp_path / "paper", address=httpserver.url_for("").rstrip("/"))
    assert names(tmp_path) == ["made"]


def test_a_download_that_breaks_off_half_way_leaves_nothing(
    tmp_path: Path, small: dict[str, bytes], httpserver: HTTPServer
) -> None:
    first, *rest = small
    httpserver.expect_request(f"/{first}").respond_with_data(small[first])
    for path in rest:
        httpserver.expect_request(f"/{path}").respond_with_response(Response(status=503))
    with pytest.raises(UserError, match="503"):
        fetch_paper(None, tmp_path / "paper", address=httpserver.url_for("").rstrip("/"))
    assert names(tmp_path) == ["made"]


@pytest.mark.parametrize("length", ["abc", "-1", "9" * 400])
def test_a_server_that_lies_about_the_length_is_one_sentence(
    tmp_path: Path, small: dict[str, bytes], httpserver: HTTPServer, length: str
) -> None:
    for path in small:
        broken = Response(b"x", headers={"Content-Length": length})
        httpserver.expect_request(f"/{path}").respond_with_response(broken)
    with pytest.raises(UserError, match=r"cannot be downloaded|is not the released"):
        fetch_paper(None, tmp_path / "paper", address=httpserver.url_for("").rstrip("/"))
    assert names(tmp_path) == ["made"]


def test_a_download_without_end_is_cut_off(
    tmp_path: Path, small: dict[str, bytes], httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lib.fetch, "MOST_BYTES", 1000)
    unfolded = Response(gzip.compress(b"0" * 10**6), headers={"Content-Encoding": "gzip"})
    httpserver.expect_request(f"/{next(iter(small))}").respond_with_response(unfolded)
    with pytest.raises(UserError, match="more than 1000 bytes"):
        fetch_paper(None, tmp_path / "paper", address=httpserver.url_for("").rstrip("/"))


def test_a_place_where_no_folder_can_be_is_an_error(tmp_path: Path, small: dict[str, bytes]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="the run cannot be put there"):
        fetch_paper(tmp_path / "made", tmp_path / "file" / "paper")


def test_without_a_network_the_remedy_is_named(tmp_path: Path, small: dict[str, bytes]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(UserError, match=r"cannot be downloaded .* Is this machine online\? .* --from FOLDER"):
        fetch_paper(None, tmp_path / "paper", address=address)
    assert names(tmp_path) == ["made"]
