"""How many verdicts a second the collector takes in, and its own share of the time with a real model.

    python benchmarks/collect.py [folder of a run with verdicts of real models; the run `local` by default]

An endpoint that answers at once (in a process of its own) is asked by 1, 8 and 64 workers through the client, the
collector and the store, as `python -m lib collect` does; the same with a judge that answers without any request shows
what collector and store cost alone. That time a verdict, over the seconds that a run's models took for one, is the
collector's share.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lib.desk.injector import JudgedSet
from lib.judging.clients import Decoding, Target, connect
from lib.judging.collect import Collector
from lib.judging.judge import Judge
from lib.judging.llm import PromptJudge
from lib.judging.prompts import RUBRICS
from lib.records import About, Judgement, View
from lib.run.folder import Run

WORKERS = (1, 8, 64)
TRAJECTORIES = 1_000
REPLY = json.dumps({"reasoning": "r " * 200, "faulty": False, "failure_type": "none", "confidence": 0.9})
ANSWER = json.dumps(
    {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": REPLY}}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 200},
    }
).encode()


class AtOnce(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.answer(404, b"{}")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.answer(200, ANSWER)

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def serve(port: Connection) -> None:
    server = Server(("127.0.0.1", 0), AtOnce)
    port.send(server.server_address[1])
    server.serve_forever()


class NoRequest:
    """A judge that answers without asking anyone: what is left is the collector and the store."""

    judge_id = "none"
    about = About(kind="none", sees="outcome")
    batch = "none"

    def settings(self) -> dict[str, Any]:
        return {"backend": "none"}

    def judge(self, view: View) -> Judgement:
        return Judgement(faulty=False, confidence=0.9, rationale="r " * 200, raw_reply=REPLY, status="ok")


def collected(judge: Judge, workers: int, folder: Path) -> tuple[float, float]:
    """Wall and processor seconds of a collection of that many trajectories."""
    run = Run.create(folder, {}, JudgedSet(TRAJECTORIES, 7))
    start, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(workers) as threads:
        done = Collector(threads, workers).verdicts(run, [judge])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    assert done.kept == len(run.trajectories())
    return seconds / done.kept, cpu / done.kept


def report(label: str, workers: int, wall: float, cpu: float) -> None:
    print(f"{label:<28}{workers:>8}{1 / wall:>12,.0f}{1e3 * wall:>12.2f}{1e3 * cpu:>12.2f}", flush=True)


def main() -> None:
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    client = connect(Target(model="m", backend="openai", base_url=f"http://127.0.0.1:{here.recv()}/v1"))
    print(f"{'':<28}{'workers':>8}{'verdicts/s':>12}{'ms each':>12}{'CPU, ms':>12}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for workers in WORKERS:
            judge = PromptJudge(RUBRICS["outcome"], client, Decoding())
            report("endpoint that answers at once", workers, *collected(judge, workers, Path(folder) / str(workers)))
        alone = collected(NoRequest(), 1, Path(folder) / "alone")
        asked = collected(PromptJudge(RUBRICS["outcome"], client, Decoding()), 1, Path(folder) / "again")
    server.terminate()
    report("no request at all", 1, *alone)
    share(alone[1], asked[1])


def share(alone: float, asked: float) -> None:
    """Processor time a verdict, without and with the request, over each real judge's seconds a verdict."""
    run = Run.open(sys.argv[1] if len(sys.argv) > 1 else "local")
    verdicts = run.frames(text=False).verdicts
    print(f"\n{'judge':<36}{'verdicts':>10}{'s each':>10}{'collector':>12}{'and client':>12}")
    for judge, own in verdicts[verdicts["latency_s"] > 0.01].groupby("judge_id", sort=False):
        seconds = own["latency_s"].mean()
        print(f"{judge:<36}{len(own):>10,}{seconds:>10.2f}{alone / seconds:>12.4%}{asked / seconds:>12.4%}")


if __name__ == "__main__":
    main()
