"""Names of layers and other Python objects, unique in a graph: `dense_1`, `dense_2` …"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, MutableMapping
from weakref import WeakKeyDictionary

from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph

Counts = MutableMapping[tuple[str, str], int]

_counts: WeakKeyDictionary[Graph, Counts] = WeakKeyDictionary()


def counts_of_default_graph() -> Counts:
    """How many objects of each (namespace, name) were named in the default graph."""
    return _counts.setdefault(get_default_graph(), defaultdict(int))


def forget_names() -> None:
    """Counts from the start again, in every graph."""
    _counts.clear()


def to_snake_case(name: str) -> str:
    """The name of a class as a scope: `MyLayer` is `my_layer`, `_Hidden` is `private__hidden`."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def unique_object_name(
    name: str,
    name_uid_map: Counts | None = None,
    avoid_names: Collection[str] | None = None,
    namespace: str = "",
    zero_based: bool = False,
) -> str:
    """`name` with the next number; the first has none if `zero_based`, else it is number 1."""
    counts = counts_of_default_graph() if name_uid_map is None else name_uid_map
    key = (namespace, name)
    while True:
        counts[key] += 1
        number = counts[key] - zero_based
        proposed = f"{name}_{number}" if number else name
        if proposed not in (avoid_names or ()):
            return proposed
