"""What `tensorflow.python.framework.ops` has besides the public API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import convert_to_tensor, devices
from penstock.autodiff.gradients import gradient_function
from penstock.dtypes import as_dtype
from penstock.eager import tensor as eager_tensors
from penstock.ir import defaults
from penstock.ir.composite import IndexedSlices, SparseTensor
from penstock.ir.convert import (
    CompositeTensor,
    convert_n_to_tensor,
    graph_of,
    to_tensor,
    to_tensor_or_composite,
)
from penstock.ir.defaults import get_default_graph
from penstock.ir.defaults import graph_scope as _graph_scope  # noqa: F401
from penstock.ir.graph import Graph
from penstock.ir.naming import uid as uid
from penstock.ir.tensor import Tensor
from penstock.ops.indexed_slices import convert_to_tensor_or_indexed_slices
from penstock.ops.variables import Variable
from penstock.proto import NodeDef


def tensor_id(tensor: Tensor) -> int:
    """A number for a tensor, the same as long as it lives."""
    return getattr(tensor, "_id", None) or id(tensor)


class _DefaultStack:
    """A stack of `with x.as_default()` blocks of this thread."""

    def __init__(self, entries: Callable[[], list[Any]], default: Callable[[], Any]):
        self._entries = entries
        self._default = default

    @property
    def stack(self) -> list[Any]:
        return self._entries()

    def get_default(self) -> Any:
        """The innermost entry, or what stands for none."""
        return self._default()

    def is_cleared(self) -> bool:
        return not self.stack

    def reset(self) -> None:
        """Leaves every block."""
        self.stack.clear()


def has_default_graph() -> bool:
    """Whether this thread is inside a `with graph.as_default()` block."""
    return bool(defaults._stacks.graphs)


def get_all_collection_keys() -> list[Any]:
    """The names of the default graph's collections."""
    return get_default_graph().get_all_collection_keys()


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """A tensor's value as text."""
    if not tensor.dtype.is_numpy_compatible:
        return "<unprintable>"
    text = repr(tensor.numpy()) if is_repr else str(tensor.numpy())
    return f"\n{text}" if "\n" in text else text


def internal_convert_n_to_tensor(
    values: Sequence[Any],
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
    ctx: Any = None,
) -> list[Tensor]:
    """A list of values as tensors, which may be references; entries are named `name_0` …"""
    return convert_n_to_tensor(values, dtype, name, preferred_dtype, as_ref=as_ref)


_default_graph_stack = _DefaultStack(lambda: defaults._stacks.graphs, get_default_graph)
_default_session_stack = _DefaultStack(
    lambda: defaults._stacks.sessions, defaults.get_default_session
)


EagerTensor = eager_tensors.EagerTensor
_TensorLike = (Tensor, SparseTensor, IndexedSlices, Variable)


def _as_graph_element(obj: Any) -> Any:
    """What stands for an object in a graph, or None."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if convert is not None else None


class RegisterShape:
    """Decorator of old for shape functions: accepted; the op registry has the rules."""

    def __init__(self, op_type: str):
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


def internal_convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: Any = None,
    ctx: Any = None,
    accept_symbolic_tensors: bool = True,
    accept_composite_tensors: bool = False,
) -> Any:
    """`tf.convert_to_tensor`, by reference if asked for."""
    if accept_composite_tensors and isinstance(value, (IndexedSlices, SparseTensor)):
        return value
    if as_ref:
        return to_tensor(value, dtype, name, as_ref=True)
    return convert_to_tensor(value, dtype, name, preferred_dtype)


def convert_to_tensor_v2(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    return convert_to_tensor(value, dtype, name, dtype_hint)


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A value of several tensors as it is, or as a conversion function makes one; else a tensor."""
    if isinstance(value, CompositeTensor):
        own = getattr(value, "dtype", None)
        if dtype is not None and own is not None and not as_dtype(dtype).is_compatible_with(own):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
                f"{own.name}: {value!r}"
            )
        return value
    return to_tensor_or_composite(value, dtype, name)


def internal_convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """`convert_to_tensor_or_indexed_slices`, by reference if asked for."""
    if as_ref and not isinstance(value, (IndexedSlices, SparseTensor)):
        return to_tensor(value, dtype, name, as_ref=True)
    return convert_to_tensor_or_indexed_slices(value, dtype, name)


def convert_n_to_tensor_or_indexed_slices(
    values: Sequence[Any], dtype: Any = None, name: str | None = None
) -> list[Any]:
    """`convert_to_tensor_or_indexed_slices` of each value; None stays None."""
    return [
        None
        if value is None
        else convert_to_tensor_or_indexed_slices(value, dtype, f"{name}_{index}" if name else None)
        for index, value in enumerate(values)
    ]


def convert_n_to_tensor_or_composite(
    values: Sequence[Any], dtype: Any = None, name: str | None = None
) -> list[Any]:
    """`convert_to_tensor_or_composite` of each value; None stays None."""
    return [
        None
        if value is None
        else convert_to_tensor_or_composite(value, dtype, f"{name}_{index}" if name else None)
        for index, value in enumerate(values)
    ]


internal_convert_to_tensor_or_composite = convert_to_tensor_or_composite
internal_convert_n_to_tensor_or_composite = convert_n_to_tensor_or_composite


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A node's name inside a scope; `^` and `loc:@` stay in front."""
    if not import_scope:
        return name
    scope = import_scope.removesuffix("/")
    for mark in ("^", "loc:@"):
        if name.startswith(mark):
            return f"{mark}{scope}/{name.removeprefix(mark)}"
    return f"{scope}/{name}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A node's name without the scope that it is in."""
    if not export_scope:
        return name
    scope = export_scope.removesuffix("/") + "/"
    for mark in ("^", "loc:@", ""):
        if name.startswith(mark + scope):
            return mark + name[len(mark + scope) :].lstrip("/")
    return name


def name_from_scope_name(name: str) -> str:
    """The name of the node that a name scope was opened for."""
    return name.removesuffix("/")


def get_name_scope() -> str:
    return get_default_graph().get_name_scope()


def _get_graph_from_inputs(op_input_list: Sequence[Any], graph: Graph | None = None) -> Graph:
    if graph is not None:
        for value in op_input_list:
            if getattr(value, "graph", graph) is not graph:
                raise ValueError(f"{value} is not from the passed-in graph.")
        return graph
    return graph_of(op_input_list) or get_default_graph()


def executing_eagerly_outside_functions() -> bool:
    from penstock.execution_modes import executing_eagerly_outside_functions as asked

    return asked()


def enable_eager_execution_internal(
    config: Any = None,
    device_policy: Any = None,
    execution_mode: Any = None,
    server_def: Any = None,
) -> None:
    """As `tf.enable_eager_execution`; there are no servers that operations could run on."""
    if server_def is not None:
        raise NotImplementedError("eager execution on a server")
    from penstock.execution_modes import enable_eager_execution

    enable_eager_execution(config, device_policy, execution_mode)


def eager_run(main: Any = None, argv: Any = None) -> None:
    """Runs a program in eager mode."""
    from penstock.execution_modes import enable_eager_execution
    from penstock.platform.app import run

    enable_eager_execution()
    run(main, argv)


def inside_function() -> bool:
    return get_default_graph().building_function


@contextmanager
def NullContextmanager(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A context that changes nothing."""
    yield


def dismantle_graph(graph: Graph) -> None:
    """Accepted: Python's collector frees a graph."""


def set_shape_and_handle_data_for_outputs(op: Any) -> None:
    """Nothing to do: a node's shapes are inferred when it is made."""


set_shapes_for_outputs = set_shape_and_handle_data_for_outputs


def _NodeDef(
    op_type: str, name: str, device: Any = None, attrs: dict[str, Any] | None = None
) -> Any:
    """A NodeDef message; the device may be a DeviceSpec."""
    message = NodeDef(op=op_type, name=name)
    for key, value in (attrs or {}).items():
        message.attr[key].CopyFrom(value)
    if device is not None:
        message.device = device(message) if callable(device) else devices.canonical_name(device)
    return message


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> dict[str, Any]:
    """The shapes that an operation's rule gave, as messages."""
    return {"shapes": [output.shape.as_proto() for output in op.outputs]}


def _set_call_cpp_shape_fn(call_cpp_shape_fn: Any) -> None:
    """Nothing to set: shape rules belong to the op types."""


def get_gradient_function(op: Any) -> Any:
    """The function that gives a node's gradients; None where it has none by its type."""
    return gradient_function(op) if op.inputs else None
