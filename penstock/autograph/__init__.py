"""`tf.autograph`: Python code whose branches and loops on tensors become nodes of the graph."""

from __future__ import annotations

from penstock.autograph import experimental
from penstock.autograph.ag_logging import set_verbosity, trace
from penstock.autograph.calls import to_code, to_graph

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
