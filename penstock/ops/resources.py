"""Resources that are initialized with the variables of a graph: how, and whether they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import logical_not
from penstock.ops.constants import constant
from penstock.ops.control import group, no_op
from penstock.ops.joining import stack
from penstock.ops.masking import boolean_mask


class _Resource(NamedTuple):
    handle: Any
    create: Any
    is_initialized: Any


def register_resource(
    handle: Any, create_op: Any, is_initialized_op: Any, is_shared: bool = True
) -> None:
    """Adds a resource to those that a training session creates."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    get_default_graph().add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[Any]:
    """The resources that all tasks share."""
    return get_default_graph().get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Any]:
    """The resources that a task has for itself."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(
    resource_list: Sequence[Any] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """A vector of the names of the resources that don't exist yet; empty if all do."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), get_default_graph().device("/cpu:0"):
        if not resource_list:
            return constant([], dtype=dtypes.string)
        missing = logical_not(stack([resource.is_initialized for resource in resource_list]))
        names = constant([resource.handle.name for resource in resource_list])
        return boolean_mask(names, missing)


def initialize_resources(resource_list: Sequence[Any], name: str = "init") -> Operation:
    """An operation that creates the resources."""
    if not resource_list:
        return no_op(name=name)
    return group(*[resource.create for resource in resource_list], name=name)
