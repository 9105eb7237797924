"""The command line: make a data set, collect verdicts, score them, build the book."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Literal

import typer

from lib.errors import UserError
from lib.judging.bench import MODEL_FREE, MODEL_JUDGES, make_judges, needs_model
from lib.judging.clients import Client, Decoding
from lib.runs import Run

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False, help=__doc__)

RunOption = Annotated[str, typer.Option("--run", help="A run: its name under data/runs, or its folder.")]
Backend = Literal["ollama", "openai"]


@app.command()
def dataset(
    out: Annotated[Path, typer.Option(help="Folder of the new run.")],
    n: Annotated[int, typer.Option(min=1, help="Trajectories: a quarter clean, the rest shared by six faults.")] = 400,
    seed: Annotated[int, typer.Option(help="Seed of instances, faults and order.")] = 7,
) -> None:
    """Make a run folder: trajectories whose faults are known, and run.json."""
    from tqdm import tqdm

    from lib.desk.injector import JudgedSet

    judged = JudgedSet(n, seed)
    about = {"dataset": {"seed": seed, "n": len(judged), "shortfall": judged.shortfall}}
    Run.create(out, about, tqdm(judged, total=len(judged), unit="trajectory", disable=None))
    typer.echo(f"{out}: {len(judged)} trajectories")
    if judged.shortfall:
        typer.echo(f"{judged.shortfall} of the {n} asked for are left out: {n} does not divide into equal cells.")


@app.command()
def collect(
    run: RunOption,
    judge: Annotated[str, typer.Option(help=f"Comma-separated: {', '.join([*MODEL_FREE, *MODEL_JUDGES])}.")],
    model: Annotated[str | None, typer.Option(help="Model that outcome, step and selfcons ask.")] = None,
    backend: Annotated[Backend, typer.Option(help="How the model is served.")] = "ollama",
    base_url: Annotated[str | None, typer.Option(help="Where: Ollama's host, or an OpenAI-compatible /v1 URL.")] = None,
    k: Annotated[int, typer.Option(help="Members of selfcons.")] = 3,
    context: Annotated[int, typer.Option(min=1, help="Context, in tokens.")] = 8192,
    max_tokens: Annotated[int, typer.Option(min=1, help="Cap on generated tokens.")] = 1024,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for one reply.")] = 600.0,
    workers: Annotated[int, typer.Option(min=1, help="Requests in flight at once.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge only the first N trajectories.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to spread the requests.")] = None,
) -> None:
    """Judge a run's trajectories. Interrupt it at any time; the same command goes on where it stopped."""
    from lib.judging.collect import collect as collect_verdicts

    names = [name.strip() for name in judge.split(",") if name.strip()]
    client = _client(backend, model, base_url) if model else None
    decoding = Decoding(num_ctx=context, max_tokens=max_tokens, timeout=timeout)
    judges = make_judges(names, client, decoding, k)
    endpoint = client.endpoint if client and needs_model(names) else None
    with _executor(cluster, workers) as executor:
        done = collect_verdicts(
            Run.open(run), judges, executor, workers=workers, limit=limit, endpoint=endpoint
        )
    typer.echo(f"{done.verdicts} verdicts, {done.not_ok} of them not readable, {done.failures} calls failed")


def _client(backend: Backend, model: str, base_url: str | None) -> Client:
    from lib.judging.clients import OllamaClient, OpenAIClient

    if backend == "ollama":
        return OllamaClient(model, base_url)
    if base_url is None:
        raise UserError("--backend openai needs --base-url, for example http://127.0.0.1:8080/v1.")
    return OpenAIClient(model, base_url)


def _executor(cluster: str | None, workers: int) -> Executor:
    if cluster is None:
        return ThreadPoolExecutor(workers)
    from lib.judging.cluster import dask_executor

    return dask_executor(cluster)


def main() -> None:
    """Run a command; an error meant for the user is printed without a traceback, with exit status 1."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        app()
    except UserError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
