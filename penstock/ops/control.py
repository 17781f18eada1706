"""Order without data: no-ops, groups, and values that wait for other nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from penstock.ir import tapes
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph, graph_around
from penstock.ir.function import FunctionGraph
from penstock.ir.graph import Graph
from penstock.ir.name_scope import name_scope
from penstock.ir.nest import flatten
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.tensor import Tensor

__all__ = [
    "add_to_collection",
    "add_to_collections",
    "colocate_with",
    "container",
    "control_dependencies",
    "device",
    "get_collection",
    "get_collection_ref",
    "group",
    "init_scope",
    "no_op",
    "tuple",
]

NoOp = op("NoOp()")
ControlTrigger = op("ControlTrigger()")
# TensorFlow does not call it stateful; here a node without any effect would be left out.
Abort = op("Abort()", STATEFUL, error_msg="", exit_without_error=False)
not_differentiable(NoOp, ControlTrigger, Abort)


def no_op(name: str | None = None) -> Operation:
    """Does nothing; a place for control edges to meet."""
    return NoOp(name=name)


def control_dependencies(control_inputs: Any) -> AbstractContextManager[None]:
    """Runs the nodes made inside after `control_inputs`; see `tf.Graph.control_dependencies`."""
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> AbstractContextManager[None]:
    """Places the nodes made inside: `with tf.device("/cpu:1"):`, or a function of the node."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Places the nodes made inside on the device of `op`."""
    return get_default_graph().colocate_with(op, ignore_existing)


@contextmanager
def init_scope() -> Iterator[None]:
    """Makes the nodes inside as if at the outermost level: no control inputs, no loop or branch.

    The bodies of `tf.function`, and of branches and loops that are functions, are left, too. Names
    and devices are those of the place where it is opened.
    """
    scope = get_default_graph().get_name_scope()
    left = list(_up_to_outermost())
    graph = left[-1]
    devices = next((each._scopes.devices for each in left if each._scopes.devices), [])
    with (
        graph.as_default(),
        graph.name_scope(f"{scope}/" if scope else None),
        graph._scopes.setting(devices=devices),
        graph.control_dependencies(None),
        tapes.stop_recording(),
    ):
        yield


def _up_to_outermost() -> Iterator[Graph]:
    """The default graph and, while they are bodies of functions, those around it."""
    graph: Graph | None = get_default_graph()
    while graph is not None:
        yield graph
        if isinstance(graph, FunctionGraph):
            graph = graph.outer_graph
        else:
            graph = graph_around(graph) if graph.building_function else None


def container(container_name: str) -> AbstractContextManager[str]:
    """Keeps the state of the nodes made inside in a named container."""
    return get_default_graph().container(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    """Adds `value` to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds `value` to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """The values of a collection of the default graph; `scope` filters by name."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """A collection of the default graph itself: changes to the list change the graph."""
    return get_default_graph().get_collection_ref(key)


def _group_on_one_device(ops: Sequence[Operation], device_name: str, name: str | None) -> Operation:
    graph = get_default_graph()
    with graph.control_dependencies(ops):
        if device_name:
            with graph.device(device_name):
                return no_op(name=name)
        return no_op(name=name)


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """One operation that runs all the others: `train = tf.group(step_a, step_b)`."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    if executing_eagerly():
        return None  # type: ignore[return-value]  # they have run
    elements = [entry for entry in flatten(list(inputs)) if entry is not None]
    by_device: dict[str, list[Operation]] = {}
    for entry in elements:
        if not hasattr(entry, "device"):
            raise TypeError(
                f"Expected tf.group() expected Tensor arguments not '{entry}' with type "
                f"'{type(entry)}'"
            )
        member = entry if isinstance(entry, Operation) else entry.op
        by_device.setdefault(member.device, []).append(member)
    with name_scope(name, "group_deps", elements) as scope:
        if not by_device:
            return no_op(name=scope)
        if len(by_device) == 1:
            ((device_name, members),) = by_device.items()
            return _group_on_one_device(members, device_name, scope)
        parts = [_group_on_one_device(by_device[key], key, None) for key in sorted(by_device)]
        with get_default_graph().control_dependencies(parts):
            return no_op(name=scope)


def tuple(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """The same tensors, each available only when all of them are (and `control_inputs` ran)."""
    if executing_eagerly():
        return list(tensors)
    with name_scope(name, "tuple", list(tensors)) as scope:
        gates = [
            entry if isinstance(entry, Operation) else entry.op
            for entry in tensors
            if entry is not None
        ]
        for entry in control_inputs or ():
            element = entry.op if isinstance(entry, Tensor) else entry
            if not isinstance(element, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {entry!r}")
            gates.append(element)
        if not gates:
            raise ValueError("Must have at least one Tensor or Operation")
        gate = group(*sorted(set(gates), key=lambda member: member._id))
        gated: list[Any] = []
        for entry in tensors:
            if entry is None:
                gated.append(None)
            elif isinstance(entry, Operation):
                with get_default_graph().control_dependencies([gate]):
                    gated.append(no_op())
            else:
                gated.append(with_dependencies([gate], entry))
        del scope
        return gated


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, available only after `dependencies` ran."""
    from penstock.ops.array import identity

    if executing_eagerly():
        return output_tensor
    values = [*dependencies, output_tensor]
    with name_scope(name, "control_dependency", values) as scope:
        graph = get_default_graph()
        if not hasattr(output_tensor, "op"):
            output_tensor = to_tensor(output_tensor)
        with graph.colocate_with(output_tensor.op), graph.control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                return IndexedSlices(
                    identity(output_tensor.values, name=scope),
                    output_tensor.indices,
                    output_tensor.dense_shape,
                )
            return identity(to_tensor(output_tensor), name=scope)
