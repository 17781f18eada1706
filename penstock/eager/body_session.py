"""A session over the body of a function: what the body has captured of eager mode is fed.

Keras builds the parts of its models as a graph in eager mode, too, and runs them step by step.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.client.session import BaseSession
from penstock.ir.collections import GraphKeys
from penstock.ir.function import FunctionGraph


class BodySession(BaseSession):
    """Runs steps of a graph that uses tensors and variables of eager mode."""

    def __init__(self, graph: FunctionGraph):
        super().__init__(graph=graph)
        self._body = graph
        self._filled_tables = 0

    def run(
        self,
        fetches: Any,
        feed_dict: dict[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        captured = self._captured_values()
        # In eager mode nobody runs the initializers of tables.
        initializers = self._body.get_collection(GraphKeys.TABLE_INITIALIZERS)
        if len(initializers) > self._filled_tables:
            super().run(initializers[self._filled_tables :], captured)
            self._filled_tables = len(initializers)
        return super().run(fetches, {**(feed_dict or {}), **captured}, options, run_metadata)

    def _captured_values(self) -> dict[Any, Any]:
        from penstock.runtime.immediate import keep_what_was_read

        values: dict[Any, Any] = {}
        for outer, inner in self._body.captures:
            captured: Any = outer
            if captured._dtype in (dtypes.resource, dtypes.variant):
                keep_what_was_read([captured._value])
                values[inner] = captured._value
            else:
                values[inner] = captured._array()
        return values
