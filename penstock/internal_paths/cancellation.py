"""`tensorflow.python.eager.cancellation`: calls of functions that another thread can end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir import defaults


class CancellationManager:
    """Ends the calls of functions that it was asked for, as soon as they wait for something."""

    def __init__(self) -> None:
        from penstock.state.waiting import Cancellation

        self._cancellation = Cancellation()

    @property
    def is_cancelled(self) -> bool:
        """Whether `start_cancel` has been called."""
        return self._cancellation.is_cancelled

    def start_cancel(self) -> None:
        """Ends the calls that are under way, and those to come."""
        self._cancellation.cancel()

    def get_cancelable_function(self, concrete_function: Any) -> Callable[..., Any]:
        """The function, whose calls end with a CancelledError."""

        def call(*args: Any, **kwargs: Any) -> Any:
            graph: Any = defaults.get_default_graph()
            with graph.runtime.cancelled_by(self._cancellation):
                return concrete_function(*args, **kwargs)

        return call
