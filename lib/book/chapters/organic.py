"""Chapter 6 in a paragraph: how many episodes went wrong, how, and how they ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from lib.analysis import episodes
from lib.analysis.bootstrap import exact_interval
from lib.analysis.organic import asked_for
from lib.analysis.scores import Estimate
from lib.show.text import Prose, prose
from lib.judging.agent import MOST_STEPS
from lib.errors import COMMAND


def answer(frame: pd.DataFrame, run: str, manifest: Mapping[str, Any]) -> Prose:
    """What went wrong when a model played the desk itself.

    Args:
        frame: of ``episode_frame``.
        run: the run's name; manifest: its run.json.
    """
    if frame.empty:
        return prose(
            "No model has played the desk in this run, so this chapter has no figures for it. "
            f"`{COMMAND} episodes --run {{run}} --model MODEL` lets one play; then build the book again.",
            run=run,
        )
    counts, ends, kinds = episodes.summary(frame), episodes.endings(frame, MOST_STEPS), episodes.by_fault_type(frame)
    n, asked = counts["episodes"], asked_for(manifest) or 0
    typed = len(kinds) and kinds["failure_type"].iloc[0] != "untyped"
    low, high = exact_interval(counts["faulty"], n)
    return prose(
        "A model played {episodes} episodes"
        + (", the first of {asked} that were asked for" if asked > n else "")
        + ". {faulty} of them are faulty (a share of {share:ci}): {wrong_outcome} end with "
        "the wrong outcome, and {silent} break a rule although the outcome is right. "
        + ("The commonest fault is {kind:code}, {most} of the {faulty}. " if typed else "")
        + "A check of the outcome passes {right} episodes, {silent} of them faulty. "
        + (
            "No episode reached an end of its own: all were cut off at {steps} steps"
            if ends["cut_off"] == n
            else "{cut_off} episodes were cut off at {steps} steps"
        )
        + ", and {loops} made one and the same call throughout.",
        share=Estimate(counts["faulty"] / n, float(low), float(high), n),
        kind=kinds["failure_type"].iloc[0] if typed else "",
        most=int(kinds["n"].iloc[0]) if typed else 0,
        right=n - counts["wrong_outcome"],
        asked=asked,
        steps=MOST_STEPS,
        **counts,
        **ends,
    )
