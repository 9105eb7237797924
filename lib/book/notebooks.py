"""Notebooks executed by papermill, and copies of them as pages: bytes depend on code, parameters and data only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import papermill
import zmq
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from lib import ROOT
from lib.errors import UserError

NOTEBOOKS = ROOT / "notebooks"
LONGEST_SUFFIX = 4  # a kernel's five sockets are called s-1 and so on
HEADING = "## "


class Page(NamedTuple):
    """A notebook to execute, and the page that comes of it.

    Attributes:
        target: where the copy is written; the notebook itself to store what it shows.
        parameters: those that differ from its own.
        label: what other pages call it in a cross-reference; empty to leave the text as it stands.
        whose: whose verdicts it shows, for its title.
    """

    source: Path
    target: Path
    parameters: dict[str, Any] = {}  # noqa: RUF012 (a field of a NamedTuple, never changed)
    label: str = ""
    whose: str = ""


def execute_all(pages: list[Page], workers: int = 2) -> None:
    """Execute notebooks, ``workers`` at once; the first that fails stops those that have not begun.

    Raises:
        UserError: a notebook fails.
    """
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(execute, page) for page in pages]
        done, waiting = wait(futures, return_when=FIRST_EXCEPTION)
        if waiting:
            pool.shutdown(wait=False, cancel_futures=True)
        for future in done:
            future.result()


def execute(page: Page) -> None:
    """Execute one notebook and write its page."""
    notebook = executed(page.source, page.parameters)
    if page.label:
        notebook.cells = without_empty(notebook.cells)
        _entitle(notebook, page)
    _write(notebook, page.target)


def executed(source: Path, parameters: Mapping[str, Any]) -> Any:
    """The notebook after execution, without what differs from one execution to the next.

    Raises:
        UserError: a cell fails, or the kernel dies.
    """
    try:
        with _this_tree_first(), _own_sockets() as sockets:
            notebook = papermill.execute_notebook(
                str(source),
                None,
                parameters=dict(parameters),
                kernel_name="python3",
                language="python",
                progress_bar=False,
                log_output=False,
                cwd=str(NOTEBOOKS),
                extra_arguments=["--IPKernelApp.log_level=50"],
                config=sockets,
            )
    except DeadKernelError as error:
        raise UserError(f"{source}: its kernel died while it was executed, perhaps for want of memory.") from error
    except PapermillExecutionError as error:
        raise UserError(f"{source}: cell {error.exec_count} failed.\n{error.ename}: {error.evalue}") from error
    return _scrub(notebook)


def default_run(source: Path) -> str | None:
    """The run that a notebook shows when it is not told; None if it takes no such parameter."""
    told = papermill.inspect_notebook(str(source)).get("run")
    return str(told["default"]).strip("\"'") if told else None


def title(source: Path) -> str:
    """The notebook's first heading."""
    cells = nbformat.read(source, as_version=4).cells
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), source.stem)


def without_empty(cells: list[Any]) -> list[Any]:
    """The cells of an executed notebook, less each section whose code shows nothing.

    A section is a Markdown cell that begins with a heading of the second level, and what follows it up to the next.
    One without code stays: its text is all that it is to show.
    """
    number, numbers = 0, []
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if out.get("data", {}).get("text/plain") != ""]
        number += cell.cell_type == "markdown" and cell.source.startswith(HEADING)
        numbers.append(number)
    sections = groupby(zip(numbers, cells, strict=True), key=lambda pair: pair[0])
    return [cell for _, pairs in sections for cell in _shown([cell for _, cell in pairs])]


def _shown(section: list[Any]) -> list[Any]:
    code = [cell for cell in section if cell.cell_type == "code"]
    shows = any(cell.outputs for cell in code)
    return [] if code and section[0].source.startswith(HEADING) and not shows else section


def _entitle(notebook: Any, page: Page) -> None:
    """Give a page its label, say in its title whose verdicts it shows; links to text pages lead to the built ones."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace("](../book/", "](../")
    first = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    heading, _, rest = first.source.partition("\n")
    first.source = f"({page.label})=\n{heading}{f' ({page.whose})' if page.whose else ''}\n{rest}"


def _scrub(notebook: Any) -> Any:
    """Remove times, random ids and the interpreter's version."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
        if not cell.metadata.get("tags"):
            cell.metadata.pop("tags", None)
    return notebook


def _write(notebook: Any, target: Path) -> None:
    nbformat.validate(notebook)
    text = nbformat.writes(notebook) + "\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


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
