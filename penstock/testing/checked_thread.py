"""A thread of a test: its failure is the test's."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class CheckedThread:
    """A thread whose error `join` reports to the test case that made it."""

    def __init__(
        self,
        testcase: Any,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ):
        self._testcase = testcase
        self._call = functools.partial(target, *(args or ()), **(kwargs or {}))
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None
        self._joined = False

    def _run(self) -> None:
        try:
            self._call()
        except Exception as error:
            self._error = error

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        """Waits for the end of the thread, and fails the test if it ended by an error."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails the test unless the thread was joined."""
        if not self._joined:
            self._testcase.fail("A checked thread was not joined.")
        if self.is_alive():
            raise RuntimeError(
                "Thread was not joined with main thread, and is still running when the test "
                "finished."
            )
