"""Which kind of variable `tf.Variable(...)` makes, and who may have a say in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.graph import Graph
from penstock.ops.ref_variable import RefVariable
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization

__all__ = [
    "disable_resource_variables",
    "enable_resource_variables",
    "resource_variables_enabled",
    "variable_creator_scope",
]

Creator = Callable[..., Any]

_uses_resources = False


def enable_resource_variables() -> None:
    """Makes variables resource variables unless `use_resource` says otherwise."""
    global _uses_resources
    _uses_resources = True


def disable_resource_variables() -> None:
    """Makes variables reference variables unless `use_resource` says otherwise."""
    global _uses_resources
    _uses_resources = False


def resource_variables_enabled() -> bool:
    """Whether variables are resource variables by default."""
    return _uses_resources


class _Creators(threading.local):
    """The open variable_creator_scope blocks of each graph in one thread, innermost last."""

    def __init__(self) -> None:
        self.of_graph: WeakKeyDictionary[Graph, list[Creator]] = WeakKeyDictionary()
        self.last_of_graph: WeakKeyDictionary[Graph, Creator] = WeakKeyDictionary()


_creators = _Creators()


@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Lets `variable_creator(next_creator, **kwargs)` make the variables created inside.

    It returns a variable, usually that of `next_creator(**kwargs)` with some argument changed.
    """
    graph = get_default_graph()
    outer = creators_of(graph)
    _creators.of_graph[graph] = [*outer, variable_creator]
    try:
        yield
    finally:
        _creators.of_graph[graph] = outer


@contextmanager
def last_creator_scope(graph: Graph, variable_creator: Creator) -> Iterator[None]:
    """Lets a creator make the variables of a graph, after all others that are asked."""
    _creators.last_of_graph[graph] = variable_creator
    try:
        yield
    finally:
        del _creators.last_of_graph[graph]


def creators_of(graph: Graph) -> list[Creator]:
    """The creators whose scopes are open in this thread, innermost last.

    In the body of a function they are those around it, where it has no own.
    """
    around: Any = graph
    while around is not None:
        if (found := _creators.of_graph.get(around)) is not None:
            return list(found)
        around = getattr(around, "outer_graph", None)
    return []


def last_creator_of(graph: Graph) -> Creator | None:
    """The creator that is asked after all others, in a function's body that around it, too."""
    around: Any = graph
    while around is not None:
        if (found := _creators.last_of_graph.get(around)) is not None:
            return found
        around = getattr(around, "outer_graph", None)
    return None


def create_variable(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Any = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: Any = None,
) -> Variable:
    """What `tf.Variable(...)` does: it asks the creators, innermost first."""
    last = last_creator_of(get_default_graph())
    create = _create_default if last is None else _asking(last, _create_default)
    for creator in creators_of(get_default_graph()):
        create = _asking(creator, create)
    return create(
        initial_value=initial_value,
        trainable=trainable,
        collections=collections,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        expected_shape=expected_shape,
        import_scope=import_scope,
        constraint=constraint,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=shape,
    )


def _asking(creator: Creator, next_creator: Creator) -> Creator:
    return lambda **kwargs: creator(next_creator, **kwargs)


def _create_default(
    *,
    use_resource: bool | None = None,
    variable_def: Any = None,
    expected_shape: Any = None,
    colocate_with: Any = None,
    **kwargs: Any,
) -> Variable:
    # `colocate_with` is a word to the creators of strategies; without one it says nothing.
    if variable_def is not None:
        use_resource = bool(variable_def.is_resource)
    if executing_eagerly():
        use_resource = True
    if use_resource is None:
        from penstock.ops.variable_scope import get_variable_scope

        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = _uses_resources
    make = ResourceVariable if use_resource else RefVariable
    return make(variable_def=variable_def, **kwargs)


def default_variable_creator(next_creator: Any = None, **kwargs: Any) -> Variable:
    """Makes a variable without asking the creators of scopes: what the last of them calls."""
    assert next_creator is None, "the default creator is the last one"
    return _create_default(**kwargs)


def default_variable_creator_v2(next_creator: Any = None, **kwargs: Any) -> Variable:
    """`default_variable_creator` of version 2, whose variables are always resources."""
    return default_variable_creator(next_creator, **{**kwargs, "use_resource": True})


def variable_from_proto(variable_def: Any, import_scope: str | None = None) -> Variable:
    """The variable, of either kind, that a VariableDef message describes."""
    make = ResourceVariable if variable_def.is_resource else RefVariable
    return make(variable_def=variable_def, import_scope=import_scope)
