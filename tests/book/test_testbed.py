"""The testbed's page: every case once, the edit marked, and nothing of it hand-written."""

from __future__ import annotations

import pytest

from lib.book.testbed import Case, aligned, cases, definitions, fit_table, side_by_side
from lib.desk.faults import FAULTS
from lib.show.trajectory import Html

CASES = list(cases(7))


def case_of(fault: str, stratum: str) -> Case:
    return next(case for case in CASES if (case.fault, case.stratum) == (fault, stratum))


def test_every_fault_is_there_for_every_stratum_that_can_carry_it():
    fits = [(fault, stratum) for fault in FAULTS for stratum in FAULTS[fault].carriers]
    assert sorted((case.fault, case.stratum) for case in CASES) == sorted(fits)
    assert fit_table(7).loc["ignored_observation"].tolist() == ["–", "loud", "–", "–", "–", "–"]
    assert fit_table(7).loc["skipped_precondition"].tolist() == ["silent", "loud", "–", "–", "–", "–"]


def test_each_fault_is_defined_and_said_to_be_silent_or_loud():
    table = definitions(7)
    assert list(table.index) == list(FAULTS)
    assert table.loc["skipped_precondition", "the fault is"] == "silent or loud"
    assert table.loc["unsupported_claim", "the fault is"] == "silent"
    assert table.loc["premature_stop", "the fault is"] == "loud"


def test_one_case_of_each_fault_is_readable_without_a_script():
    html = side_by_side(7).html
    assert html.count("<section") == len(CASES)
    assert html.count("<section") - html.count(" hidden>") == len(FAULTS)


def test_a_deleted_step_faces_a_gap_and_a_replaced_one_faces_its_original():
    def tools(case):
        return [tuple(step.call.tool if step else None for step in row) for row in aligned(*steps_of(case))]

    def steps_of(case):
        return case.clean.steps, case.faulty.steps

    assert tools(case_of("skipped_precondition", "happy"))[3:5] == [
        ("check_eligibility", None),
        ("issue_refund", "issue_refund"),
    ]
    assert tools(case_of("wrong_tool", "expired"))[2] == ("get_policy", "lookup_order")
    assert tools(case_of("premature_stop", "happy"))[4:] == [("issue_refund", None), ("reply", None)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.fault}-{case.stratum}")
def test_exactly_the_labelled_step_is_marked(case):
    shown: Html = side_by_side(7)
    section = next(
        part
        for part in shown.html.split("<section ")[1:]
        if f'data-fault="{case.fault}" data-stratum="{case.stratum}"' in part
    )
    assert section.count('<li class="fault">') == 1
    marked = section.split('<li class="fault">')[1].split("</li>")[0]
    assert f"<p>{case.faulty.label.failure_step}. " in marked
