"""`tf.contrib.rnn.CompiledWrapper`."""

from __future__ import annotations

from typing import Any

from penstock.ir import registry
from penstock.ir.name_scope import name_scope
from penstock.rnn.cell import RNNCell
from penstock.xla.experimental import jit_scope

__all__ = ["CompiledWrapper"]


class CompiledWrapper(RNNCell):
    """A cell whose nodes are marked to be compiled together. Penstock compiles every step anyway.

    Args:
      cell: The cell.
      compile_stateful: Whether nodes that hold state, or draw random numbers, are marked as well.
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
        with jit_scope(self._compile_stateful or _is_stateless):
            return self._cell(inputs, state, scope=scope)


def _is_stateless(node_def: Any) -> bool:
    spec = registry.find(node_def.op)
    return spec is not None and not spec.is_stateful
