"""`tf.contrib.copy_graph`: variables and nodes of one graph made anew in another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]

_OF_ANY_SCOPE = (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES)


def _in_scope(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections(instance: Any, scope: str, kept: Iterable[str] = ()) -> list[str]:
    """The collections that something is in, under their names in the other graph."""
    graph = instance.graph
    return [
        name if name in kept else _in_scope(name, scope)
        for name in graph.get_all_collection_keys()
        if any(each is instance for each in graph.get_collection_ref(name))
    ]


def copy_variable_to_graph(org_instance: Any, to_graph: Any, scope: str = "") -> Any:
    """A variable with the initial value of another, in another graph."""
    if not isinstance(org_instance, tf.Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    collections = _collections(org_instance, scope, _OF_ANY_SCOPE)
    with org_instance.graph.as_default(), tf.Session() as session:
        initial = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return tf.Variable(
            initial,
            tf.GraphKeys.TRAINABLE_VARIABLES in collections,
            name=_in_scope(org_instance.op.name, scope),
            collections=collections,
            validate_shape=False,
        )


def copy_op_to_graph(org_instance: Any, to_graph: Any, variables: Any, scope: str = "") -> Any:
    """A tensor or an operation in another graph, with all that it is computed from.

    Args:
      variables: those of the other graph that were copied before; they are used by name.
      scope: what the names of the copies begin with.
    """
    name = _in_scope(org_instance.name, scope)
    for variable in variables:
        if variable.name == name:
            return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        pass  # it is not there yet
    if isinstance(org_instance, tf.Tensor):
        copied = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        tensor = copied.outputs[org_instance.value_index]
        for collection in _collections(org_instance, scope):
            to_graph.add_to_collection(collection, tensor)
        return tensor
    if isinstance(org_instance, tf.Operation):
        return _copied_operation(org_instance, to_graph, variables, scope)
    raise TypeError(f"Could not copy instance: {org_instance}")


def _copied_operation(op: Any, to_graph: Any, variables: Any, scope: str) -> Any:
    before = [copy_op_to_graph(each, to_graph, variables, scope) for each in op.control_inputs]
    inputs = [copy_op_to_graph(each, to_graph, variables, scope) for each in op.inputs]
    with to_graph.as_default(), to_graph.name_scope(None), tf.control_dependencies(before):
        return to_graph.create_op(
            op.type,
            inputs,
            [output.dtype for output in op.outputs],
            name=_in_scope(op.name, scope) + "/",
            attrs=dict(op.node_def.attr),
        )


def get_copied_op(org_instance: Any, graph: Any, scope: str = "") -> Any:
    """What a tensor or an operation was copied to."""
    name = _in_scope(org_instance.name, scope)
    return graph.as_graph_element(name, allow_tensor=True, allow_operation=True)


__getattr__ = lazy_paths.resolver(__name__)
