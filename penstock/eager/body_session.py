"""A session over the body of a function: what the body has captured of eager mode is fed.

Keras builds the parts of its models as a graph in eager mode, too, and runs them step by step.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.client.session import BaseSession
from penstock.ir.function import FunctionGraph


class BodySession(BaseSession):
    """Runs steps of a graph that uses tensors and variables of eager mode."""

    def __init__(self, graph: FunctionGraph):
        super().__init__(graph=graph)
        self._body = graph

    def run(
        self,
        fetches: Any,
        feed_dict: dict[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        from penstock.runtime.immediate import keep_what_was_read

        feeds = dict(feed_dict or {})
        for outer, inner in self._body.captures:
            captured: Any = outer
            if captured._dtype in (dtypes.resource, dtypes.variant):
                keep_what_was_read([captured._value])
                feeds[inner] = captured._value
            else:
                feeds[inner] = captured._array()
        return super().run(fetches, feeds, options, run_metadata)
