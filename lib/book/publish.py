"""Run a notebook with papermill and write a copy whose bytes depend only on its code, its parameters and the data."""

from __future__ import annotations

import argparse
import ast
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import papermill
import zmq
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from lib import ROOT
from lib.errors import UserError

LONGEST_SUFFIX = 4  # a kernel's five sockets are called s-1 and so on


def parameters_of(notebook: Path) -> dict[str, Any]:
    """The notebook's parameters and their defaults.

    Raises:
        UserError: no cell, or more than one, is tagged ``parameters``, or a default is not a plain value.
    """
    cells = [c for c in _read(notebook).cells if "parameters" in c.metadata.get("tags", [])]
    if len(cells) != 1:
        raise UserError(f"{notebook}: {len(cells)} cells are tagged `parameters`; tag exactly the one that sets them.")
    defaults = {}
    try:
        statements = ast.parse(cells[0].source).body
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{notebook}: the cell tagged `parameters` is no Python ({error}).") from error
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                defaults[name] = _default(notebook, name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                defaults[name] = _default(notebook, name, value)
    return defaults


def _default(notebook: Path, name: str, value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError as error:
        raise UserError(f"{notebook}: the default of `{name}` is not a plain value; write a literal.") from error


def publish(source: Path, target: Path, parameters: Mapping[str, Any]) -> None:
    """Execute ``source`` with ``parameters`` into ``target``; without any it can be rewritten in place.

    Raises:
        UserError: an unknown parameter or one of another type, no cell of parameters, a cell that fails, a file that
            is no notebook or cannot be written.
    """
    write(executed(source, parameters), target)


def executed(source: Path, parameters: Mapping[str, Any]) -> Any:
    """The notebook as it stands after execution. It shows the values that were used: the defaults are left out.

    Raises:
        UserError: as ``publish``.
    """
    known = parameters_of(source)
    if unknown := sorted(set(parameters) - set(known)):
        raise UserError(f"{source.name} has no parameter {', '.join(unknown)}. It knows: {', '.join(known)}.")
    for name, value in parameters.items():
        _refuse_another_kind(source, name, known[name], value)
    try:
        with _this_tree_first(), _own_sockets() as sockets:
            notebook = papermill.execute_notebook(
                str(source),
                None,
                parameters={**known, **parameters} if parameters else {},
                kernel_name="python3",
                language="python",
                progress_bar=False,
                log_output=False,
                cwd=str(ROOT / "notebooks"),
                extra_arguments=["--IPKernelApp.log_level=50"],
                config=sockets,
            )
    except DeadKernelError as error:
        raise UserError(f"{source}: its kernel died while it was executed, perhaps for want of memory.") from error
    except PapermillExecutionError as error:
        raise UserError(f"{source}: cell {error.exec_count} failed.\n{error.ename}: {error.evalue}") from error
    return scrub(notebook)


def _refuse_another_kind(source: Path, name: str, default: Any, value: Any) -> None:
    """A parameter is of its default's type; a whole number serves as a float, and where None is, anything does."""
    kinds = (int, float) if isinstance(default, float) else type(default)
    fits = isinstance(value, kinds) and isinstance(value, bool) == isinstance(default, bool)
    if default is not None and value is not None and not fits:
        raise UserError(
            f"{source.name}: the parameter {name} is {value!r}, not a {type(default).__name__}: "
            f"give one like {default!r}."
        )


@contextmanager
def _this_tree_first() -> Iterator[None]:
    """Kernels started meanwhile import the package from here, not a copy that is installed elsewhere."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([before] if before else [])])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def _own_sockets() -> Iterator[Config]:
    """Kernel settings: sockets in a folder of their own, where the system has such and takes the path; else TCP.

    A TCP port is chosen before the kernel opens it, and another kernel that starts meanwhile may take it.
    """
    settings = Config()
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        place = str(Path(folder) / "s")
        if zmq.has("ipc") and len(os.fsencode(place)) <= zmq.IPC_PATH_MAX_LEN - LONGEST_SUFFIX:
            settings.KernelManager.transport = "ipc"
            settings.KernelManager.ip = place
        yield settings


def scrub(notebook: Any) -> Any:
    """Remove what differs from one execution to the next: times, random ids, the interpreter's version."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    injected = any("injected-parameters" in c.metadata.get("tags", []) for c in notebook.cells)
    for cell in notebook.cells:
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            cell["id"] = "injected-parameters"
            cell.source = cell.source.replace("# Parameters\n", "# the parameters of this copy\n", 1)
            tags.append("hide-input")
        elif "parameters" in tags and injected and "remove-cell" not in tags:
            tags.append("remove-cell")
        if not tags:
            cell.metadata.pop("tags", None)
    return notebook


def write(notebook: Any, target: Path) -> None:
    """Write a notebook, unless the file already says the same (so that the book need not read it again).

    Raises:
        UserError: the file cannot be written.
    """
    nbformat.validate(notebook)
    text = nbformat.writes(notebook) + "\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != text.encode():
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{target} cannot be written ({error.strerror}); choose another target.") from error


def title(notebook: Any) -> str:
    """The notebook's first heading."""
    for cell in notebook.cells:
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
            if line.startswith("# "):
                return str(line.removeprefix("# ").strip())
    return "Untitled"


def _read(path: Path) -> Any:
    if not path.is_file():
        raise UserError(f"There is no notebook {path}.")
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, nbformat.ValidationError) as error:
        # The library answers JSON of another shape with whichever of these its code runs into.
        raise UserError(f"{path} is no notebook: {str(error).partition(chr(10))[0]}") from error
    return notebook


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def main() -> None:
    """``python -m lib.book.publish SOURCE TARGET -p NAME VALUE …``.

    A value is text where the parameter's default is, else a Python literal if it can be read as one.
    """
    parser = argparse.ArgumentParser(prog="python -m lib.book.publish", description=publish.__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters")
    arguments = parser.parse_args()
    try:
        known = parameters_of(arguments.source)
        # A run may be called 2024: where the default is text, what is given is text.
        given = {n: t if isinstance(known.get(n), str) else _literal(t) for n, t in arguments.parameters}
        publish(arguments.source, arguments.target, given)
    except UserError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
