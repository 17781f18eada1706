"""`tf.train.Coordinator` and `LooperThread`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf


def _thread(function: Callable[..., Any], *args: Any) -> threading.Thread:
    thread = threading.Thread(target=function, args=args)
    thread.start()
    return thread


def _work(coord: Any) -> None:
    while not coord.should_stop():
        time.sleep(0.001)


def _fail(coord: Any, error: BaseException, *, as_tuple: bool) -> None:
    try:
        raise error
    except BaseException as caught:
        coord.request_stop(sys.exc_info() if as_tuple else caught)


def test_threads_stop_together() -> None:
    coord = tf.train.Coordinator()
    assert not coord.should_stop()
    threads = [_thread(_work, coord) for _ in range(3)]
    coord.register_thread(threads[0])
    assert not coord.wait_for_stop(0.01)
    coord.request_stop()
    assert coord.wait_for_stop(0.01)
    coord.join(threads[1:])
    assert coord.joined
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("as_tuple", [True, False])
def test_the_first_error_is_raised_again(as_tuple: bool) -> None:
    coord = tf.train.Coordinator()
    error = RuntimeError("first")
    thread = threading.Thread(target=_fail, args=(coord, error), kwargs={"as_tuple": as_tuple})
    thread.start()
    thread.join()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="first") as caught:
        coord.join([thread])
    assert any(entry.name == "_fail" for entry in caught.traceback)
    with pytest.raises(RuntimeError, match="first"):
        coord.raise_requested_exception()
    coord.clear_stop()
    assert not coord.should_stop()
    coord.raise_requested_exception()


def test_the_end_of_the_input_is_no_error() -> None:
    coord = tf.train.Coordinator()
    end = tf.errors.OutOfRangeError(None, None, "end")
    coord.join([_thread(lambda: _fail(coord, end, as_tuple=True))])
    coord = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    with coord.stop_on_exception():
        raise ValueError("clean")
    coord.join([])
    assert coord.should_stop()


def test_what_is_no_error_is_said_to_be_none() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop((None, None, None))
    with pytest.raises(ValueError, match="ex must be a tuple or sys.exc_info"):
        coord.join([])


def test_an_error_after_the_join_is_raised_at_once() -> None:
    coord = tf.train.Coordinator()
    coord.join([])
    with pytest.raises(ValueError, match="Too late"), coord.stop_on_exception():
        raise ValueError("Too late")


def test_threads_that_do_not_stop() -> None:
    coord, end = tf.train.Coordinator(), threading.Event()
    thread = _thread(end.wait)
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running"):
        coord.join([thread], stop_grace_period_secs=0.02)
    coord.join([thread], stop_grace_period_secs=0.02, ignore_live_threads=True)
    end.set()
    thread.join()


def test_looper_threads() -> None:
    coord = tf.train.Coordinator()
    calls: list[int] = []

    def work(limit: int, step: int = 1) -> None:
        calls.append(step)
        if len(calls) == limit:
            coord.request_stop()

    thread = tf.train.LooperThread.loop(coord, 0.001, work, args=(5,), kwargs={"step": 2})
    coord.join([thread])
    assert calls == [2] * 5

    class Counter(tf.train.LooperThread):  # type: ignore[misc, name-defined]
        def start_loop(self) -> None:
            calls.append(-1)

        def run_loop(self) -> None:
            raise IndexError("in the loop")

    coord.clear_stop()
    Counter(coord, None).start()
    with pytest.raises(IndexError, match="in the loop"):
        coord.join()
    assert calls[-1] == -1
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread(None, 1)
    with pytest.raises(ValueError, match="also pass 'target'"):
        tf.train.LooperThread(coord, 1, args=[1])
