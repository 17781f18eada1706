"""Numbers that a user sets by environment variables."""

from __future__ import annotations

import pytest

from penstock.distributed.abandonment import limit_of_environment
from penstock.distributed.arena import allowance
from penstock.distributed.health import patience_of_environment
from penstock.distributed.numbers_of_environment import number_of_environment

NAME = "PENSTOCK_TESTED_NUMBER"


@pytest.mark.parametrize(
    ("text", "number"), [(None, 3.0), ("", 3.0), ("0", 0.0), ("2.5", 2.5), ("inf", float("inf"))]
)
def test_a_number_or_the_default(monkeypatch, text, number):
    monkeypatch.delenv(NAME, raising=False)
    if text is not None:
        monkeypatch.setenv(NAME, text)
    assert number_of_environment(NAME, 3.0) == number


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "10 s"])
@pytest.mark.parametrize(
    ("variable", "read"),
    [
        ("PENSTOCK_ABANDONED_SECONDS", limit_of_environment),
        ("PENSTOCK_SILENCE_SECONDS", patience_of_environment),
        ("PENSTOCK_SHM", allowance),
    ],
)
def test_what_is_no_number_is_refused_by_the_name_of_its_variable(
    monkeypatch, variable, read, text
):
    monkeypatch.setenv(variable, text)
    with pytest.raises(ValueError, match=f"{variable} is {text!r}: it takes a number >= 0"):
        read()


def test_shared_memory_has_no_more_than_the_machine(monkeypatch):
    monkeypatch.setenv("PENSTOCK_SHM", "inf")
    most = allowance()
    monkeypatch.setenv("PENSTOCK_SHM", "1")
    assert allowance() == most // 4
    monkeypatch.setenv("PENSTOCK_SHM", "123456")
    assert allowance() == 123456
