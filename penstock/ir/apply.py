"""Adding a node: converting its inputs, inferring its attrs, naming it.

The order in which input types are settled is TensorFlow's, since it decides what converts to what:
the first input that mentions a type attr fixes it, later inputs are converted to that type.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from penstock import dtypes, errors, shapes
from penstock.dtypes import DType
from penstock.ir import op_callbacks
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import convert_n_to_tensor, graph_of, to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.signature import Arg, Attr, single_precision
from penstock.ir.tensor import Tensor

_KERNEL_NAMES = {"float32": "float", "float64": "double", "float16": "half"}  # in its messages


def apply_op(
    spec: OpSpec, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None = None
) -> Any:
    """Adds a node of type `spec` and returns its outputs (or the operation if it has none)."""
    op = make_op(spec, inputs, attrs, name)
    if op_callbacks.open_blocks:
        return results(op, op_callbacks.outputs_after(op))
    return results(op)


def make_op(
    spec: OpSpec, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None = None
) -> Operation:
    if len(inputs) != len(spec.inputs):
        wanted = ", ".join(arg.name for arg in spec.inputs)
        raise TypeError(
            f"{spec.name} takes {len(spec.inputs)} inputs ({wanted}), got {len(inputs)}"
        )
    graph: Graph = graph_of(inputs) or get_default_graph()
    op_name = graph._op_name(name, spec.name)
    values: dict[str, Any] = {}
    for key, given in attrs.items():
        if key not in spec.attrs:
            raise TypeError(f"{spec.name} got an unexpected keyword argument {key!r}")
        if given is not None and spec.attrs[key].kind == "type":
            values[key] = coerce(spec, spec.attrs[key], given)
    # What is made for the inputs of this node is named inside its own scope: constants, the Switch
    # that takes an input into a branch.
    scopes = graph._scopes
    outer = scopes.name
    if spec.inputs:
        scopes.name = op_name
    try:
        if graph is get_default_graph():
            return _build(graph, spec, inputs, attrs, values, op_name)
        with graph.as_default():
            return _build(graph, spec, inputs, attrs, values, op_name)
    finally:
        scopes.name = outer


def _build(
    graph: Graph,
    spec: OpSpec,
    inputs: Sequence[Any],
    attrs: dict[str, Any],
    values: dict[str, Any],
    op_name: str,
) -> Operation:
    explicit = frozenset(values)
    tensors: list[Tensor] = []
    if graph.is_eager:
        _settle_by_tensors(spec, inputs, values)
    for arg, value in zip(spec.inputs, inputs, strict=True):
        _add_input(spec, arg, value, values, tensors, explicit)
    complete_attrs(spec, attrs, values)
    types = output_types(spec, values)
    if not spec.takes_refs:
        return graph._add(spec, op_name, tuple(tensors), values, types)
    with ExitStack() as colocated:
        for tensor in _references(spec, values, tensors):
            colocated.enter_context(graph.colocate_with(tensor._op))
        return graph._add(spec, op_name, tuple(tensors), values, types)


def _references(spec: OpSpec, attrs: dict[str, Any], tensors: Sequence[Tensor]) -> list[Tensor]:
    """The inputs that a node takes by reference: it has to run where they are."""
    found: list[Tensor] = []
    start = 0
    for arg in spec.inputs:
        count = arg.count(attrs)
        if arg.is_ref:
            found += tensors[start : start + count]
        start += count
    return found


def results(op: Operation, outputs: list[Tensor] | None = None) -> Any:
    """A node's outputs in the form of the op's signature: a tensor, a list, a named tuple.

    Args:
      outputs: tensors in the place of the outputs.
    """
    args = op.spec.outputs
    if not args:
        return None if op.graph.is_eager else op
    outputs = op._outputs if outputs is None else outputs
    if len(args) == 1 and not args[0].is_list:
        return outputs[0]
    fields: list[Any] = []
    start = 0
    for arg in args:
        count = arg.count(op.attrs)
        part = outputs[start : start + count]
        start += count
        fields.append(part if arg.is_list else part[0])
    return fields[0] if len(fields) == 1 else op.spec.result_type(*fields)  # type: ignore[misc]


def output_types(spec: OpSpec, attrs: dict[str, Any]) -> list[DType]:
    """The types of a node's outputs, flat."""
    return [dtype for arg in spec.outputs for dtype in arg.types(attrs)]


def infer_attrs(spec: OpSpec, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
    """Adds the attrs that the given input tensors determine, where they are not in `attrs`."""
    lists = sum(arg.is_list for arg in spec.inputs)
    spare = len(inputs) - (len(spec.inputs) - lists)  # what is left for the only list
    start = 0
    for arg in spec.inputs:
        count = spare if arg.is_list and lists == 1 else 1
        if arg.number_attr is not None:
            count = attrs.setdefault(arg.number_attr, count)
        part = [tensor._dtype.base_dtype for tensor in inputs[start : start + count]]
        start += count
        if arg.type_list_attr is not None:
            attrs.setdefault(arg.type_list_attr, part)
        elif arg.type_attr is not None and part:
            attrs.setdefault(arg.type_attr, part[0])
    if start != len(inputs):
        raise ValueError(f"{spec.name} takes {start} inputs, got {len(inputs)}")


# Inputs ---------------------------------------------------------------------------------------


def _add_input(
    spec: OpSpec,
    arg: Arg,
    value: Any,
    attrs: dict[str, Any],
    tensors: list[Tensor],
    explicit: frozenset[str],
) -> None:
    if arg.is_list:
        _add_list(spec, arg, value, attrs, tensors)
        return
    wanted = arg.dtype if arg.dtype is not None else attrs.get(arg.type_attr)  # type: ignore[arg-type]
    if isinstance(value, Tensor):
        tensor = value
    else:
        tensor = _convert_one(spec, arg, value, wanted, attrs)
    base = tensor._dtype.base_dtype
    if arg.is_ref and not tensor._dtype.is_ref_dtype:
        raise TypeError(
            f"'{spec.name}' Op requires that input '{arg.name}' be a mutable tensor "
            "(e.g.: a tf.Variable)"
        )
    if wanted is not None and base is not wanted:
        _refuse_type(spec, arg, tensor, base, wanted, explicit)
    if arg.type_attr is not None and arg.type_attr not in attrs:
        _check_allowed(spec, spec.attrs[arg.type_attr], base, arg.name)
        attrs[arg.type_attr] = base
    tensors.append(tensor)


def _convert_one(
    spec: OpSpec, arg: Arg, value: Any, wanted: DType | None, attrs: dict[str, Any]
) -> Tensor:
    preferred = None
    if wanted is None and arg.type_attr is not None and spec.attrs[arg.type_attr].has_default:
        preferred = spec.attrs[arg.type_attr].default  # `[]` is of int32 as a list of axes
    try:
        return to_tensor(value, wanted, arg.name, preferred, as_ref=arg.is_ref)
    except TypeError as error:
        if wanted is None or executing_eagerly():
            raise
        raise TypeError(
            f"Expected {wanted.name} passed to parameter '{arg.name}' of op '{spec.name}', got "
            f"{value!r} of type '{type(value).__name__}' instead. Error: {error}"
        ) from None
    except ValueError as error:
        if wanted is None:
            raise
        given = getattr(getattr(value, "dtype", None), "name", None)
        if given is None:
            raise ValueError(
                f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}"
            ) from None
        raise TypeError(
            f"Input '{arg.name}' of '{spec.name}' Op has type {given} that does not match "
            f"expected type of {wanted.name}."
        ) from None


def _settle_by_tensors(spec: OpSpec, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
    """Lets the first tensor decide what the other inputs of its type are converted to.

    So it is where operations run at once: `tf.multiply(2, x)` multiplies floats. In a graph it is
    the first input that decides.
    """
    for arg, value in zip(spec.inputs, inputs, strict=True):
        key = arg.type_attr
        if key is None or key in attrs:
            continue
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, Tensor) or hasattr(each, "_as_graph_element"):
                attrs[key] = each.dtype.base_dtype
                _check_allowed(spec, spec.attrs[key], attrs[key], arg.name)
                break


def _unexpected(
    spec: OpSpec, number: int, base: DType, wanted: DType
) -> errors.InvalidArgumentError:
    """What eager execution says of an input of another type than those before it."""
    own = get_default_graph()._scopes.name  # the inputs are named inside of the node
    named = f" name: {own}/" if own and own != spec.name else ""
    return errors.InvalidArgumentError(
        None,
        None,
        f"cannot compute {spec.name} as input #{number}(zero-based) was expected to be a "
        f"{_KERNEL_NAMES.get(wanted.name, wanted.name)} tensor but is a "
        f"{_KERNEL_NAMES.get(base.name, base.name)} tensor [Op:{spec.name}]{named}",
    )


def _refuse_type(
    spec: OpSpec, arg: Arg, tensor: Tensor, base: DType, wanted: DType, explicit: frozenset[str]
) -> None:
    if tensor._op.graph.is_eager:
        raise _unexpected(spec, spec.inputs.index(arg), base, wanted)
    given = f"Input '{arg.name}' of '{spec.name}' Op has type {base.name} that does not match"
    if arg.type_attr is not None and arg.type_attr not in explicit:
        first = next(a.name for a in spec.inputs if a.type_attr == arg.type_attr)
        raise TypeError(f"{given} type {wanted.name} of argument '{first}'. ({tensor.name})")
    raise TypeError(f"{given} expected type of {wanted.name}. ({tensor.name})")


def _add_list(
    spec: OpSpec, arg: Arg, value: Any, attrs: dict[str, Any], tensors: list[Tensor]
) -> None:
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{spec.name}' Op, not {value!r}."
        )
    if arg.type_list_attr is not None:
        converted = _convert_each(spec, arg, value)
        for tensor in converted:
            _check_allowed(spec, spec.attrs[arg.type_list_attr], tensor._dtype.base_dtype, arg.name)
        _settle(spec, arg, attrs, arg.type_list_attr, [t._dtype.base_dtype for t in converted])
    else:
        if get_default_graph().is_eager:
            _check_same_type(spec, value, len(tensors))
        converted = _convert_same_type(spec, arg, value, attrs)
        assert arg.number_attr is not None
        _settle(spec, arg, attrs, arg.number_attr, len(converted))
        minimum = spec.attrs[arg.number_attr].minimum
        if minimum is not None and len(converted) < minimum:
            raise ValueError(
                f"List argument '{arg.name}' to '{spec.name}' Op with length {len(converted)} "
                f"shorter than minimum length {minimum}."
            )
    tensors.extend(converted)


def _convert_each(spec: OpSpec, arg: Arg, value: Sequence[Any]) -> list[Tensor]:
    """The entries of a list, each of a type of its own, as tensors."""
    try:
        return convert_n_to_tensor(value, name=arg.name)
    except (TypeError, ValueError):
        names = ", ".join(_type_name(each) for each in value)
        raise TypeError(
            f"Tensors in list passed to '{arg.name}' of '{spec.name}' Op have types [{names}] that "
            f"are invalid. Tensors: {value}"
        ) from None


def _check_same_type(spec: OpSpec, value: Sequence[Any], before: int) -> None:
    """Refuses tensors of several types in a list where operations run at once."""
    if not all(isinstance(each, Tensor) for each in value):
        return
    types = [each._dtype.base_dtype for each in value]
    for number, dtype in enumerate(types, before):
        if dtype is not types[0]:
            raise _unexpected(spec, number, dtype, types[0])


def _convert_same_type(
    spec: OpSpec, arg: Arg, value: Sequence[Any], attrs: dict[str, Any]
) -> list[Tensor]:
    settled = arg.dtype if arg.dtype is not None else attrs.get(arg.type_attr)  # type: ignore[arg-type]
    wanted = settled
    if wanted is None:
        first = next((v for v in value if isinstance(v, Tensor)), None)
        wanted = None if first is None else first._dtype.base_dtype
    try:
        converted = convert_n_to_tensor(value, wanted, arg.name, as_ref=arg.is_ref)
    except (TypeError, ValueError):
        raise _mixed_types(spec, arg, [_type_name(each) for each in value], settled) from None
    base = [tensor._dtype.base_dtype for tensor in converted]
    if any(dtype is not (settled or base[0]) for dtype in base):
        raise _mixed_types(spec, arg, [dtype.name for dtype in base], settled)
    if arg.type_attr is not None and base and arg.type_attr not in attrs:
        _check_allowed(spec, spec.attrs[arg.type_attr], base[0], arg.name)
        attrs[arg.type_attr] = base[0]
    return converted


def _type_name(value: Any) -> str:
    """The type that a value has as a tensor."""
    try:
        return to_tensor(value)._dtype.base_dtype.name
    except (TypeError, ValueError):
        return "<NOT CONVERTIBLE TO TENSOR>"


def _mixed_types(spec: OpSpec, arg: Arg, names: list[str], settled: DType | None) -> TypeError:
    if settled is None:
        wanting = "don't all match."
    elif arg.dtype is not None:
        wanting = f"do not match expected type {settled.name}."
    else:
        wanting = f"do not match type {settled.name} inferred from earlier arguments."
    return TypeError(
        f"Tensors in list passed to '{arg.name}' of '{spec.name}' Op have types "
        f"[{', '.join(names)}] that {wanting}"
    )


def _settle(spec: OpSpec, arg: Arg, attrs: dict[str, Any], key: str, value: Any) -> None:
    """Sets an attr that a list argument determines, or checks it against an earlier argument."""
    if key in attrs and attrs[key] != value:
        earlier = [a.name for a in spec.inputs if key in (a.number_attr, a.type_list_attr)]
        if isinstance(value, int):
            source = f"argument '{earlier[0]}'" if earlier[0] != arg.name else "its attr"
            raise ValueError(
                f"List argument '{arg.name}' to '{spec.name}' Op with length {value} must match "
                f"length {attrs[key]} of {source}."
            )
        given, wanted = (", ".join(dtype.name for dtype in types) for types in (value, attrs[key]))
        raise TypeError(
            f"Input '{arg.name}' of '{spec.name}' Op has type list of {given} that does not match "
            f"type list {wanted} of argument '{earlier[0]}'."
        )
    attrs[key] = value


# Attrs ----------------------------------------------------------------------------------------


def _is_allowed(declared: Attr, value: Any) -> bool:
    return declared.allowed is None or value in declared.allowed


def _check_allowed(spec: OpSpec, declared: Attr, value: Any, parameter: str) -> None:
    if declared.allowed is not None and value not in declared.allowed:
        if isinstance(value, DType):
            names = ", ".join(dtype.name for dtype in declared.allowed)
            raise TypeError(
                f"Value passed to parameter '{parameter}' has DataType {value.name} not in list "
                f"of allowed values: {names}"
            )
        names = '", "'.join(str(v) for v in declared.allowed)
        raise ValueError(
            f"Attr '{parameter}' of '{spec.name}' Op passed string '{value}' not in: \"{names}\"."
        )


def complete_attrs(spec: OpSpec, given: dict[str, Any], values: dict[str, Any]) -> None:
    """Fills `values` with given and default attrs, in the form that nodes keep, and checks them."""
    for key, declared in spec.attrs.items():
        if key not in values:
            value = given.get(key)
            if value is not None:
                values[key] = coerce(spec, declared, value)
            elif declared.has_default:
                default = declared.default
                values[key] = list(default) if isinstance(default, list) else default
            elif declared.kind == "shape" and key in given:
                values[key] = None  # an unknown shape
            elif key in given:
                values[key] = coerce(spec, declared, None)
            else:
                raise TypeError(f"No argument for attr {key}")
        value = values[key]
        if declared.allowed is not None and value is not declared.default:
            for entry in value if isinstance(value, list) else (value,):
                _check_allowed(spec, declared, entry, key)
        if declared.minimum is not None:
            _check_minimum(spec, declared, value)


def _check_minimum(spec: OpSpec, declared: Attr, value: Any) -> None:
    size = len(value) if isinstance(value, list) else value
    assert declared.minimum is not None
    if size < declared.minimum:
        if executing_eagerly():
            measure = "Length" if isinstance(value, list) else "Value"
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{measure} for attr '{declared.name}' of {size} must be at least minimum "
                f"{declared.minimum} [Op:{spec.name}]",
            )
        what = f"list of length {size}" if isinstance(value, list) else size
        raise ValueError(
            f"Attr '{declared.name}' of '{spec.name}' Op passed {what} less than minimum "
            f"{declared.minimum}."
        )


def coerce(spec: OpSpec, declared: Attr, value: Any) -> Any:
    """A user's value for an attr in the form that nodes keep; TypeError where it doesn't fit."""
    kind = declared.kind
    if not kind.startswith("list("):
        return _coerced(declared, kind, value)
    if not isinstance(value, (list, tuple, np.ndarray, shapes.TensorShape)):
        raise TypeError(f"Expected list for attr {declared.name}")
    return [_coerced(declared, kind[5:-1], entry) for entry in value]


def _coerced(declared: Attr, kind: str, value: Any) -> Any:
    try:
        return _coerce_one(kind, value)
    except (TypeError, ValueError):
        if kind == "func":
            raise TypeError(
                f"Don't know how to convert {value} to a func for argument {declared.name}"
            ) from None
        wanted = "DataType" if kind == "type" else kind
        raise TypeError(
            f"Expected {wanted} for argument '{declared.name}' not {value!r}."
        ) from None


def _coerce_one(kind: str, value: Any) -> Any:
    if kind == "bool":
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError
        return bool(value)
    if kind == "int":
        if isinstance(value, shapes.Dimension):
            value = value.value
        if isinstance(value, (str, bytes, float)):
            raise TypeError
        return int(value)
    if kind == "float":
        if isinstance(value, (str, bytes)):
            raise TypeError
        return single_precision(value)
    if kind == "string":
        if not isinstance(value, (str, bytes)):
            raise TypeError
        return value
    if kind == "type":
        return dtypes.as_dtype(value).base_dtype
    if kind == "shape":
        return shapes.raw(value)
    if kind == "func" and hasattr(value, "add_to_graph"):
        value.add_to_graph(get_default_graph())
        return FunctionName(value.name, {})
    if kind == "func" and isinstance(value, (str, bytes)):
        return FunctionName(value.decode() if isinstance(value, bytes) else value, {})
    if kind == "func" and not isinstance(value, FunctionName):
        raise TypeError
    if kind == "tensor":
        from penstock.ir.tensor_codec import as_array

        return as_array(value)
    return value
