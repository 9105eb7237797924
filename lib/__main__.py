"""The command line: make a data set, collect verdicts, score them, build the book."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from msgspec.structs import replace
from tqdm import tqdm

from lib.desk.injector import JudgedSet
from lib.errors import COMMAND, UserError
from lib.fetch import fetch_paper
from lib.judging import agent
from lib.judging.asking import LARGEST_SEED, Asking, asks
from lib.judging.clients import CallFailed, Client, Decoding
from lib.judging.clients.probe import settle
from lib.judging.cluster import dask_executor
from lib.judging.collect import Again, Collected, Collector
from lib.judging.plans import planned
from lib.judging.roster import MOST_MEMBERS, ROSTERS, make_judges, needs_model
from lib.judging.rubric import chosen, refuse_foreign
from lib.plans.faults import plans as faulty_plans
from lib.plans.faults import some_plans
from lib.plans.generate import generate
from lib.plans.prompts import PLANNER_SCHEMA
from lib.plans.study import PLANS, RECORDS
from lib.records import Sees
from lib.run import check as inspection
from lib.run.folder import Run
from lib.trajectories import TRAJECTORIES
from lib.visible import visible

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False, help=__doc__)

# Bounds that keep a mistyped number from filling memory or disk.
STUDIES = (TRAJECTORIES, PLANS)
MOST_TRAJECTORIES = 1_000_000
MOST_RECORDS = 10_000
MOST_REPLICATES = 100_000

RunOption = Annotated[str, typer.Option("--run", help="A run: its name under data/runs, or its folder.")]


@app.command()
def dataset(
    out: Annotated[str, typer.Option(help="Folder of the new run.")],
    n: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_TRAJECTORIES, help="Trajectories: a quarter clean, the rest shared by six faults."
        ),
    ] = 400,
    seed: Annotated[
        int, typer.Option(min=-LARGEST_SEED, max=LARGEST_SEED, help="Seed of instances, faults and order.")
    ] = 7,
) -> None:
    """Make a run folder: trajectories whose faults are known, and run.json."""
    if not out.strip():
        raise UserError("--out is empty: name the folder of the new run, for example data/runs/trial.")
    judged = JudgedSet(n, seed)
    if not len(judged):
        raise UserError(
            f"--n {n} leaves no trajectory: a quarter is clean, so --n 4 is the least (one clean trajectory, no fault)."
        )
    about = {"dataset": {"seed": seed, "n": len(judged), "shortfall": judged.shortfall}}
    Run.create(Path(out), about, tqdm(judged, total=len(judged), unit="trajectory", disable=None))
    typer.echo(f"{out}: {len(judged)} {'trajectory' if len(judged) == 1 else 'trajectories'}")
    if judged.shortfall:
        are = "is" if judged.shortfall == 1 else "are"
        typer.echo(f"{judged.shortfall} of the {n} asked for {are} left out: {n} does not divide into equal cells.")


@app.command()
def plans(
    out: Annotated[str, typer.Option(help="Folder of the new run.")],
    n: Annotated[int, typer.Option(min=1, max=MOST_RECORDS, help="Records of each of the six topologies.")] = 12,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of records and faults.")] = 7,
    each: Annotated[
        int | None, typer.Option(min=1, help="Broken plans of each record, besides the right one; all by default.")
    ] = None,
) -> None:
    """Make a run folder of part II: records, and plans for them whose faults are known."""
    records = generate(seed, n)
    every = [plan for record in records for plan in faulty_plans(record, seed)]
    judged = every if each is None else some_plans(records, seed, each)
    about = {"dataset": {"seed": seed, "n": len(judged), "records": len(records)}}
    Run.create(Path(out), about, judged, PLANS, {RECORDS.file: records})
    typer.echo(f"{out}: {len(records)} records, {len(judged)} plans")


JUDGES = "; ".join(f"of {study.name}: {roster.names}" for study, roster in ROSTERS.items())
JudgeOption = Annotated[str, typer.Option(help=f"Comma-separated; {JUDGES}.")]
PromptOption = Annotated[Path | None, typer.Option(help="The prompt of --judge rubric: a text file with places.")]
NameOption = Annotated[str | None, typer.Option(help="Name of --judge rubric: its id is NAME:MODEL.")]
ViewOption = Annotated[Sees, typer.Option(help="What --judge rubric is shown.")]
BriefOption = Annotated[Path | None, typer.Option(help="Procedure and failure types, instead of the refund desk's.")]


@app.command()
@asks
def collect(
    run: RunOption,
    judge: JudgeOption,
    asking: Asking,
    prompt: PromptOption = None,
    name: NameOption = None,
    view: ViewOption = "step",
    brief: BriefOption = None,
    k: Annotated[int, typer.Option(min=2, max=MOST_MEMBERS, help="How often selfcons and repeat ask.")] = 3,
    limit: Annotated[
        int | None, typer.Option(min=1, max=MOST_TRAJECTORIES, help="Judge only the first N cases.")
    ] = None,
    again: Annotated[
        Again | None,
        typer.Option(
            help="Ask once more about replies that could not be read (the earlier ones are kept in "
            "verdicts.replaced.jsonl), or about prompts that the server refused."
        ),
    ] = None,
) -> None:
    """Judge what a run holds. Interrupt it at any time; the same command goes on where it stopped.

    A model judge's id is JUDGE:MODEL, such as step:qwen2.5:14b. The key of a hosted model is read from OPENAI_API_KEY.
    """
    names = [name.strip() for name in judge.split(",") if name.strip()]
    opened, decoding, client, changed = Run.open(run, *STUDIES), asking.decoding(), None, list[str]()
    study = opened.study
    rubrics = chosen(names, prompt, name, view, brief)
    if study is TRAJECTORIES:
        refuse_foreign(names, opened.trajectories().values(), brief is not None)
    elif brief is not None:
        raise UserError(f"--brief is for judges of trajectories; {opened.folder} is a run of {study.name}.")
    if needs_model(names, study):
        client = asking.client()
        decoding, changed = _settled(client, ROSTERS[study].schema, decoding)
    judges = make_judges(names, client, decoding, k, rubrics, study)
    with _collector(client, asking, changed) as collector:
        done = collector.verdicts(opened, judges, limit, again)
    _report(done, f"{_count(done.kept, 'verdict')} ({done.not_ok} of them not ok), {_count(done.failures, 'failure')}")


@app.command()
@asks
def episodes(
    run: RunOption,
    asking: Asking,
    n: Annotated[
        int, typer.Option(min=1, max=MOST_TRAJECTORIES, help="Episodes, on the first N instances of the run's seed.")
    ] = 60,
) -> None:
    """Let a model play the support desk: what goes wrong when nothing was injected. Resumable like collect."""
    opened, client = Run.open(run), asking.client()
    decoding, changed = _settled(client, agent.ACTION_SCHEMA, replace(asking.decoding(), logprobs=0))
    with _collector(client, asking, changed) as collector:
        done = collector.make(opened, agent.episodes(opened, client, decoding, n))
    _report(done, f"{_count(done.kept, 'episode')}, {_count(done.failures, 'failure')}")


@app.command()
@asks
def plan(
    run: RunOption,
    asking: Asking,
    n: Annotated[
        int | None, typer.Option(min=1, max=MOST_RECORDS, help="Plan for the first N records; for all by default.")
    ] = None,
) -> None:
    """Let a model plan for the records of a run of plans, at each tier; its plans join those to be judged."""
    opened, client = Run.open(run, PLANS), asking.client()
    decoding, changed = _settled(client, PLANNER_SCHEMA, replace(asking.decoding(), logprobs=0))
    with _collector(client, asking, changed) as collector:
        done = collector.make(opened, planned(opened, client, decoding, n))
    _report(done, f"{_count(done.kept, 'plan')} ({done.not_ok} of them not ok), {_count(done.failures, 'failure')}")


def _settled(client: Client, schema: dict[str, Any], decoding: Decoding) -> tuple[Decoding, list[str]]:
    """How the server can be asked, found out with one request, and said."""
    decoding, changed = settle(client, schema, decoding)
    for change in changed:
        typer.echo(visible(f"Asked otherwise than told: {change}"), err=True)
    return decoding, changed


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _report(done: Collected, counts: str) -> None:
    """Print what a collection did, and why what is missing is; exit status 1 if failures are all there is."""
    typer.echo(counts)
    for line in done.remarks():
        typer.echo(visible(line), err=True)
    if done.failures and not done.kept:
        raise typer.Exit(1)


@contextmanager
def _collector(client: Client | None, asking: Asking, changed: list[str]) -> Iterator[Collector]:
    with dask_executor(asking.cluster) if asking.cluster else ThreadPoolExecutor(asking.workers) as executor:
        try:
            yield Collector(executor, asking.workers, client.endpoint if client else None, changed)
        except KeyboardInterrupt:
            typer.echo("Interrupted. Everything collected is kept; the same command goes on.", err=True)
            sys.stdout.flush()
            # A request that was left in flight must not keep the process until its time-out.
            os._exit(130)


@app.command()
def score(
    run: RunOption,
    reps: Annotated[int, typer.Option(min=1, max=MOST_REPLICATES, help="Bootstrap replicates.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the bootstrap.")] = 0,
    format: Annotated[Literal["table", "json", "csv"], typer.Option(help="What to print.")] = "table",
    judge: Annotated[str | None, typer.Option(help="Comma-separated ids; all judges by default.")] = None,
    compare: Annotated[
        list[str] | None, typer.Option(help="Two ids, A,B: their paired differences, A minus B (may be repeated).")
    ] = None,
    base_rate: Annotated[float | None, typer.Option(help="Share of your cases that are faulty: adds its rows.")] = None,
    miss_cost: Annotated[float, typer.Option(help="What a miss costs, in false alarms (with --base-rate).")] = 1.0,
) -> None:
    """Score the judges of a run: each metric with its 95 % interval, and how many replies could not be read."""
    # What scores, and what builds the book, takes seconds to load; no other command waits for it.
    from lib import bench as trajectories_bench
    from lib.analysis import printed
    from lib.plans import bench as plans_bench

    opened = Run.open(run, *STUDIES)
    judges = [name.strip() for name in judge.split(",")] if judge else None
    bench = plans_bench if opened.study is PLANS else trajectories_bench
    board = bench.open(opened, judges, reps, seed)
    if board.verdicts.empty:
        free = next(iter(ROSTERS[opened.study].free))
        raise UserError(f"{opened.folder} has no verdicts yet: `{COMMAND} collect --run {run} --judge {free}`.")
    for name in opened.altered:
        typer.echo(f"{opened.folder}: {name} is not what run.json records; did all judges see the same?", err=True)
    if base_rate is not None and opened.study is not TRAJECTORIES:
        raise UserError(f"--base-rate is for judges that flag; those of {opened.study.name} grade.")
    asked = [pair.split(",") for pair in compare or ()]
    if odd := [pair for pair in asked if len(pair) != 2]:
        raise UserError(f"--compare takes two ids, as A,B, not {','.join(odd[0])}")
    worth = None if base_rate is None else (base_rate, miss_cost)
    paired = [board.paired(a.strip(), b.strip()) for a, b in asked]
    typer.echo(printed.FORMATS[format](board, printed.scores(board, worth), paired))


@app.command()
def check(run: RunOption) -> None:
    """Validate every file of a run and print what is in it."""
    typer.echo(visible(str(inspection.check(Run.open(run, *STUDIES)))))


@app.command()
def fetch(
    what: Annotated[Literal["paper"], typer.Argument(help="The released files of the trajectory-judge paper.")],
    source: Annotated[Path | None, typer.Option("--from", help="Take the files from this folder instead.")] = None,
) -> None:
    """Download the paper's original files, sentences and all, into data/released/paper, checking every checksum."""
    typer.echo(f"{fetch_paper(source).folder}: the paper's original files are there")


@app.command()
def book(
    run: Annotated[list[str] | None, typer.Option(help="Build the whole book on this run (name or folder).")] = None,
) -> None:
    """Run the notebooks and build the book, by default on the two that are shipped: the paper's and our own."""
    from lib.book.build import build_book

    typer.echo(build_book(run or ()))


def main() -> None:
    """Run a command; an error meant for the user is printed without a traceback, with exit status 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a run's files may hold text that no encoding can print
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        app()
    except (UserError, CallFailed) as error:
        typer.echo(f"Error: {visible(str(error))}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
