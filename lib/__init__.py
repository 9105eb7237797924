"""What LLM judges miss: a testbed, judges on the bench, and the statistics behind the book."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "data" / "runs"
REFERENCE = ROOT / "data" / "reference"
