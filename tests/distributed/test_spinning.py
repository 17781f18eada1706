"""How long a thread looks for a message before it sleeps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.distributed import spinning


class Clock:
    """Time that passes only while a thread leaves its core to others."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.looks = 0
        self.others_take = 1e-6

    def perf_counter(self) -> float:
        return self.seconds

    def leave_core(self) -> None:
        self.seconds += self.others_take

    def poll(self, timeout: float = 0, /) -> list[tuple[int, int]]:
        self.looks += 1
        return []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(spinning, "time", made)
    monkeypatch.setattr(spinning, "_yield_core", made.leave_core)
    monkeypatch.setattr(spinning, "_SECONDS", 700e-6)
    monkeypatch.setattr(spinning._Process, "resigned_until", 0.0)
    return made


def _looks(clock: Clock, has_to_stop: Callable[[], object] | None = lambda: False) -> int:
    before = clock.looks
    assert spinning.found_soon(clock, has_to_stop) == []
    return clock.looks - before


def test_it_looks_again_and_again_for_a_moment(clock: Clock) -> None:
    assert 690 <= _looks(clock) <= 710
    assert 690 <= _looks(clock) <= 710


def test_what_has_come_is_found_at_once(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "poll", lambda timeout: [(3, 1)])
    assert spinning.found_soon(clock) == [(3, 1)]
    assert clock.seconds == 1000.0


def test_it_stops_when_others_have_something_to_do(clock: Clock) -> None:
    assert _looks(clock, lambda: clock.looks >= 5) == 5


def test_who_waits_for_an_answer_sleeps_when_others_use_its_core(clock: Clock) -> None:
    clock.others_take = 100e-6
    assert _looks(clock, None) == 2
    clock.others_take = 1e-6
    assert _looks(clock, None) > 600  # and only that once


def test_nobody_looks_for_a_while_after_others_have_computed_on_the_core(clock: Clock) -> None:
    clock.others_take = 500e-6
    assert _looks(clock) == 2  # what has come meanwhile is found
    clock.others_take = 1e-6
    assert _looks(clock) == 1
    assert _looks(clock, None) == 1
    clock.seconds += 0.02
    assert _looks(clock) > 600
