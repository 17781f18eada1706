"""What lies under eager operations in TensorFlow: one by its name, with the values it is given.

There is one way here to run an operation. `TFE_Py_FastPathExecute` takes the inputs that
TensorFlow's fast way takes, and refuses the others with the exception that means its slow way.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from penstock import dtypes, errors
from penstock.eager.tensor import EagerTensor
from penstock.internal_paths import eager_execute
from penstock.ir import registry
from penstock.ir.convert import convert_to_tensor
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.ops.resource_variable import ResourceVariable
from penstock.shapes import TensorShape

_BASE_ARGUMENTS = 5  # a context, a device, the type of the operation, its name, callbacks


class _NotOkStatusException(Exception):
    """An operation failed with one of the canonical codes."""

    def __init__(self, message: str, code: int):
        super().__init__()
        self.message = message
        self.code = code

    def __str__(self) -> str:
        kind = errors.exception_type_from_error_code(self.code)
        return f"{kind.__name__}: {self.message}"


class _FallbackException(Exception):
    """An operation's inputs are not those of the fast way."""


class _SymbolicException(Exception):
    """An eager operation was given a tensor of a graph."""


def TFE_Py_RegisterExceptionClass(cls: type) -> None:
    """Checks a class that stands for a failure: here failures are `tf.errors`."""
    _check_exception(cls, "TFE_Py_RegisterExceptionClass")


def TFE_Py_RegisterFallbackExceptionClass(cls: type) -> None:
    """Checks a class that stands for the slow way: here there is one way."""
    _check_exception(cls, "TFE_Py_RegisterFallbackExceptionClass")


def _check_exception(cls: Any, function: str) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        raise TypeError(f"{function}: Registered class should be subclass of Exception.")


def TFE_Py_FastPathExecute(*arguments: Any) -> Any:
    """Runs an operation: `(context, device, op_name, name, callbacks, *inputs, *attrs)`."""
    if len(arguments) < _BASE_ARGUMENTS:
        raise ValueError(f"There must be at least {_BASE_ARGUMENTS} items in the input tuple.")
    _, _, op_name, name, _, *rest = arguments
    if not isinstance(op_name, str):
        raise TypeError(f"expected a string for op_name, got {type(op_name).__name__} instead")
    spec = registry.find(op_name)
    if spec is None:
        raise _NotOkStatusException(f"Op type not registered '{op_name}'", errors.NOT_FOUND)
    if len(rest) < len(spec.inputs):
        raise ValueError(
            "Tuple size smaller than intended. Expected to be at least "
            f"{_BASE_ARGUMENTS + len(spec.inputs)}, was {len(arguments)}"
        )
    inputs, attrs = rest[: len(spec.inputs)], rest[len(spec.inputs) :]
    given = dict(zip(attrs[::2], attrs[1::2], strict=True))
    return _run(spec, [_taken(each) for each in inputs], given, name)


def _run(spec: OpSpec, inputs: list[Any], attrs: dict[str, Any], name: str | None) -> Any:
    for output in spec.outputs:
        if attrs.get(output.number_attr or "", 0) < 0:
            raise _FallbackException(
                "Attributes suggest that the size of an output list is less than 0"
            )
    try:
        return spec(*inputs, name=name, **attrs)
    except errors.OpError as error:
        raise _NotOkStatusException(error.message, error.error_code) from None


def _taken(value: Any) -> Any:
    """An input of the fast way, or a list of them."""
    if isinstance(value, (list, tuple)):
        return [_taken(each) for each in value]
    if isinstance(value, ResourceVariable):
        value = value.read_value() if isinstance(value.handle, EagerTensor) else value.handle
    if isinstance(value, EagerTensor):
        return value
    raise _FallbackException(
        "This function does not handle the case of the path where all inputs are not already "
        "EagerTensors."
    )


# Values of arguments ------------------------------------------------------------------------------


def args_to_matching_eager(
    inputs: Sequence[Any], ctx: Any, default_dtype: Any = None
) -> tuple[int, list[Tensor]]:
    """The inputs as tensors of one type, which a tensor among them decides, and its number."""
    known = next((each.dtype for each in inputs if isinstance(each, Tensor)), None)
    tensors: list[Tensor] = []
    for each in inputs:
        tensor: Tensor = convert_to_tensor(each, known, preferred_dtype=default_dtype)
        known = tensor.dtype
        tensors.append(tensor)
    if known is None:
        return -1 if default_dtype is None else make_type(default_dtype, "dtype"), tensors
    return int(known.base_dtype.as_datatype_enum), tensors


def convert_to_mixed_eager_tensors(
    values: Sequence[Any], ctx: Any
) -> tuple[list[int], list[Tensor]]:
    """The values as tensors, each of a type of its own, with the numbers of the types."""
    tensors = [convert_to_tensor(value) for value in values]
    return [int(tensor.dtype.base_dtype.as_datatype_enum) for tensor in tensors], tensors


def _cast(kind: type, wanted: str, value: Any, argument: str) -> Any:
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise _not_a(wanted, value, argument) from None


def _not_a(wanted: str, value: Any, argument: str) -> TypeError:
    return TypeError(f"Expected {wanted} for argument '{argument}' not {value!r}.")


def make_float(v: Any, arg_name: str) -> Any:
    return _cast(float, "float", v, arg_name)


def make_int(v: Any, arg_name: str) -> Any:
    if isinstance(v, str):
        raise _not_a("int", v, arg_name)
    return _cast(int, "int", v, arg_name)


def make_str(v: Any, arg_name: str) -> bytes:
    if not isinstance(v, (str, bytes)):
        raise _not_a("string", v, arg_name)
    return v.encode() if isinstance(v, str) else v


def make_bool(v: Any, arg_name: str) -> bool:
    if not isinstance(v, bool):
        raise _not_a("bool", v, arg_name)
    return v


def make_type(v: Any, arg_name: str) -> int:
    """The number of a type."""
    try:
        return int(dtypes.as_dtype(v).base_dtype.as_datatype_enum)
    except TypeError:
        raise _not_a("DataType", v, arg_name) from None


def make_shape(v: Any, arg_name: str) -> list[int | None] | None:
    """The sizes of a shape, None for an unknown one."""
    try:
        shape = TensorShape(v)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Error converting {arg_name} to a TensorShape: {error}.") from None
    return None if shape.ndims is None else shape.as_list()


quick_execute = eager_execute.execute


class _EagerTensorCache:
    """Small tensors by keys, of which the oldest make room for new ones."""

    def __init__(self, max_items: int = 256, max_tensor_size: int = 10000):
        self._data: collections.OrderedDict[Any, Any] = collections.OrderedDict()
        self._max_items = max_items
        self._max_tensor_size = max_tensor_size

    def put(self, key: Any, value: Any) -> None:
        if value.shape.num_elements() > self._max_tensor_size:
            return
        self._data[key] = value
        if len(self._data) > self._max_items:
            self._data.popitem(last=False)

    def get(self, key: Any) -> Any:
        return self._data.get(key)

    def flush(self) -> None:
        self._data.clear()
