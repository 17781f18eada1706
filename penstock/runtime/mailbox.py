"""Which value goes to whom, in one step: values that nobody has taken, and who waits for which."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Key = tuple[Any, ...]  # the name of the value, the device it goes to, the iterations it is from
Waiter = TypeVar("Waiter")

ABSENT: Any = object()  # in the place of a value that has not come


class Mailbox(Generic[Waiter]):
    """The values on their way between the parts of one step; no threads, no clocks.

    1. A value is given once, to whoever asks for its key, before it comes or after.
    2. A value that came before the step was aborted is given all the same.

    Attributes:
      error: what the step was aborted with.
    """

    __slots__ = ("_values", "_waiting", "error")

    def __init__(self) -> None:
        self._values: dict[Key, Any] = {}
        self._waiting: dict[Key, Waiter] = {}
        self.error: BaseException | None = None

    def put(self, key: Key, value: Any) -> Waiter | None:
        """Takes a value in; returns who waits for it, and may take it now."""
        self._values[key] = value
        return self._waiting.pop(key, None)

    def take(self, key: Key) -> Any:
        """The value, or ABSENT."""
        return self._values.pop(key, ABSENT)

    def wait(self, key: Key, waiter: Waiter) -> None:
        """Notes who waits for a value that is absent."""
        self._waiting[key] = waiter

    def abort(self, error: BaseException) -> list[Waiter]:
        """No more values will come; returns those who wait for one in vain."""
        if self.error is None:
            self.error = error
        waiting, self._waiting = self._waiting, {}
        return list(waiting.values())
