"""Reliability, ECE and Brier on the eight hand-made verdicts; bins closed on the right."""

from __future__ import annotations

import numpy as np
import pytest

from lib.analysis.calibration import (
    brier_score,
    calibration_summary,
    confidence_support,
    expected_calibration_error,
    reliability,
)
from lib.analysis.quantities import confidence_bin


def test_bins_are_closed_on_the_right():
    edges = [0.0, 0.1, 0.3, 0.6, 0.7, 0.9, 1.0]
    assert confidence_bin(np.array(edges)).tolist() == [0, 0, 2, 5, 6, 8, 9]
    assert confidence_bin(np.array([0.61, 0.9000001])).tolist() == [6, 9]


def test_reliability_by_hand(rows):
    table = reliability(rows).set_index("bin")
    assert table["n"].to_dict() == {5: 2, 6: 1, 7: 1, 8: 3, 9: 1}
    assert table["accuracy"].to_dict() == pytest.approx({5: 0, 6: 1, 7: 1, 8: 2 / 3, 9: 1})
    assert table.loc[8, ["lower", "upper", "confidence"]].tolist() == pytest.approx([0.8, 0.9, 0.9])
    assert table.loc[5, ["low", "high"]].tolist() == pytest.approx([0, 1 - 0.025**0.5])


def test_summary_by_hand(rows):
    (found,) = calibration_summary(rows).to_dict("records")
    assert found["ece"] == pytest.approx(0.3)
    assert found["brier"] == pytest.approx(0.21)
    assert (found["accuracy"], found["confidence"]) == (5 / 8, pytest.approx(0.8))
    assert (found["distinct"], found["commonest"], found["commonest_share"]) == (5, 0.9, 3 / 8)


def test_perfectly_stated_confidence_has_no_calibration_error():
    assert expected_calibration_error([0.75] * 4, [1, 1, 1, 0]) == 0
    assert brier_score([1.0, 1.0], [1, 1]) == 0


def test_support_lists_every_stated_value(rows):
    table = confidence_support(rows)
    assert table["confidence"].tolist() == [0.6, 0.7, 0.8, 0.9, 1.0]
    assert table["share"].tolist() == [2 / 8, 1 / 8, 1 / 8, 3 / 8, 1 / 8]


def test_nothing_stated_has_no_calibration():
    assert np.isnan([expected_calibration_error([], []), brier_score([], [])]).all()
