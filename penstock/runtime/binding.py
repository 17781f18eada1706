"""Kernels bound to the nodes of a step: the common ground of plans and of the executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock import dtypes, errors
from penstock.ir.step_graph import Node, StepGraph
from penstock.kernels import registry
from penstock.kernels.checked_paths import with_checked_paths
from penstock.kernels.gpu_types import has_gpu_types
from penstock.kernels.registry import Constant, passed_on
from penstock.ops.file_paths import PATHS
from penstock.runtime.device import Device, KernelEnv
from penstock.runtime.diagnosis import named_error
from penstock.runtime.rendezvous import copy_function, recv_function, send_function
from penstock.runtime.shown_nodes import show_function
from penstock.runtime.sums import add_product


def _bind_loop(node: Node, device: Device, dereferences: list[bool]) -> BoundNode:
    from penstock.runtime.beside import bind_loop_and_products
    from penstock.runtime.loops import bind_loop

    bound = (bind_loop if node.type == "_While" else bind_loop_and_products)(node, device)
    return BoundNode(
        node, bound.run, None, True, False, False, dereferences, fresh_outputs=bound.fresh
    )


def _fused(node: Node, device: Device) -> Callable[..., Any]:
    from penstock.runtime.fusion.regions import fused_function

    return fused_function(node, device)


LOOPS = ("_While", "_WhileBeside")

# Nodes that passes make; a plan writes the choice between branches out itself.
STRUCTURES: dict[str, Callable[[Node, Device], Callable[..., Any]]] = {
    "_Truth": lambda node, device: bool,
    "_Choose": lambda node, device: bool,
    "_Fused": _fused,
    "_AddProduct": lambda node, device: add_product,
    "_Send": send_function,
    "_Recv": recv_function,
    "_Copy": copy_function,
    "_Show": show_function,
}


@dataclass
class BoundNode:
    """A node with the function to call, or with its value where that is known already."""

    node: Node
    function: Callable[..., Any] | None
    constant: Any
    takes_step: bool
    fresh: bool
    same: bool
    dereferences: list[bool]  # for each input: a reference whose value the kernel wants
    of_tensors: bool = True  # whether its values are torch's, for which there are other variants
    fresh_outputs: frozenset[int] = frozenset()  # those in new memory, where not all are
    marks_fresh: bool = False  # an output tells itself whether it is in new memory
    resumes: bool = False  # it may be called again after a wait that took no thread

    @property
    def is_constant(self) -> bool:
        return self.function is None


def bind(node: Node, device: Device) -> BoundNode:
    """Chooses and specialises the kernel of a node."""
    dereferences = [
        edge.dtype.is_ref_dtype and not takes_ref
        for edge, takes_ref in zip(node.inputs, node.ref_inputs(), strict=True)
    ]
    if node.type in LOOPS:
        return _bind_loop(node, device, dereferences)
    if node.type in STRUCTURES:
        return BoundNode(
            node,
            STRUCTURES[node.type](node, device),
            None,
            node.type in ("_Send", "_Recv", "_Show"),
            node.type == "_Fused",
            False,
            dereferences,
            resumes=node.type == "_Recv",
        )
    op_type = node.type if node.spec.function is None else "_FunctionCall"
    kernel = registry.find(op_type, device.device_type)
    if kernel is None:
        raise named_error(
            errors.UnimplementedError,
            node,
            f"there is no kernel for {node.type} on {device.device_type} "
            f"(device types with one: {registry.device_types(node.type) or 'none'})",
        )
    try:
        made = kernel.specialise(node, KernelEnv(device))
    except errors.OpError as error:
        raise named_error(type(error), node, error.message) from error
    if isinstance(made, Constant):
        return BoundNode(node, None, made.value, False, False, False, dereferences)
    if node.type in PATHS and node.origin is not None and node.origin._is_imported:
        made = with_checked_paths(node, made, takes_step=kernel.step)
    is_passed_on = made is passed_on
    return BoundNode(
        node,
        made,
        None,
        kernel.step,
        kernel.fresh and not is_passed_on,
        is_passed_on,
        dereferences,
        of_tensors=device.kind is None,
        marks_fresh=kernel.marks_fresh,
        resumes=kernel.resumes,
    )


def has_kernel(node: Node, device_type: str) -> bool:
    """Whether nodes of this op type can run on a type of device."""
    if node.type in STRUCTURES or node.type in ("_Feed", *LOOPS):
        return True
    op_type = node.type if node.spec.function is None else "_FunctionCall"
    if device_type == "GPU" and (_is_state_of_the_host(node) or not has_gpu_types(node)):
        return False
    return registry.find(op_type, device_type) is not None


_MAKES_VARIABLE = ("VarHandleOp", "Variable", "VariableV2", "TemporaryVariable")


def _is_state_of_the_host(node: Node) -> bool:
    """Whether a node makes a variable that no GPU keeps: of small integers, or strings."""
    return node.type in _MAKES_VARIABLE and node.attrs["dtype"] in (dtypes.int32, dtypes.string)


def bind_all(step: StepGraph, devices: Device | Mapping[str, Device]) -> list[BoundNode]:
    """Binds every node but feeds, in the order of the step, each on its device."""
    nodes = [node for node in step.nodes if node.type != "_Feed"]
    if isinstance(devices, Device):
        host = devices.host
        return [bind(node, host if node.device == host.name else devices) for node in nodes]
    hosts = {device.host.name: device.host for device in devices.values()}
    return [bind(node, devices.get(node.device) or hosts[node.device]) for node in nodes]


def evaluator(device: Device) -> Callable[[Node, list[Any]], list[Any] | None]:
    """Runs one node on constant inputs, for constant folding; None where that fails.

    A node that fails is left in the step, where its error is raised with its name.
    """

    def evaluate(node: Node, inputs: list[Any]) -> list[Any] | None:
        try:
            bound = bind(node, device)
            if bound.takes_step:
                return None
            if bound.is_constant:
                return [bound.constant]
            values = [_runtime_value(value, device) for value in inputs]
            assert bound.function is not None
            result = bound.function(*values)
        except Exception:
            return None
        results = list(result) if len(node.dtypes) != 1 else [result]
        if any(not hasattr(value, "shape") for value in results):
            return None
        return results

    return evaluate


def _runtime_value(value: Any, device: Device) -> Any:
    from penstock.kernels.values import from_array, is_array

    return device.to_device(from_array(value) if is_array(value) else value)
