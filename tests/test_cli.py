"""The command line: every command does what its help says, and a mistake ends with a sentence, not a traceback."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import lib.__main__ as cli
from lib import ROOT
from lib.analysis.trajectory_metrics import TRAJECTORY_METRICS
from lib.fetch import fetch_paper
from lib.judging import asking
from lib.judging.clients import TransportError
from lib.records import Label, Observation, Step, ToolCall, Trajectory
from lib.run.folder import Run
from tests.judging.fakes import Script, acts, says

PUBLISHED = ROOT.parent / "shared" / "published"
METRICS = tuple(TRAJECTORY_METRICS.metrics)
FREE = "rules,always-faulty,always-clean,coin"
Lib = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lib(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lib:
    """Runs a command; returns its exit status, output and error output."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lib", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def run(tmp_path: Path, lib: Lib) -> Run:
    """Forty trajectories judged by the judges that need no model."""
    folder = tmp_path / "run"
    assert lib("dataset", "--out", folder, "--n", "40")[0] == 0
    assert lib("collect", "--run", folder, "--judge", FREE)[0] == 0
    return Run.open(folder)


def test_the_help_names_every_command(lib: Lib) -> None:
    status, out, _ = lib("--help")
    assert status == 0
    assert all(name in out for name in ("dataset", "collect", "episodes", "score", "check", "fetch", "book"))


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("dataset", ["--out", "--n", "--seed"]),
        ("collect", ["--run", "--judge", "--model", "--backend", "--base-url", "--workers", "--limit", "--cluster"]),
        ("episodes", ["--run", "--model", "--n", "--workers"]),
        ("score", ["--run", "--reps", "--seed", "--format"]),
        ("check", ["--run"]),
        ("fetch", ["paper", "--from"]),
        ("book", ["--run"]),
    ],
)
def test_each_commands_help_names_its_options(lib: Lib, command: str, options: list[str]) -> None:
    status, out, _ = lib(command, "--help")
    assert status == 0
    assert all(option in out for option in options)


def test_a_command_that_is_none_and_an_option_that_is_none_exit_2(lib: Lib) -> None:
    assert lib("judge")[0] == 2
    assert lib("dataset", "--out", "x", "--n", "0")[0] == 2
    assert lib("dataset")[0] == 2


def test_a_data_set_is_the_same_to_the_byte_each_time_it_is_made(lib: Lib, tmp_path: Path) -> None:
    first, second, other = tmp_path / "first", tmp_path / "second", tmp_path / "other"
    for folder in (first, second):
        status, out, _ = lib("dataset", "--out", folder, "--n", "100", "--seed", "7")
        assert (status, out.splitlines()) == (
            0,
            [
                f"{folder}: 97 trajectories",
                "3 of the 100 asked for are left out: 100 does not divide into equal cells.",
            ],
        )
    assert lib("dataset", "--out", other, "--n", "100", "--seed", "8")[0] == 0
    written = [(folder / "trajectories.jsonl").read_bytes() for folder in (first, second, other)]
    assert written[0] == written[1] != written[2]
    about = [json.loads((folder / "run.json").read_text()) for folder in (first, second)]
    assert about[0]["dataset"] == about[1]["dataset"]
    assert {key: about[0]["dataset"][key] for key in ("seed", "n", "shortfall")} == {"seed": 7, "n": 97, "shortfall": 3}


def test_400_trajectories_leave_nothing_out(lib: Lib, tmp_path: Path) -> None:
    status, out, _ = lib("dataset", "--out", tmp_path / "run")
    assert (status, out) == (0, f"{tmp_path / 'run'}: 400 trajectories\n")


def test_a_data_set_too_small_for_anything_is_refused(lib: Lib, tmp_path: Path) -> None:
    status, _, err = lib("dataset", "--out", tmp_path / "run", "--n", "3")
    assert (status, (tmp_path / "run").exists()) == (1, False)
    assert "4 is the least" in err


def test_the_least_data_set_is_counted_in_the_singular(lib: Lib, tmp_path: Path) -> None:
    status, out, _ = lib("dataset", "--out", tmp_path / "run", "--n", "4")
    assert (status, out.splitlines()[0]) == (0, f"{tmp_path / 'run'}: 1 trajectory")


@pytest.mark.parametrize("out", ["", " "])
def test_an_empty_out_is_refused_and_writes_nothing(
    lib: Lib, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = lib("dataset", "--out", out, "--n", "8")
    assert (status, list(tmp_path.iterdir())) == (1, [])
    assert "--out is empty: name the folder" in err


HUGE = "99999999999999999999999"


@pytest.mark.parametrize(
    "arguments",
    [
        ["dataset", "--out", "x", "--n", HUGE],
        ["dataset", "--out", "x", "--seed", HUGE],
        *(
            ["collect", "--run", "RUN", "--judge", "rules", option, HUGE]
            for option in ("--limit", "--k", "--workers", "--context", "--max-tokens", "--timeout")
        ),
        ["collect", "--run", "RUN", "--judge", "selfcons", "--model", "m", "--k", "1000000"],
        ["collect", "--run", "RUN", "--judge", "rules", "--timeout", "nan"],
        ["episodes", "--run", "RUN", "--model", "m", "--n", HUGE],
        ["score", "--run", "RUN", "--reps", "1000000000000"],
        ["score", "--run", "RUN", "--seed", HUGE],
    ],
    ids=" ".join,
)
def test_a_number_beyond_all_use_exits_2_and_changes_nothing(lib: Lib, run: Run, arguments: list[str]) -> None:
    before = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    assert lib(*(str(run.folder) if each == "RUN" else each for each in arguments))[0] == 2
    assert {path.name: path.read_bytes() for path in run.folder.iterdir()} == before


def test_a_folder_that_holds_another_data_set_is_left_alone(lib: Lib, run: Run) -> None:
    before = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    status, _, err = lib("dataset", "--out", run.folder, "--n", "40", "--seed", "8")
    assert status == 1
    assert "seed: recorded 7, now 8" in err
    assert lib("dataset", "--out", run.folder, "--n", "40", "--seed", "7")[0] == 0
    assert {path.name: path.read_bytes() for path in run.folder.iterdir()} == before


def test_collect_counts_what_it_kept_and_goes_on(lib: Lib, tmp_path: Path) -> None:
    lib("dataset", "--out", tmp_path, "--n", "40")
    command = ["collect", "--run", str(tmp_path), "--judge", "rules, coin"]
    assert lib(*command, "--limit", "10")[:2] == (0, "20 verdicts (0 of them not ok), 0 failures\n")
    assert lib(*command)[:2] == (0, "60 verdicts (0 of them not ok), 0 failures\n")
    assert lib(*command)[:2] == (0, "0 verdicts (0 of them not ok), 0 failures\n")
    assert len(Run.open(tmp_path).verdicts()) == 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--judge", "oracle"], "There is no judge 'oracle' of trajectories; choose from rules"),
        (["--judge", " , "], "Name at least one judge"),
        (["--judge", "rules,rules"], "named twice"),
        (["--judge", "outcome"], "name one with --model"),
        (["--judge", "outcome", "--model", " "], "name one with --model"),
        (["--judge", "outcome", "--model", "m\n"], r"--model 'm\n' has blanks"),
        (["--judge", "outcome", "--model", " m"], "--model ' m' has blanks"),
        (["--judge", "outcome", "--model", "m\ud800"], r"--model 'm\ud800' has blanks"),
        (["--judge", "outcome", "--model", "m\u202e"], r"--model 'm\u202e' has blanks"),
        (["--judge", "outcome", "--model", "m", "--base-url", "http://xn--/v1"], "--base-url 'http://xn--/v1' is no"),
        (["--judge", "step", "--model", "m", "--backend", "openai"], "needs --base-url"),
        (["--judge", "step", "--model", "m", "--backend", "openai", "--base-url", "localhost"], "is no address"),
    ],
)
def test_a_mistake_in_collect_is_named_and_changes_nothing(lib: Lib, run: Run, arguments: list[str], said: str) -> None:
    before = {path.name: path.read_bytes() for path in run.folder.iterdir()}
    status, _, err = lib("collect", "--run", run.folder, *arguments)
    assert status == 1
    assert said in err
    assert {path.name: path.read_bytes() for path in run.folder.iterdir()} == before


@pytest.mark.parametrize("command", [["collect", "--judge", "rules"], ["score"], ["check"]])
def test_a_run_that_is_none_is_named_with_the_remedy(lib: Lib, tmp_path: Path, command: list[str]) -> None:
    status, _, err = lib(*command, "--run", tmp_path / "nowhere")
    assert status == 1
    assert "There is no run" in err
    assert "python -m lib dataset" in err
    (tmp_path / "empty").mkdir()
    status, _, err = lib(*command, "--run", tmp_path / "empty")
    assert status == 1
    assert "is not a run: run.json is missing" in err


def test_an_option_of_another_kind_exits_2(lib: Lib, run: Run) -> None:
    assert lib("score", "--run", run.folder, "--format", "xml")[0] == 2
    assert lib("score", "--run", run.folder, "--reps", "0")[0] == 2
    assert lib("collect", "--run", run.folder, "--judge", "rules", "--workers", "0")[0] == 2
    assert lib("collect", "--run", run.folder, "--judge", "rules", "--backend", "carrier-pigeon")[0] == 2
    assert lib("fetch", "everything")[0] == 2


def test_json_scores_have_the_named_metrics_and_first_minus_second(lib: Lib, run: Run) -> None:
    command = ["score", "--run", str(run.folder), "--reps", "200", "--format", "json"]
    status, out, _ = lib(*command, "--compare", "rules,always-faulty")
    assert status == 0
    scores = json.loads(out, parse_constant=pytest.fail)
    assert list(scores["judges"]) == FREE.split(",")
    for judge in scores["judges"].values():
        assert judge["n"] == 40
        assert set(TRAJECTORY_METRICS.metrics) <= judge["metrics"].keys()
        assert all(set(metric) == {"value", "low", "high", "n"} for metric in judge["metrics"].values())
    expected = {"precision", "loud_minus_silent", "step_within_one", "step_exact_strict", "brier", "recall.wrong_tool"}
    assert expected <= scores["judges"]["rules"]["metrics"].keys()
    rules = scores["judges"]["rules"]["metrics"]
    assert [rules[name]["value"] for name in ("precision", "recall.wrong_tool", "recall.premature_stop")] == [1, 0, 1]
    assert {(delta["a"], delta["b"]) for delta in scores["deltas"]} == {("rules", "always-faulty")}
    [recall] = [delta for delta in scores["deltas"] if delta["metric"] == "recall"]
    assert (recall["value"], recall["reading"]) == (pytest.approx(rules["recall"]["value"] - 1), "lower")
    assert json.loads(lib(*command)[1])["deltas"] == []


def test_scores_at_a_base_rate_have_the_precision_and_the_cost_there(lib: Lib, run: Run) -> None:
    command = ["score", "--run", run.folder, "--reps", "50", "--format", "json", "--judge", "always-faulty,rules"]
    scores = json.loads(lib(*command, "--base-rate", "0.05", "--miss-cost", "20")[1])["judges"]
    found = {name: value["value"] for name, value in scores["always-faulty"]["metrics"].items()}
    assert found["precision.at_base_rate"] == pytest.approx(0.05)
    assert (found["cost.at_base_rate"], found["passing.at_base_rate"]) == (pytest.approx(0.95), pytest.approx(1))
    assert lib(*command, "--base-rate", "5")[0] == 1
    assert lib(*command, "--compare", "rules")[0] == 1


def test_replies_that_were_not_read_are_counted_in_every_format_and_most_unread_withhold_the_scores(lib: Lib) -> None:
    unread = "outcome:qwen2.5-coder:0.5b"
    command = ["score", "--run", "local", "--reps", "20", "--judge", f"rules,{unread}"]
    table = lib(*command)[1]
    assert next(line for line in table.splitlines() if "replies unread" in line).split()[2:] == ["0", "189"]
    assert next(line for line in table.splitlines() if " recall " in line).split()[-1] == "withheld"
    rows = list(csv.DictReader(io.StringIO(lib(*command, "--format", "csv")[1])))
    assert {row["unread"] for row in rows if row["judge"] == unread} == {"189"}
    assert json.loads(lib(*command, "--format", "json")[1])["judges"][unread]["unread"] == 189


@pytest.mark.parametrize("format", ["table", "json", "csv"])
def test_the_same_seed_prints_the_same_bytes(lib: Lib, run: Run, format: str) -> None:
    command = ["score", "--run", str(run.folder), "--reps", "200", "--format", format]
    assert lib(*command)[1] == lib(*command)[1] != ""
    if format == "json":
        assert lib(*command)[1] != lib(*command, "--seed", "1")[1]


def test_the_table_has_a_metric_a_line_and_a_judge_a_column(lib: Lib, run: Run) -> None:
    out = lib("score", "--run", run.folder, "--reps", "50")[1]
    head, *lines = out.splitlines()
    assert head.split() == ["metric", *FREE.split(",")]
    assert [line.split()[0] for line in lines][: len(METRICS)] == list(METRICS)
    assert lines[-2].split() == ["trajectories", "judged", *["40"] * 4]
    assert lines[-1].split() == ["replies", "unread", *["0"] * 4]


def test_csv_scores_are_one_row_a_judge_and_metric(lib: Lib, run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(lib("score", "--run", run.folder, "--reps", "50", "--format", "csv")[1])))
    assert {row["judge"] for row in rows} == set(FREE.split(","))
    assert len({(row["judge"], row["metric"]) for row in rows}) == len(rows)
    assert {"judge", "metric", "value", "low", "high", "n", "unread"} == set(rows[0])


def test_a_run_without_verdicts_is_not_scored_but_told_how_to_get_some(lib: Lib, tmp_path: Path) -> None:
    lib("dataset", "--out", tmp_path / "run", "--n", "8")
    status, _, err = lib("score", "--run", tmp_path / "run")
    assert status == 1
    assert f"collect --run {tmp_path / 'run'} --judge rules" in err


def test_check_counts_a_sound_run_and_names_the_broken_line_of_another(lib: Lib, run: Run) -> None:
    status, out, _ = lib("check", "--run", run.folder)
    assert status == 0
    assert f"run {run.folder}: 40 trajectories" in out
    assert all(f"  {judge}: 40 verdicts" in out for judge in FREE.split(","))
    path = run.folder / "verdicts.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"confidence":0.5', b'"confidence":92', 1))
    status, out, err = lib("check", "--run", run.folder)
    assert (status, out) == (1, "")
    assert "verdicts.jsonl, line 41: field confidence: 92 is not valid" in err


@pytest.fixture
def papers_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command puts the released run in these tests."""
    folder = tmp_path / "runs" / "paper"
    monkeypatch.setattr(cli, "fetch_paper", lambda source: fetch_paper(source, folder))
    return folder


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the released run is not here (shared/published)")
def test_fetch_takes_the_released_run_from_a_folder(lib: Lib, papers_place: Path) -> None:
    status, out, _ = lib("fetch", "paper", "--from", PUBLISHED)
    assert (status, out) == (0, f"{papers_place}: the paper's original files are there\n")
    assert lib("check", "--run", papers_place)[0] == 0


def test_fetch_from_a_folder_without_the_files_says_which(lib: Lib, papers_place: Path, tmp_path: Path) -> None:
    status, _, err = lib("fetch", "paper", "--from", tmp_path)
    assert status == 1
    assert "trajectories.jsonl" in err
    assert not papers_place.exists()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Script:
    """What a model says when the command line asks one."""
    script = Script([])
    monkeypatch.setattr(asking, "connect", lambda target: script)
    return script


def test_a_model_is_judged_with_what_the_command_line_says(lib: Lib, run: Run, model: Script) -> None:
    model.replies = [says(faulty=True), "?", *(says() for _ in range(4))]
    command = ["collect", "--run", run.folder, "--judge", "outcome,selfcons", "--model", "m", "--limit", "2"]
    status, out, _ = lib(*command, "--k", "2", "--context", "4096", "--max-tokens", "77", "--timeout", "9")
    assert (status, out) == (0, "4 verdicts (1 of them not ok), 0 failures\n")
    assert {(asked.num_ctx, asked.max_tokens, asked.timeout) for _, _, asked in model.asked} == {(4096, 77, 9.0)}
    assert [verdict.judge_id for verdict in run.verdicts()[-4:]] == ["outcome:m"] * 2 + ["selfcons2:m"] * 2
    status, _, err = lib(*command, "--k", "2", "--context", "8192", "--max-tokens", "77")
    assert status == 1
    assert "decoding.num_ctx: recorded 4096, now 8192" in err


def test_a_server_that_is_gone_stops_the_collection_with_exit_1(lib: Lib, run: Run, model: Script) -> None:
    model.replies = [says(), *(TransportError("refused") for _ in range(30))]
    status, _, err = lib("collect", "--run", run.folder, "--judge", "outcome", "--model", "m")
    assert status == 1
    assert "10 calls in a row failed, the last with: refused. Everything collected is kept" in err
    assert len(run.failures()) == 10
    assert run.verdicts()[-1].judge_id == "outcome:m"


def test_episodes_are_played_and_counted(lib: Lib, run: Run, model: Script) -> None:
    model.replies = [acts("escalate", text="x"), acts("reply", text="y"), TransportError("gone")]
    command = ["episodes", "--run", run.folder, "--model", "m"]
    assert lib(*command, "--n", "2")[:2] == (0, "1 episode, 1 failure\n")
    model.replies = [acts("reply", text="y")]
    assert lib(*command, "--n", "2")[:2] == (0, "1 episode, 0 failures\n")
    assert "episodes: 2" in lib("check", "--run", run.folder)[1]


def test_episodes_without_a_model_say_so(lib: Lib, run: Run) -> None:
    assert lib("episodes", "--run", run.folder)[0] == 1
    status, _, err = lib("episodes", "--run", run.folder, "--model", "")
    assert status == 1
    assert "--model" in err


def test_a_judge_that_never_answered_is_counted_by_check_and_left_out_of_the_scores(
    lib: Lib, run: Run, model: Script
) -> None:
    model.replies = [TransportError("refused") for _ in range(10)]
    assert lib("collect", "--run", run.folder, "--judge", "step", "--model", "m")[0] == 1
    assert "step:m: 0 verdicts, 40 missing" in lib("check", "--run", run.folder)[1]
    status, out, _ = lib("score", "--run", run.folder, "--reps", "50", "--format", "json")
    assert status == 0
    assert list(json.loads(out)["judges"]) == FREE.split(",")


def test_a_collection_whose_calls_all_fail_says_why_and_fails(
    tmp_path: Path, lib: Lib, monkeypatch: pytest.MonkeyPatch
) -> None:
    lib("dataset", "--out", tmp_path, "--n", "28")
    refused = Script([TransportError("refused", attempts=4)] * 4 + [TransportError("hung", attempts=4)])
    monkeypatch.setattr(asking, "connect", lambda target: refused)
    command = ("collect", "--run", tmp_path, "--judge", "outcome", "--model", "m", "--limit", "5")
    status, out, err = lib(*command)
    assert (status, out) == (1, "0 verdicts (0 of them not ok), 5 failures\n")
    assert "The last failure: hung. The same command asks again" in err


def test_text_that_no_encoding_can_print_or_that_a_terminal_obeys_is_escaped(run: Run, lib: Lib) -> None:
    path = run.folder / "verdicts.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    with path.open("a") as file:
        file.write(json.dumps(first | {"trajectory_id": "?\ud800\x1b[31m"}) + "\n")
    status, _, err = lib("check", "--run", run.folder)
    assert status == 1
    assert r"field trajectory_id: ?\ud800\u001b[31m is not in trajectories.jsonl" in err


def test_scores_of_altered_trajectories_say_so_and_no_more_is_judged(run: Run, lib: Lib) -> None:
    path = run.folder / "trajectories.jsonl"
    path.write_text(path.read_text().replace("Customer", "Kustomer", 1))
    status, _, err = lib("score", "--run", run.folder, "--reps", "5")
    assert status == 0
    assert "trajectories.jsonl is not what run.json records" in err
    status, _, err = lib("collect", "--run", run.folder, "--judge", "rules")
    assert status == 1
    assert "trajectories.jsonl: is not the file that run.json records" in err


def test_a_rubric_of_ones_own_is_collected_without_code(lib: Lib, run: Run, model: Script, tmp_path: Path) -> None:
    prompt = tmp_path / "strict.txt"
    prompt.write_text("Be strict. {procedure}\n{view}\n{reply form}", encoding="utf-8")
    command = ["collect", "--run", run.folder, "--judge", "rubric", "--model", "m", "--limit", "2"]
    model.replies = [says(faulty=True), says()]
    told = ["--prompt", prompt, "--name", "strict", "--view", "outcome"]
    assert lib(*command, *told)[:2] == (0, "2 verdicts (0 of them not ok), 0 failures\n")
    assert [verdict.judge_id for verdict in run.verdicts()[-2:]] == ["strict:m"] * 2
    assert "rubric_sha256" in run.manifest["judges"]["strict:m"]
    prompt.write_text("Be kind. {procedure}\n{view}\n{reply form}", encoding="utf-8")
    status, _, err = lib(*command, *told)
    assert status == 1
    assert "rubric_sha256: recorded" in err


def test_a_run_of_another_domain_is_not_judged_by_the_desks_procedure(lib: Lib, tmp_path: Path, model: Script) -> None:
    flight = Step(0, "t", ToolCall("book_flight", {}), Observation(True, {}))
    label = Label(False, None, None, True)
    run = Run.create(tmp_path / "air", {}, [Trajectory("F-1", "F-1", "Fly.", [flight], "Done.", label)])
    command = ["collect", "--run", run.folder, "--model", "m", "--judge"]
    for judge in ("rules", "step", "coin,direct-outcome"):
        status, _, err = lib(*command, judge)
        assert status == 1
        assert "F-1 is no trajectory of the refund desk (it calls 'book_flight')" in err
    assert not (run.folder / "verdicts.jsonl").exists()
    brief = tmp_path / "brief.txt"
    brief.write_text("It books.\nFailure types:\n- wrong_tool: booked in vain.\n", encoding="utf-8")
    model.replies = [says()]
    assert lib(*command, "step", "--brief", brief)[0] == 0
    assert "It books." in model.asked[0][0]
