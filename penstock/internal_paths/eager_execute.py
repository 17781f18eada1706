"""`tensorflow.python.eager.execute`: an operation by its name, with flat inputs and attrs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes, errors
from penstock.ir import registry
from penstock.ir.defaults import get_default_graph
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.shapes import TensorShape

_NUMBERS = {  # of TF_AttrType
    "string": 0,
    "int": 1,
    "float": 2,
    "bool": 3,
    "type": 4,
    "shape": 5,
    "tensor": 6,
    "placeholder": 7,
    "func": 8,
}
TF_ATTR_STRING, TF_ATTR_INT, TF_ATTR_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE = range(5)
TF_ATTR_SHAPE, TF_ATTR_TENSOR, TF_ATTR_PLACEHOLDER, TF_ATTR_FUNC = range(5, 9)

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str, bytes),
    "int": (int,),
    "float": (float, int),
    "bool": (bool, int),
    "type": (int, dtypes.DType),
}


def execute(
    op_name: Any,
    num_outputs: int,
    inputs: Sequence[Any],
    attrs: Sequence[Any] | None,
    ctx: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """The outputs of an operation.

    Args:
      num_outputs: how many there are at most.
      attrs: names, each followed by a value; types are numbers of TF_DataType.
    """
    if num_outputs < 0:
        raise ValueError("Number of outputs may not be negative")
    op_type = op_name.decode() if isinstance(op_name, bytes) else op_name
    spec = registry.find(op_type)
    if spec is None:
        raise errors.NotFoundError(None, None, f"Op type not registered '{op_type}'")
    pairs = list(attrs or ())
    given = dict(zip(pairs[::2], pairs[1::2], strict=True))
    values = {key: _value(spec, key, value) for key, value in given.items()}
    values.update(_types_of_first(spec, inputs))
    _check_inputs(spec, inputs, values)
    try:
        op = get_default_graph().create_op(op_type, list(inputs), name=name, attrs=values)
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(None, None, str(error)) from error
    if len(op.outputs) > num_outputs:
        raise errors.InvalidArgumentError(
            None, None, f"Expecting {len(op.outputs)} outputs, but *num_retvals is {num_outputs}"
        )
    return list(op.outputs)


def _types_of_first(spec: OpSpec, inputs: Sequence[Any]) -> dict[str, Any]:
    """The types that the first input of each has, whatever the attrs say."""
    found: dict[str, Any] = {}
    for arg, tensor in zip(spec.inputs, inputs, strict=False):
        if arg.number_attr is not None or arg.type_list_attr is not None:
            break  # from here on an input's place is not that of its argument
        if arg.type_attr is not None:
            found.setdefault(arg.type_attr, tensor.dtype.base_dtype)
    return found


def _check_inputs(spec: OpSpec, inputs: Sequence[Any], values: dict[str, Any]) -> None:
    try:
        expected = [dtype for arg in spec.inputs for dtype in arg.types(values)]
    except KeyError:  # attrs that the inputs will tell
        return
    for place, (dtype, tensor) in enumerate(zip(expected, inputs, strict=False)):
        if tensor.dtype.base_dtype is not dtype.base_dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"cannot compute {spec.name} as input #{place}(zero-based) was expected to be a "
                f"{dtype.name} tensor but is a {tensor.dtype.name} tensor",
            )


def _value(spec: OpSpec, key: str, value: Any) -> Any:
    """An attr as Python code means it; InvalidArgumentError if it is of another kind."""
    declared = spec.attrs.get(key)
    if declared is None:
        raise errors.InvalidArgumentError(
            None, None, f"Attr {key} is not there in the op {spec.name}"
        )
    kind = declared.kind
    if not kind.startswith("list("):
        return _one(key, kind, value)
    if not isinstance(value, (list, tuple)):
        raise errors.InvalidArgumentError(
            None, None, f"Expecting sequence value for attr {key}, got {type(value).__name__}"
        )
    return [_one(key, kind[len("list(") : -1], each) for each in value]


def _one(key: str, kind: str, value: Any) -> Any:
    if kind == "shape":
        return _shape(key, value)
    expected = _PYTHON_TYPES.get(kind)
    if expected is not None and not isinstance(value, expected):
        raise errors.InvalidArgumentError(
            None, None, f"Expecting {kind} value for attr {key}, got {type(value).__name__}"
        )
    return dtypes.as_dtype(value) if kind == "type" else value


def _shape(key: str, value: Any) -> TensorShape:
    if value is not None and not isinstance(value, (list, tuple, TensorShape)):
        raise errors.InvalidArgumentError(
            None, None, f"Expecting sequence value for attr {key}, got {type(value).__name__}"
        )
    try:
        return TensorShape(value)
    except (TypeError, ValueError) as error:
        other = next(each for each in value or () if not isinstance(each, int))
        raise errors.InvalidArgumentError(
            None, None, f"Expecting a Dimension for attr {key}, got {type(other).__name__}"
        ) from error


def op_attr_type(op_type: str, attr_name: str) -> Any:
    """The kind of an op's attr as a number of TF_AttrType; in a list if it is a list."""
    spec = registry.find(op_type)
    if spec is None or attr_name not in spec.attrs:
        raise errors.InvalidArgumentError(None, None, f"{op_type} has no attr {attr_name}")
    kind = spec.attrs[attr_name].kind
    if kind.startswith("list("):
        return [_NUMBERS[kind[len("list(") : -1]]]
    return _NUMBERS[kind]


def make_attr(attr_type: Any, value: Any) -> Any:
    """An attr's value, of a kind that `op_attr_type` tells, as Python code has it."""
    if isinstance(attr_type, list):
        return [make_attr(attr_type[0], each) for each in value]
    if attr_type == TF_ATTR_TYPE:
        return dtypes.as_dtype(value)
    if attr_type == TF_ATTR_SHAPE:
        return TensorShape(value).as_proto()
    return value
