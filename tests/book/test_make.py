"""``make book``: the run's name reaches the command as it was given."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from lib import ROOT


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize("given", ["environment", "argument"])
@pytest.mark.parametrize("run", ["paper", 'a"b', "my run", "a'b; exit 3", ""])
def test_the_run_reaches_the_command_whatever_its_name(tmp_path, run, given):
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor each in "$@"; do echo "<$each>"; done\n')
    python.chmod(0o755)
    command = ["make", "-s", "-o", ".venv/installed", "book", f"BIN={tmp_path}"]
    environment = {"PATH": os.environ["PATH"]}
    if given == "argument":
        command.append(f"RUN={run}")
    else:
        environment["RUN"] = run
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["<-m>", "<lib>", "<book>", *([f"<--run={run}>"] if run else [])]
