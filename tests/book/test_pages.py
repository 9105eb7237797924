"""What the hand-written pages tell a reader to type works."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
import typer

from lib import ROOT
from lib.__main__ import app
from lib.desk.injector import JudgedSet
from lib.records import view_of

PAGES = sorted([*(ROOT / "book").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
TEXTS = {path: path.read_text(encoding="utf-8").replace("\\\n", " ") for path in PAGES}
COMMANDS = [
    pytest.param(shlex.split(found), id=f"{path.stem}: {found}")
    for path, text in TEXTS.items()
    for found in re.findall(r"python -m lib ([a-z][^`\n]*)", text)
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_every_command_of_the_pages_is_one_that_the_command_line_knows(arguments):
    command = typer.main.get_command(app).commands[arguments[0]]
    command.make_context(arguments[0], arguments[1:])


def test_every_file_that_the_pages_name_is_there():
    named = {name for text in TEXTS.values() for name in re.findall(r"`((?:lib|tests|notebooks)/[\w/.]+\.\w+)`", text)}
    assert "lib/judging/roster.py" in named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_judge_on_the_page_is_complete(tmp_path):
    source = re.search(
        r"```python\n((?:(?!```).)*class Weekdays.*?)```", TEXTS[ROOT / "book" / "own_judge.md"], re.DOTALL
    )
    names: dict = {}
    typed = f"{source[1]}\nfrom lib.judging.judge import Judge\n\njudge: Judge = Weekdays()\n"
    (tmp_path / "weekdays.py").write_text(typed, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", str(tmp_path / "weekdays.py")]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    exec(source[1], names)
    judge = names["Weekdays"]()
    flagged = {t.label.failure_type for t in JudgedSet(48, 7) if judge.judge(view_of(t, steps=False)).faulty}
    assert flagged == {"unsupported_claim"}
    assert judge.settings()
