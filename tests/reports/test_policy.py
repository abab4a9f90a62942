"""A policy names requirements and consumers; what it can't mean is refused in one line."""

from pathlib import Path

import pytest

from reports.policy import Policy, PolicyError, read_policy
from tests.reports.samples import HEADER


def refusal(path: Path) -> str:
    with pytest.raises(PolicyError) as refused:
        read_policy(path).check(HEADER)
    return str(refused.value)


def test_a_file_names_consumers_and_requirements(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('consumers = ["Inductor"]\nrequirements = ["J2"]\n')
    assert read_policy(tmp_path / "policy.toml") == Policy(("Inductor",), ("J2",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('consumers = ["nobody"]', "no consumer is called nobody: there are Inductor, autoparallel, partitioners"),
        ('requirements = ["X1"]', "X1: no requirement with a rule has this id"),
        ("consumers = ", "policy.toml: "),
        ('consumers = "Inductor"', "policy.toml: a list `consumers` or `requirements` of names is needed"),
        ("consumer = []", "policy.toml: a list `consumers` or `requirements` of names is needed"),
        ("", "policy.toml: a list `consumers` or `requirements` of names is needed"),
    ],
)
def test_what_a_policy_can_not_mean_is_one_line(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(text)
    message = refusal(tmp_path / "policy.toml")
    assert (told in message, message.count("\n")) == (True, 0)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    assert "none.toml: No such file" in refusal(tmp_path / "none.toml")
