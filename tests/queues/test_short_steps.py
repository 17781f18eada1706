"""Threads with short steps take turns, and nobody waits for one that wants the turn."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.state.turns import ShortSteps, aside


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as made:
        yield made


def test_who_has_the_turn_runs_on_while_it_may():
    steps, ran = ShortSteps(), []
    steps._WHILE = 60.0
    steps.run(lambda: ran.append(1), lambda: len(ran) < 5)
    assert len(ran) == 5


def test_short_steps_do_not_run_at_once(pool):
    steps, inside = ShortSteps(), threading.Lock()
    steps._PATIENCE = 60.0

    def step():
        assert inside.acquire(blocking=False)
        time.sleep(0)  # others may run now
        inside.release()

    def work():
        for _ in range(50):
            steps.run(step, lambda: True)

    steps._SHORT = 60.0  # however slow the machine is
    for each in [pool.submit(work) for _ in range(2)]:
        each.result(60)


def test_a_thread_that_waits_gives_its_turn_away(pool):
    steps, came = ShortSteps(), threading.Event()
    steps._PATIENCE = 60.0

    def waiting():
        with aside():
            assert came.wait(60)

    first = pool.submit(steps.run, waiting, lambda: False)
    second = pool.submit(steps.run, came.set, lambda: False)
    first.result(60)
    second.result(60)


def test_a_thread_that_waits_for_a_lock_keeps_others_for_a_moment_only(pool):
    steps, both = ShortSteps(), threading.Barrier(2, timeout=60)
    for each in [pool.submit(steps.run, both.wait, lambda: False) for _ in range(2)]:
        each.result(60)


def test_long_steps_need_no_turn(pool):
    steps, both = ShortSteps(), threading.Barrier(2, timeout=60)
    steps._PATIENCE = 60.0
    steps._seconds = 1.0
    for each in [pool.submit(steps.run, both.wait, lambda: False) for _ in range(2)]:
        each.result(60)


def test_steps_that_wait_for_something_else_need_no_turn():
    steps = ShortSteps()
    steps.run(lambda: time.sleep(0.01), lambda: False)
    assert steps._seconds > steps._SHORT


def test_an_error_gives_the_turn_back(pool):
    steps = ShortSteps()
    steps._PATIENCE = 60.0
    with pytest.raises(ZeroDivisionError):
        steps.run(lambda: 1 / 0, lambda: True)
    ran = []
    pool.submit(steps.run, lambda: ran.append(1), lambda: False).result(60)
    assert ran == [1]
