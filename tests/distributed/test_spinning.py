"""How long a thread looks for a message before it sleeps."""

from __future__ import annotations

import os
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
    monkeypatch.setattr(spinning._Process, "stays_until", 0.0)
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


class Cores:
    """Two cores, on the first of which the thread is; `moves`: where it was told it may be."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running = 2
        self.moves: list[set[int]] = []
        monkeypatch.setattr(spinning, "_running", lambda: self.running)
        monkeypatch.setattr(spinning, "_current_core", lambda: 0)
        monkeypatch.setattr(spinning, "processors", lambda: 2)
        monkeypatch.setattr(spinning.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
        monkeypatch.setattr(
            spinning.os,
            "sched_setaffinity",
            lambda _, cores: self.moves.append(cores),
            raising=False,
        )


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> Cores:
    return Cores(monkeypatch)


def _looks_and_may_move(clock: Clock) -> int:
    before = clock.looks
    assert spinning.found_soon(clock, may_move=True) == []
    return clock.looks - before


def test_who_shares_its_core_beside_an_idle_one_moves_there(clock: Clock, cores: Cores) -> None:
    clock.others_take = 100e-6
    assert _looks_and_may_move(clock) == 3  # others use that one, too: it sleeps
    assert cores.moves == [{1}, {0, 1}]
    assert _looks_and_may_move(clock) == 2  # it has moved just now
    clock.seconds += 0.006
    assert _looks_and_may_move(clock) == 3
    assert len(cores.moves) == 4


def test_nobody_moves_where_all_cores_are_wanted(clock: Clock, cores: Cores) -> None:
    clock.others_take = 100e-6
    cores.running = 3
    assert _looks_and_may_move(clock) == 2
    assert _looks(clock, None) == 2  # nor who may not
    assert not cores.moves


def test_a_thread_stays_where_the_system_forbids_to_move(
    clock: Clock, cores: Cores, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(_: int, cores: set[int]) -> None:
        raise PermissionError

    monkeypatch.setattr(spinning.os, "sched_setaffinity", forbid, raising=False)
    clock.others_take = 100e-6
    assert _looks_and_may_move(clock) == 2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_who_has_moved_may_be_wherever_it_might_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spinning._Process, "stays_until", 0.0)
    monkeypatch.setattr(spinning, "_running", lambda: 1)
    before = os.sched_getaffinity(0)
    assert spinning._moved_to_idle_core(1.0) == (len(before) > 1)
    assert os.sched_getaffinity(0) == before
