"""What the gate page is handed: rates of judges that can be put to use, and nothing that could end its script."""

from __future__ import annotations

from test_explorer import EVIL, make_run, trajectory

from lib.book.gate import of_run, write_gate
from lib.records import Label, Verdict
from lib.run.folder import Run

CLEAN, SILENT = Label(False, None, None, True), Label(True, 1, "wrong_tool", True)


def said(name: str, judge: str, faulty: bool) -> Verdict:
    return Verdict(trajectory_id=name, judge_id=judge, faulty=faulty, confidence=0.9)


def test_a_judge_of_one_side_only_and_a_baseline_are_left_out(tmp_path):
    known = [
        trajectory(f"{label.faulty}{i}", label, instance=f"INS-{i:05d}") for i in range(3) for label in (CLEAN, SILENT)
    ]
    names = [one.trajectory_id for one in known]
    verdicts = [said(name, judge, name.startswith("True")) for name in names for judge in ("step:m", "coin")]
    verdicts += [said(name, "half", True) for name in names if name.startswith("True")]
    (judge,) = of_run("mine", Run.open(make_run(tmp_path / "mine", known, verdicts).run))["judges"]
    assert judge["id"] == "step:m"
    assert (judge["silent"][0], judge["silent"][3], judge["alarms"][0], judge["alarms"][3]) == (1, 3, 0, 3)
    assert judge["silent"][1] < 1
    assert judge["alarms"][2] > 0


def test_a_run_without_verdicts_has_no_judge(tmp_path):
    run = Run.create(tmp_path / "bare", {}, [trajectory("a", CLEAN)])
    assert of_run("bare", run) == {"name": "bare", "judges": []}


def test_a_judges_name_cannot_end_the_script(tmp_path):
    known = [trajectory("a", CLEAN), trajectory("b", SILENT)]
    shown = make_run(tmp_path / "mine", known, [said("a", f"step:{EVIL}", False), said("b", f"step:{EVIL}", True)])
    (tmp_path / "_static").mkdir()
    write_gate(tmp_path, [shown])
    text = (tmp_path / "_static" / "gate-data.js").read_text(encoding="ascii")
    assert "onerror" in text
    assert "<" not in text
