"""The global step: the variable that counts training steps, one per graph."""

from __future__ import annotations

import logging
from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import is_dense_tensor_like
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.graph import Graph
from penstock.ops.initializers import zeros_initializer
from penstock.ops.variable_scope import get_variable
from penstock.ops.variable_updates import assign_add
from penstock.ops.variables import Variable, VariableAggregation

_logger = logging.getLogger(__name__)

#: The collection of the tensor that hooks read the global step through.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The number of steps taken so far: the value of `global_step_tensor` in `sess`."""
    if executing_eagerly():
        return int(global_step_tensor.numpy())
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of `graph` (the default one if None), or None where there is none.

    It is the one member of the collection GLOBAL_STEP, else the tensor named `global_step:0`.
    """
    graph = graph or get_default_graph()
    members = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(members) > 1:
        _logger.error("Multiple tensors in global_step collection.")
        return None
    if members:
        step = members[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step of `graph`, an int64 variable; ValueError where there is one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=zeros_initializer(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,  # each replica counts the same
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step of `graph`, made where there is none yet."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor: Any) -> None:
    """Checks that a tensor or variable can be a global step: a scalar of an integer type."""
    if not is_dense_tensor_like(global_step_tensor):
        raise TypeError(
            f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.'
        )
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}'
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


def _get_global_step_read(graph: Graph | None = None) -> Any:
    """The tensor of the graph that reads the global step for hooks, or None."""
    found = (graph or get_default_graph()).get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. There should be only "
            "one."
        )
    return found[0] if found else None


def get_or_create_global_step_read(graph: Graph | None = None) -> Any:
    """A tensor with the value of the global step that hooks share; None without a global step.

    It can be read before the variable is initialized, and is a copy: later steps don't change it.
    """
    graph = graph or get_default_graph()
    read = _get_global_step_read(graph)
    step = get_global_step(graph)
    if read is not None or step is None:
        return read
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        value = step.initialized_value() if isinstance(step, Variable) else step
        read = value + 0
        graph.add_to_collection(GLOBAL_STEP_READ_KEY, read)
    return read


_get_or_create_global_step_read = get_or_create_global_step_read


def _increment_global_step(increment: Any, graph: Graph | None = None) -> Any:
    """An operation that adds to the global step once hooks have read it."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before "
            "calling increment."
        )
    read = get_or_create_global_step_read(graph)
    with (
        graph.as_default(),
        graph.name_scope(None),
        graph.name_scope(f"{step.op.name}/"),
        graph.control_dependencies([read]),
    ):
        return assign_add(step, increment)
