"""Whether a model runs eagerly or as a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.keras.engine.layer_graph import is_eager_outside
from penstock.ops.graph_functions import functions_run_eagerly

_NEEDS_EAGER = (
    "Your model contains layers that can only be successfully run in eager execution (layers "
    "constructed with `dynamic=True`). "
)


class ExecutionMode:
    """The property `run_eagerly` of a model."""

    _run_eagerly: bool | None = None

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the model has that this is mixed into."""

    @property
    def run_eagerly(self) -> bool:
        """Whether steps call the layers on values, one operation after the other.

        That is slow, but Python's own control flow and debuggers work in the layers. It needs
        eager mode; models with dynamic layers always do it.
        """
        is_eager = is_eager_outside()
        if self._run_eagerly and not is_eager:
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        if not self.dynamic and self._run_eagerly is None:
            return functions_run_eagerly()
        if not self.dynamic:
            return bool(self._run_eagerly)
        if not is_eager:
            raise ValueError(
                f"{_NEEDS_EAGER}You must enable eager execution with `tf.enable_eager_execution()`."
            )
        if self._run_eagerly is False:
            raise ValueError(f"{_NEEDS_EAGER}You cannot set `run_eagerly=False`.")
        return True

    @run_eagerly.setter
    def run_eagerly(self, value: bool) -> None:
        self._run_eagerly = value
