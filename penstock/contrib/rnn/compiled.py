"""`tf.contrib.rnn.CompiledWrapper`."""

from __future__ import annotations

from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.rnn.cell import RNNCell

__all__ = ["CompiledWrapper"]


class CompiledWrapper(RNNCell):
    """The cell itself: Penstock compiles every step, there is nothing more to ask for.

    Args:
      cell: The cell.
      compile_stateful: Accepted without effect.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False):
        super().__init__()
        self._cell = cell
        self._compile_stateful = compile_stateful

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return self._cell(inputs, state, scope=scope)
