"""Cells with an embedding or a projection before or behind them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ops.embedding import embedding_lookup
from penstock.ops.initializers import random_uniform_initializer
from penstock.ops.shaping import reshape
from penstock.ops.variable_scope import get_variable, get_variable_scope
from penstock.rnn.cell import RNNCell, assert_like_rnncell
from penstock.rnn.linear import Linear

__all__ = ["EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper"]

Activation = Callable[[Any], Any] | None


class _AroundCell(RNNCell):
    """A cell that passes the state of another one through."""

    def __init__(self, cell: Any, reuse: bool | None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._linear: Linear | None = None

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def _projected(self, value: Any, size: int, activation: Activation) -> Any:
        if self._linear is None:
            self._linear = Linear(value, size, True)
        projected = self._linear(value)
        return activation(projected) if activation else projected


class EmbeddingWrapper(_AroundCell):
    """A cell whose inputs are numbers of symbols, which are looked up in a table.

    Args:
      cell: The cell.
      embedding_classes: How many symbols there are.
      embedding_size: The size of a row of the table.
      initializer: Of the table; the scope's, else uniform with variance 1.
    """

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._table_shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        with get_default_graph().device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                initializer = random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
            dtype = state[0].dtype if isinstance(state, tuple) else state.dtype
            table = get_variable(
                "embedding", self._table_shape, initializer=initializer, dtype=dtype
            )
            return self._cell(embedding_lookup(table, reshape(inputs, [-1])), state)


class InputProjectionWrapper(_AroundCell):
    """A cell whose inputs are projected to `num_proj` columns first."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Activation = None,
        input_size: Any = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        return self._cell(self._projected(inputs, self._num_proj, self._activation), state)


class OutputProjectionWrapper(_AroundCell):
    """A cell whose outputs are projected to `output_size` columns."""

    def __init__(
        self,
        cell: Any,
        output_size: int,
        activation: Activation = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> Any:
        output, state = self._cell(inputs, state)
        return self._projected(output, self._output_size, self._activation), state
