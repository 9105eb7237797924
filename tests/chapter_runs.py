"""The shipped trajectories with judges whose verdicts are given by hand, for tests of what chapters say."""

from __future__ import annotations

import pandas as pd

from lib import RUNS
from lib.analysis.scores import Scores, score
from lib.judging.roster import MODEL_FREE
from lib.run.folder import Frames, Run


def model_free_frames() -> Frames:
    """The shipped run with its judges without a model only, however many models have judged it since."""
    frames = Run.open(RUNS / "local").frames(text=False)
    own = frames.verdicts[frames.verdicts["judge_id"].isin(MODEL_FREE)]
    return Frames(frames.trajectories, own.reset_index(drop=True))


def verdicts_of(frames: Frames, judges: dict[str, pd.Series], n: int = 400) -> pd.DataFrame:
    """Verdicts of judges that flag where their series says so, each on the first n trajectories."""
    first = frames.trajectories.head(n)
    template = frames.verdicts.drop_duplicates("trajectory_id").set_index("trajectory_id").loc[first["trajectory_id"]]
    given = [
        template.assign(judge_id=name, faulty=flags.head(n).to_numpy(), failure_step=pd.NA, failure_type=None)
        for name, flags in judges.items()
    ]
    return pd.concat(given).reset_index()


def scored(frames: Frames, judges: dict[str, pd.Series], n: int = 400) -> Scores:
    """Scores of ``verdicts_of``."""
    return score(frames.trajectories, verdicts_of(frames, judges, n), reps=200)


def faulty(frames: Frames) -> pd.Series:
    return frames.trajectories["faulty"].astype(bool)


def loud(frames: Frames) -> pd.Series:
    return faulty(frames) & ~frames.trajectories["outcome_correct"].astype(bool)


def everything(frames: Frames) -> pd.Series:
    return faulty(frames) | True
