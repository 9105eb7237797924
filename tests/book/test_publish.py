"""Publishing: only known parameters, the values used are what the page shows, and the same bytes every time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
import zmq
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lib import ROOT
from lib.book.jobs import Job, execute
from lib.book.publish import main, parameters_of, publish, write
from lib.errors import UserError

USES = "print(run, reps)"


def make(folder: Path, *cells: str, tagged: int | None = 0) -> Path:
    notebook = new_notebook(cells=[new_markdown_cell("# A title\n\nA question?", id="title")])
    for i, source in enumerate(cells):
        metadata = {"tags": ["parameters"]} if i == tagged else {}
        notebook.cells.append(new_code_cell(source, metadata=metadata, id=f"c{i}"))
    path = folder / "source.ipynb"
    write(notebook, path)
    return path


def test_parameters_and_defaults_are_read_from_the_tagged_cell(tmp_path):
    source = make(tmp_path, 'run = "local"  # which run\nreps: int = 10\njudges = None')
    assert parameters_of(source) == {"run": "local", "reps": 10, "judges": None}


def test_an_unknown_parameter_is_refused_with_the_known_ones(tmp_path):
    source = make(tmp_path, 'run = "local"\nreps = 10', USES)
    with pytest.raises(UserError, match=r"no parameter rep\. It knows: run, reps"):
        publish(source, tmp_path / "out.ipynb", {"rep": 5})
    assert not (tmp_path / "out.ipynb").exists()


def test_a_notebook_without_a_parameters_cell_is_refused(tmp_path):
    with pytest.raises(UserError, match="0 cells are tagged `parameters`"):
        publish(make(tmp_path, "x = 1", tagged=None), tmp_path / "out.ipynb", {"x": 2})


def test_a_default_that_is_not_a_plain_value_is_refused(tmp_path):
    with pytest.raises(UserError, match="default of `x` is not a plain value"):
        parameters_of(make(tmp_path, "x = open('file')"))


def test_the_command_says_what_is_wrong_and_exits_with_an_error(tmp_path):
    source = make(tmp_path, 'run = "local"')
    command = [sys.executable, "-m", "lib.book.publish", str(source), str(tmp_path / "out.ipynb"), "-p", "runs", "x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, "Error: source.ipynb has no parameter runs. It knows: run.")


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": 5}', '{"nbformat": 99, "cells": []}', "\udcff\udcfe"])
def test_a_file_that_is_no_notebook_is_named(tmp_path, text):
    source = tmp_path / "source.ipynb"
    source.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=r"source\.ipynb is no notebook: "):
        publish(source, tmp_path / "out.ipynb", {})


def test_a_target_that_cannot_be_written_is_named(tmp_path):
    notebook = nbformat.read(make(tmp_path, "x = 1"), as_version=4)
    for target in (tmp_path, tmp_path / "source.ipynb" / "out.ipynb"):
        with pytest.raises(UserError, match=f"{target} cannot be written"):
            write(notebook, target)


@pytest.mark.parametrize(("default", "value"), [("7", "x"), ("7", True), ("0.5", "x"), ("'local'", 3), ("False", 1)])
def test_a_parameter_of_another_type_is_refused_before_anything_runs(tmp_path, default, value):
    source = make(tmp_path, f"seed = {default}")
    with pytest.raises(UserError, match=r"source\.ipynb: the parameter seed is .*: give one like "):
        publish(source, tmp_path / "out.ipynb", {"seed": value})


def test_a_kernel_imports_the_package_from_this_tree(tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    publish(make(tmp_path, "x = 0.5", "import lib\nprint(lib.__file__)"), tmp_path / "out.ipynb", {"x": 1})
    assert nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs[0].text == f"{ROOT}/lib/__init__.py\n"
    assert os.environ["PYTHONPATH"] == str(tmp_path)


def test_on_the_command_line_a_number_is_text_where_the_default_is(tmp_path, monkeypatch):
    source = make(tmp_path, 'run = "local"\nreps = 10', USES)
    given = ["-p", "run", "2024", "-p", "reps", "3"]
    monkeypatch.setattr(sys, "argv", ["publish", str(source), str(tmp_path / "out.ipynb"), *given])
    main()
    assert nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs[0].text == "2024 3\n"


def test_publishing_twice_gives_the_same_bytes_and_shows_only_the_values_used(tmp_path):
    source = make(tmp_path, 'run = "local"\nreps = 10', USES)
    first, second = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    for target in (first, second):
        publish(source, target, {"reps": 7})
    assert first.read_bytes() == second.read_bytes()
    defaults, injected, uses = nbformat.read(first, as_version=4).cells[1:]
    assert "remove-cell" in defaults.metadata.tags
    assert injected.source == '# the parameters of this copy\nrun = "local"\nreps = 7\n'
    assert "hide-input" in injected.metadata.tags
    assert uses.outputs[0].text == "local 7\n"


def test_executing_in_place_adds_no_cell_and_a_failing_cell_is_named(tmp_path):
    source = make(tmp_path, "reps = 10", "print(reps)")
    publish(source, source, {})
    assert [cell.id for cell in nbformat.read(source, as_version=4).cells] == ["title", "c0", "c1"]
    broken = make(tmp_path, "reps = 10", "reps / 0")
    with pytest.raises(UserError, match=r"cell 2 failed\.\nZeroDivisionError: division by zero"):
        publish(broken, tmp_path / "out.ipynb", {})
    assert not (tmp_path / "out.ipynb").exists()


def test_a_kernel_that_dies_is_said(tmp_path):
    killed = make(tmp_path, "reps = 10", "import os\nos.kill(os.getpid(), 9)")
    with pytest.raises(UserError, match="its kernel died"):
        publish(killed, tmp_path / "out.ipynb", {})


def test_a_published_chapter_is_labelled_named_for_its_run_and_due_again_only_with_another_key(tmp_path):
    target = tmp_path / "out" / "source.ipynb"
    job = Job(make(tmp_path, "reps = 10"), target, {"reps": 3}, ("local-x", "chapter-x"), "local", "A note.", "key 1")
    assert job.is_due()
    execute(job)
    assert not job.is_due()
    assert job._replace(key="key 2").is_due()
    cells = nbformat.read(target, as_version=4).cells
    assert cells[0].source.startswith("(local-x)=\n(chapter-x)=\n# A title (local)\n")
    assert cells[1].source == "A note."


@pytest.mark.skipif(not zmq.has("ipc"), reason="this system has no sockets in folders")
def test_a_kernel_takes_no_port_that_another_could_take_first(tmp_path):
    asks = "from ipykernel.kernelapp import IPKernelApp\napp = IPKernelApp.instance()\nprint(app.transport, app.ip)"
    publish(make(tmp_path, "x = 1", asks), tmp_path / "out.ipynb", {})
    transport, place = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs[0].text.split()
    assert transport == "ipc"
    assert not Path(place).parent.exists(), "the sockets are removed with the kernel"


def test_where_a_folder_of_sockets_would_have_too_long_a_path_the_kernel_starts_all_the_same(tmp_path, monkeypatch):
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    publish(make(tmp_path, "x = 1", "print(x)"), tmp_path / "out.ipynb", {})
    assert nbformat.read(tmp_path / "out.ipynb", as_version=4).cells[-1].outputs[0].text == "1\n"
