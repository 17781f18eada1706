"""Seeds: what makes the numbers of random operations the same in every session.

A random node has two seeds, the graph's and its own. Both zero: its numbers differ in each session.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph

__all__ = ["get_seed", "set_random_seed"]

DEFAULT_GRAPH_SEED = 87654321
_LARGEST = 2**31 - 1  # seeds are kept in 31 bits, whatever the type of the attr

# The graphs in which a node took its own seed from the graph's.
_numbered: WeakSet[Graph] = WeakSet()


def set_random_seed(seed: Any) -> None:
    """Sets the seed of the default graph, from which operations without one derive theirs."""
    get_default_graph().seed = seed


def get_seed(op_seed: Any) -> tuple[int | None, int | None]:
    """The two seeds of the next operation, given its own seed; (None, None) where there are none.

    Without a seed of its own an operation of a seeded graph gets the number of nodes before it.
    """
    graph = get_default_graph()
    if graph.seed is None:
        if op_seed is None:
            return None, None
        seeds = DEFAULT_GRAPH_SEED, _truncated(op_seed)
    elif op_seed is None:
        number = _next_number(graph)
        seeds = _truncated(graph.seed), _truncated(number)
    else:
        seeds = _truncated(graph.seed), _truncated(op_seed)
    # Two zeros would ask for other numbers in each session.
    return (0, _LARGEST) if seeds == (0, 0) else seeds


def _next_number(graph: Graph) -> int:
    if graph.is_eager:
        return graph.drawn_seed()
    _numbered.add(graph)
    return graph.version


def numbers_ops(graph: Graph) -> bool:
    """Whether operations of a graph have got their numbers for seeds."""
    return graph in _numbered


def _truncated(seed: Any) -> int:
    return int(seed % _LARGEST)
