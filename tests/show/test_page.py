"""A notebook says whose verdicts it shows, refuses parameters that it does not have, and shows text as text."""

from __future__ import annotations

import pytest

from lib import show
from lib.errors import UserError
from lib.records import Label
from lib.show.page import refuse_unknown
from tests.run_builders import trajectory, verdict

KNOWN = 'run = "paper"\njudges = None'


def test_a_parameter_that_the_notebook_does_not_have_is_refused() -> None:
    refuse_unknown(["", KNOWN, '# Parameters\nrun = "mine"\n', "from lib import bench"])
    with pytest.raises(UserError, match=r"no parameter runs here\. There are: run, judges"):
        refuse_unknown(["", KNOWN, '# Parameters\nruns = "mine"\n'])


def test_a_trajectory_marks_its_fault_and_escapes_what_models_wrote() -> None:
    faulty = trajectory("INS-1<b>", Label(True, 2, "wrong_tool", True))
    shown = show.trajectory(faulty, [verdict(rationale="<script>x</script>", faulty=True, failure_step=1)])
    assert shown.html.count("← the fault") == 1
    assert "<script>" not in shown.html
    assert "<b>" not in shown.html
    assert "step:m: faulty at step 1, confidence 0.80" in shown.text
    assert "← the fault" not in show.trajectory(faulty, label=False).html
