"""Replies and environments that broke the collector: one case a public bug report, kept beside the repository."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lib import ROOT
from lib.__main__ import main
from lib.desk.injector import JudgedSet
from lib.judging.clients import pace
from lib.run.folder import Run
from tests.judging import fake_server as fake
from tests.judging.fake_server import FakeServer, serving

CASES = sorted((ROOT.parent / "shared" / "cases").glob("F*.json"))
KEY = "sk-SECRET"


@dataclass
class Outcome:
    """What a user of ``collect`` has at the end."""

    status: int
    said: str
    run: Run

    @property
    def statuses(self) -> list[str]:
        return [verdict.status for verdict in self.run.verdicts()]

    @property
    def kinds(self) -> list[str]:
        return [failure["kind"] for failure in self.run.failures()]

    @property
    def flagged(self) -> bool:
        return all(verdict.status == "ok" and verdict.faulty for verdict in self.run.verdicts())


def collected(case: dict[str, Any], folder: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> int:
    """Exit status of ``collect`` against a server that answers as the case says."""
    Run.create(folder, {"dataset": {"seed": 7}}, JudgedSet(28, 7))
    answer = fake.body(case.get("raw_body") or json.dumps(case["body"]), case["status"])
    prompts: list[str] = []

    def behave(handler: fake.Handler) -> None:
        prompt = fake.prompt_of(handler.body)
        if prompt not in prompts:
            prompts.append(prompt)
        (answer if not case["only_second_trajectory"] or prompts[1:2] == [prompt] else fake.good())(handler)

    server.otherwise = behave
    server.on_probe = [fake.good()] if case["only_second_trajectory"] else []
    url = f"http://{server.address}{'/v1' if case['backend'] == 'openai' else ''}"
    command = ["lib", "collect", "--run", str(folder), "--judge", "step", "--model", "m", "--limit", "4"]
    monkeypatch.setattr(sys, "argv", [*command, "--backend", case["backend"], "--base-url", url, *case["args"]])
    for name, value in case["env"].items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def says(words: str) -> Callable[[Outcome], bool]:
    return lambda outcome: outcome.status == 1 and re.search(words, outcome.said) is not None


def all_are(status: str, words: str = "") -> Callable[[Outcome], bool]:
    return lambda outcome: set(outcome.statuses) == {status} and re.search(words, outcome.said) is not None


def one_failure(kind: str, words: str) -> Callable[[Outcome], bool]:
    """One trajectory failed with the server's words; the other three are judged."""
    return lambda outcome: (
        outcome.status == 0
        and outcome.statuses == ["ok"] * 3
        and outcome.kinds == [kind]
        and words in outcome.run.failures()[0]["error"]
    )


def read(outcome: Outcome) -> bool:
    return len(outcome.statuses) == 4 and outcome.flagged


RIGHT: dict[str, Callable[[Outcome], bool]] = {
    "F01": lambda outcome: outcome.statuses == [] and set(outcome.kinds) == {"context"},
    "F02": read,
    "F02b": says("Error: OPENAI_API_KEY: character 11 is none that can be sent"),
    "F04": says("Unsupported parameter: 'max_tokens'.*--cap-name"),
    "F04b": says("'temperature' does not support.*--temperature"),
    "F04d": says("type is unavailable now.*--response-format; no better with response_format now json_object"),
    "F05": one_failure("refused", "content management policy"),
    "F05c": one_failure("context", "207791 tokens > 200000"),
    "F05e": one_failure("refused", "flagged for violence"),
    "F06": all_are("truncated"),
    "F06b": all_are("unparseable", "a thought and no answer"),
    "F06d": read,
    "F06e": read,
    "F06h": read,
    "F07": lambda outcome: "flagged for possible cybersecurity risk" in outcome.said and outcome.statuses == [],
    "F07b": says("Unexpected endpoint or method.*is the address complete.*/v1"),
    "F07d": lambda outcome: says("only supported in v1/responses")(outcome) and "ollama pull" not in outcome.said,
    "F08": says("fewer --workers(.|\\n)*Waiting 1.2 s for the server's limit"),
    "F10": read,
    "F10c": read,
    "F11": all_are("unparseable", "Most replies could not be used, 10 of 10.*ignore the form"),
    "F11b": all_are("truncated", "used up by thinking.*--again unread --max-tokens"),
    "F14": read,
    "F16": lambda outcome: read(outcome) and {verdict.prompt_tokens for verdict in outcome.run.verdicts()} == {None},
}


@pytest.mark.skipif(not CASES, reason="the cases are not there: ../shared/cases")
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_from_a_bug_report_gets_its_right_outcome(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    case = json.loads(path.read_text().replace("try again in 20s", "try again in 1.2s"))
    monkeypatch.setattr(pace, "A_MINUTE", 1.0)
    with serving() as server:
        status = collected(case, tmp_path, server, monkeypatch)
    outcome = Outcome(status, "".join(capsys.readouterr()) + caplog.text, Run.open(tmp_path))
    assert RIGHT[path.stem.partition("_")[0]](outcome), (case["right"], outcome.said, outcome.run.failures()[:1])
    assert "Traceback" not in outcome.said
    assert KEY not in outcome.said
    assert KEY.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
