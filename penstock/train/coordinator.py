"""`tf.train.Coordinator`: several threads that stop together, and the error that stopped them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import errors
from penstock.platform import logging

__all__ = ["Coordinator", "LooperThread"]

_WAKE_SECS = 1.0  # how often a join looks whether its threads have ended by themselves
_FIRST_PAUSE_SECS = 0.001

_Failure = tuple[Any, BaseException, Any]


class Coordinator:
    """Asks a group of threads to stop, waits for them, and raises what went wrong in one of them.

    >>> coord = tf.train.Coordinator()
    >>> threads = tf.train.start_queue_runners(sess, coord)
    >>> while not coord.should_stop():
    ...     sess.run(train_op)
    >>> coord.request_stop()
    >>> coord.join(threads)

    Args:
      clean_stop_exception_types: exceptions that end the work without being errors; if None,
        `OutOfRangeError`, the end of the input.
    """

    def __init__(self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None):
        clean = clean_stop_exception_types
        self._clean_stop_exception_types = (
            (errors.OutOfRangeError,) if clean is None else tuple(clean)
        )
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._failure: _Failure | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop; `ex`, an exception or `sys.exc_info()`, is raised by `join`."""
        with self._lock:
            ex = self._filter_exception(ex)
            if self._joined and ex is not None:
                raise _as_failure(ex)[1]
            if self._stop_event.is_set():
                return
            if ex and self._failure is None:
                self._failure = _as_failure(ex)
                logging.info(
                    "Error reported to Coordinator: %s, %s", self._failure[0], self._failure[1]
                )
            self._stop_event.set()

    def _filter_exception(self, ex: Any) -> Any:
        error = ex[1] if isinstance(ex, tuple) and len(ex) > 1 else ex
        return None if isinstance(error, self._clean_stop_exception_types) else ex

    def clear_stop(self) -> None:
        """Makes the coordinator ready for another round of threads."""
        with self._lock:
            self._joined = False
            self._failure = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turns an exception inside of a `with` block into a request to stop."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested; whether it was before `timeout` seconds were over."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread to those that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads to end, and raises the error that stopped them.

        Args:
          threads: threads besides the registered ones.
          stop_grace_period_secs: how long threads may take to end once a stop was requested.
          ignore_live_threads: whether threads that don't end are no error.
        """
        with self._lock:
            awaited = list(self._registered_threads | set(threads or ()))
        while _any_alive(awaited) and not self.wait_for_stop(_WAKE_SECS):
            pass
        _wait_for_end(awaited, stop_grace_period_secs)
        stragglers = " ".join(thread.name for thread in awaited if thread.is_alive())
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            self._raise_failure()
        if not stragglers:
            return
        if not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {stragglers}")
        logging.info("Coordinator stopped with threads still running: %s", stragglers)

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception that a thread stopped with, if there is one."""
        with self._lock:
            self._raise_failure()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            _, error, trace = self._failure
            raise error.with_traceback(trace)


def _as_failure(ex: Any) -> _Failure:
    """What `request_stop` was given as type, exception and traceback."""
    given = ex if isinstance(ex, tuple) else sys.exc_info()
    if len(given) == 3 and given[0] and given[1]:
        return given
    if isinstance(ex, BaseException):
        return type(ex), ex, ex.__traceback__
    wrong = ValueError(
        f"ex must be a tuple or sys.exc_info must return the current exception: {given}"
    )
    return ValueError, wrong, None


def _any_alive(threads: Sequence[threading.Thread]) -> bool:
    return any(thread.is_alive() for thread in threads)


def _wait_for_end(threads: Sequence[threading.Thread], seconds: float) -> None:
    """Looks at the threads in ever longer intervals, for so many seconds at most."""
    pause = _FIRST_PAUSE_SECS
    while _any_alive(threads) and seconds >= 0.0:
        time.sleep(pause)
        seconds -= pause
        pause = max(min(2 * pause, seconds), _FIRST_PAUSE_SECS)


class LooperThread(threading.Thread):
    """A thread that does something again and again until its coordinator stops.

    Override `run_loop`, or give a `target`.

    Args:
      coord: the coordinator.
      timer_interval_secs: the time from the begin of one call to the next; None for no pause.
      target: what is called, with `args` and `kwargs`.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._loop_target = target
        self._loop_args = tuple(args or ())
        self._loop_kwargs = dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls `target` repeatedly."""
        thread = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.time()
            while not self._stops_before(due):
                due += self._timer_interval_secs or 0.0
                self.run_loop()
            self.stop_loop()

    def _stops_before(self, due: float) -> bool:
        if self._timer_interval_secs is None:
            return self._coord.should_stop()
        return self._coord.wait_for_stop(due - time.time())

    def start_loop(self) -> None:
        """Called once before the first call of `run_loop`."""

    def stop_loop(self) -> None:
        """Called once after the last call of `run_loop`."""

    def run_loop(self) -> None:
        """Called repeatedly."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)
