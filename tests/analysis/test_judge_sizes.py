"""What is read from a judge's id and from its entry in run.json."""

from __future__ import annotations

import pytest

from lib.analysis.judges import ensembles, judge_name, model_size, size_text, with_model


def test_id_falls_into_kind_members_and_model():
    assert judge_name("selfcons3:qwen2.5:14b") == ("selfcons", 3, "qwen2.5:14b")
    assert judge_name("step:llama3.1:8b") == ("step", 1, "llama3.1:8b")
    assert judge_name("rules") == ("rules", 1, None)
    for odd in ("selfcons0", "selfcons" + "9" * 400):
        assert judge_name(f"{odd}:m") == (odd, 1, "m")


def test_ensembles_give_no_reasons_and_outcome_judges_see_no_steps():
    judges = ("step:m", "outcome:m", "selfcons5:m", "coin")
    assert [judge_name(judge).reasons for judge in judges] == [True, True, False, False]
    assert [judge_name(judge).sees_steps for judge in judges] == [True, False, True, True]


def test_ensemble_is_read_against_the_step_judge_of_its_model():
    judges = ["rules", "step:a", "selfcons3:a", "selfcons3:b", "outcome:b"]
    assert ensembles(judges) == {"selfcons3:a": "step:a"}
    assert with_model(judges) == judges[1:]


@pytest.mark.parametrize(
    ("judge", "settings", "size", "text"),
    [
        ("step:qwen2.5:14b", None, 14e9, "14B"),
        ("outcome:qwen2.5-coder:0.5b", {}, 0.5e9, "500M"),
        ("step:smollm2:135m", None, 135e6, "135M"),
        ("step:Qwen2.5-7B-Instruct", None, 7e9, "7B"),
        ("step:qwen2.5-coder:0.5b", {"weights": {"n_params": 494_032_768}}, 494_032_768, "494M"),
        ("step:qwen2.5:14b", {"weights": {"parameter_size": "14.8B"}}, 14.8e9, "14.8B"),
        ("step:x:7b", {"weights": {"n_params": 999_700_000}}, 999_700_000, "1B"),
        ("step:model-k4b2", None, None, "size unknown"),
        ("always-faulty", None, None, "no model"),
    ],
)
def test_size_is_the_servers_count_else_the_names(judge, settings, size, text):
    assert model_size(judge, settings) == (None if size is None else pytest.approx(size))
    assert size_text(judge, model_size(judge, settings)) == text
