"""How datasets were made: of which node, of which inputs.

With that a pipeline is more than the elements that it gives. It can be made again with a change
somewhere in it (`sharding.py`, `statistics.py`), be written as a graph (`pipeline_graphs.py`), and
be compared with what `assert_next` says of it (`assertions.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.function import FunctionGraph
from penstock.ir.step_graph import Node
from penstock.kernels.registry import HOST, kernel
from penstock.state.datasets import Dataset, Recipe


def dataset_kernel(*op_types: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a factory of functions that make a dataset, which then knows its recipe."""

    def register(factory: Callable[..., Any]) -> Callable[..., Any]:
        takes_env = len(inspect.signature(factory).parameters) > 1

        def recording(node: Node, env: Any) -> Callable[..., Dataset]:
            make = factory(node, env) if takes_env else factory(node)

            def run(*inputs: Any) -> Dataset:
                dataset: Dataset = make(*inputs)
                if dataset.recipe is not None:  # one of the inputs: nothing had to be done to it
                    dataset = copy(dataset)
                dataset.recipe = Recipe(node, inputs, run)
                return dataset

            return run

        kernel(*op_types, devices=HOST)(recording)
        return factory

    return register


def rebuilt(dataset: Dataset, change: Callable[[Dataset], Dataset]) -> Dataset:
    """The dataset with each dataset among its inputs changed."""
    if dataset.recipe is None:
        return dataset
    inputs = [change(each) if isinstance(each, Dataset) else each for each in dataset.recipe.inputs]
    return dataset.recipe.make(*inputs)


def functions_of(attrs: dict[str, Any]) -> Iterator[FunctionName]:
    """The functions that a node with these attrs names."""
    for value in attrs.values():
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, FunctionName):
                yield each


def called_bodies(node: Node) -> Iterator[FunctionGraph]:
    """The bodies of the functions that a node calls, and of those that they call."""
    assert node.origin is not None
    library = node.origin.graph._functions
    seen: set[str] = set()
    waiting = list(functions_of(node.attrs))
    for called in waiting:
        if called.name in seen or called.name not in library:
            continue
        seen.add(called.name)
        body = library[called.name].body(called.attrs, library)
        yield body
        for op in body.get_operations():
            waiting += functions_of(op.attrs)
