"""What chapters say of the paper's run, from the values in their stored sentences; the right ones were recomputed."""

from __future__ import annotations

import pytest

from tests.notebook import stored


def test_the_blind_spot_is_seen_beside_the_false_alarms() -> None:
    said = stored("1_blind_spot").values
    assert (said["o.silent"], said["o.clean"]) == (pytest.approx(79 / 175, abs=1e-6), 0.33)
    assert (said["s.silent"], said["s.clean"]) == (pytest.approx(134 / 175, abs=1e-6), 0)
    assert (said["gain"], said["alarms"]) == ("higher", "lower")


def test_loud_faults_are_not_seen_in_a_reply_that_they_leave_as_it_was() -> None:
    said = stored("1_blind_spot").values
    assert (said["changed[silent]"], said["changed[loud]"]) == (pytest.approx(50 / 175, abs=1e-6), 0.4)
    assert said["inside.value[0]"] == pytest.approx(0.066667)
    assert said["inside.reading[0]"] == "not told apart"
    assert said["outcome"] == ["premature_stop", "unsupported_claim"]
