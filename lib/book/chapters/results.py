"""Results at a glance: the headline, what the trajectories are, and whether the paper's figures come out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from lib.analysis.agreement import UNKNOWN
from lib.analysis.capability import BASELINES, base_rates, floor_check
from lib.analysis.judges import with_model
from lib.analysis.reproduction import BOUND_TOLERANCE, is_papers_run, published_comparison
from lib.analysis.scores import Estimate, Scores
from lib.show.tables import Table
from lib.book.scoreboard import NO_MODEL, NO_VERDICTS, breakable
from lib.show.text import Prose, listed, prose, said
from lib.records import FAULT_TYPES, STRATA



def headline(scores: Scores, trajectories: pd.DataFrame) -> Prose:
    """What was judged, and what the judges with a model (or the rules, where there are none) make of it."""
    faulty, silent = trajectories["faulty"].astype(bool), trajectories["outcome_correct"].astype(bool)
    counts = prose(
        "Of {n} trajectories, {clean} are clean, {silent} have a silent fault (the outcome is right all the same) "
        "and {loud} a loud one.",
        n=len(trajectories),
        clean=int((~faulty).sum()),
        silent=int((faulty & silent).sum()),
        loud=int((faulty & ~silent).sum()),
    )
    if not scores.judges:
        return said(counts, prose(NO_VERDICTS))
    models = with_model(scores.judges)
    if not models:
        return said(counts, prose(NO_MODEL), _rates(scores, [j for j in scores.judges if j not in BASELINES]))
    parts = _part(scores, models, len(trajectories)), ability(scores, models), _gap(scores, models)
    return said(counts, *parts)


def _part(scores: Scores, models: Sequence[str], n: int) -> Prose | None:
    short = {judge: scores.n[judge] for judge in models if scores.n[judge] < n}
    if not short:
        return None
    least, most = min(short.values()), max(short.values())
    return prose(
        "{judges} judged only {span} of them, and each rate below is over what a judge has judged.",
        judges=listed(short),
        span=f"{least}" if least == most else f"{least} to {most}",
    )


def ability(scores: Scores, models: Sequence[str]) -> Prose:
    """Which judges tell faulty from clean at all, and the rates of the one that does it best."""
    floor = floor_check(scores, models).set_index("judge_id")
    able = [judge for judge in models if floor["passed"].eq(True)[judge]]
    graded = [judge for judge in models if floor["passed"].notna()[judge]]
    if not graded:
        return prose("No judge with a model has judged enough of them to be graded ({few}).", few=listed(models))
    best = max(graded, key=lambda judge: scores.estimate(judge, "youden_j").value)
    j = scores.estimate(best, "youden_j")
    if not able:
        return said(_none_able(len(graded), best, j), _rates(scores, [best]))
    verb = "tells" if len(able) == 1 else "tell"
    return said(
        prose(
            "Overall, {able} of the {k} judges with a model {verb} faulty from clean at all: the whole interval of Youden's J "
            "(recall minus false-alarm rate) is above 0. The highest J is that of {best:code}, {j:ci}.",
            able=len(able),
            k=len(graded),
            verb=verb,
            best=best,
            j=j,
        ),
        _rates(scores, [best]),
    )


def _none_able(k: int, best: str, j: Estimate) -> Prose:
    below = " (it lies below: the judge flags clean trajectories more readily than faulty ones)" if j.high < 0 else ""
    if k == 1:
        return prose(
            "The one judge with a model, {best:code}, does not tell faulty from clean: its Youden's J (recall minus "
            "false-alarm rate) is {j:ci}, an interval that does not lie above 0" + below + ".",
            best=best,
            j=j,
        )
    return prose(
        "Overall, none of the {k} judges with a model tells faulty from clean: not one has a Youden's J (recall minus "
        "false-alarm rate) whose whole interval lies above 0. The highest is that of {best:code}, {j:ci}" + below + ".",
        k=k,
        best=best,
        j=j,
    )


def _gap(scores: Scores, models: Sequence[str]) -> Prose:
    """How many judges catch loud faults more often than silent ones, beyond what chance explains."""
    gaps = {judge: scores.estimate(judge, "loud_minus_silent") for judge in models}
    wider = [judge for judge, gap in gaps.items() if gap.low > 0]
    if not wider:
        return prose("No judge with a model catches loud faults more often than silent ones, beyond what chance gives.")
    return prose(
        "{wider} of the {k} {verb} loud faults more often than silent ones, most clearly {judge:code} (by {gap:ci}).",
        wider=len(wider),
        verb="catches" if len(wider) == 1 else "catch",
        k=len(models),
        judge=max(wider, key=lambda name: gaps[name].value),
        gap=max((gaps[name] for name in wider), key=lambda gap: gap.value),
    )


def _rates(scores: Scores, judges: Sequence[str]) -> Prose | None:
    """Silent and loud recall beside the false alarms of the judge with the highest Youden's J."""
    if not judges:
        return None
    judge = max(judges, key=lambda name: scores.estimate(name, "youden_j").value)
    silent, loud, alarms = (
        scores.estimate(judge, metric) for metric in ("silent_recall", "loud_recall", "false_alarm_rate")
    )
    return prose(
        "{judge:code} flags {silent:ci} of the silent faults and {loud:ci} of the loud ones, and {alarms:ci} of the "
        "clean trajectories.",
        judge=judge,
        silent=silent,
        loud=loud,
        alarms=alarms,
    )


def generous_f1(trajectories: pd.DataFrame) -> Prose:
    """What F1 says of a judge that does not look."""
    flagging_all = base_rates(trajectories).iloc[0]
    return prose(
        "F1 is the paper's summary, and it is generous where most trajectories are faulty. Here {share:.0%} are, and a "
        "judge that flags everything reaches {f1:.3f}. Youden's J (recall minus false-alarm rate) is 0 for every judge "
        "that does not look.",
        share=flagging_all["precision"],
        f1=flagging_all["f1"],
    )


def strata_table(trajectories: pd.DataFrame) -> Table:
    """How many trajectories of each kind of instance are clean, or carry each fault."""
    kinds = trajectories["failure_type"].where(trajectories["faulty"].astype(bool), "clean")
    strata = trajectories["stratum"].fillna(UNKNOWN)
    counts = pd.crosstab(strata, kinds).reindex(columns=["clean", *FAULT_TYPES], fill_value=0)
    counts = counts.reindex([name for name in (*STRATA, UNKNOWN) if name in counts.index])
    counts["all"] = counts.sum(axis=1)
    shown = counts.rename_axis(index="stratum", columns=None).rename(columns=breakable)
    return Table(shown, "Trajectories by kind of instance and fault", data=counts.rename_axis(columns=None))


def reproduction(scores: Scores, figures: pd.DataFrame, episodes: Mapping[str, float] | None) -> Prose:
    """Whether the paper's figures come out again on its own run; on another run, why some may be compared."""
    found = published_comparison(scores, figures, episodes)
    if not is_papers_run(scores, figures):
        known = [judge for judge in scores.judges if judge in set(found["judge"])]
        if not known:
            return prose("The paper reports none of the judges of this run, so there is nothing to set beside ours.")
        return prose("This is not the paper's run; of the judges here, the paper reports {known}.", known=listed(known))
    ok = found.groupby(["judge", "metric"], sort=False)["reproduced"].all()
    meaning = prose(
        "A value counts as reproduced when it rounds to the printed digits, a bound when it is within {tolerance} or "
        "one step of its proportion's grid, since two bootstraps differ by chance.",
        tolerance=BOUND_TOLERANCE,
    )
    if ok.all():
        return said(prose("All {n} published figures are reproduced from the raw verdicts.", n=len(ok)), meaning)
    failed = listed(f"{judge} {metric}" for judge, metric in ok[~ok].index)
    k = int((~ok).sum())
    return said(
        prose("{k} of {n} published figures are not reproduced: {failed}.", k=k, n=len(ok), failed=failed), meaning
    )
