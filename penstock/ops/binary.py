"""Arithmetic on two tensors that broadcast: sums, products, quotients, powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import AGGREGATE, COMMUTATIVE, attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, FLOATING, FLOATING_COMPLEX, INDEX, NUMERIC, REAL, SIGNED
from penstock.ops import array
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.casts import cast, conj
from penstock.ops.elementwise import after, log
from penstock.ops.elementwise_rules import broadcast_shape, folding
from penstock.ops.shape_checks import merge_shapes
from penstock.ops.unbroadcast import same_static_shape, stretches, stretches_in_step, sum_to
from penstock.shapes import Shape

__all__ = [
    "accumulate_n",
    "add",
    "add_n",
    "div",
    "div_no_nan",
    "divide",
    "floor_div",
    "floordiv",
    "floormod",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "pow",
    "realdiv",
    "scalar_mul",
    "squared_difference",
    "subtract",
    "truediv",
    "truncatediv",
    "truncatemod",
]

Add = op("Add(x: T, y: T) -> z: T", T=types(FLOATING_COMPLEX, SIGNED, dtypes.uint8, dtypes.string))
_WITHOUT_ADD = (dtypes.uint16, dtypes.uint32, dtypes.uint64)
AddV2 = op("AddV2(x: T, y: T) -> z: T", COMMUTATIVE, AGGREGATE, T=types(REAL, COMPLEX))
AddN = op("AddN(inputs: N*T) -> sum: T", COMMUTATIVE, AGGREGATE, T=types(NUMERIC, dtypes.variant))
AccumulateNV2 = op(
    "AccumulateNV2(inputs: N*T) -> sum: T", COMMUTATIVE, AGGREGATE, T=NUMERIC, shape=attr("shape")
)
Sub = op("Sub(x: T, y: T) -> z: T", T=types(REAL, COMPLEX))
Mul = op("Mul(x: T, y: T) -> z: T", COMMUTATIVE, T=types(REAL, COMPLEX))
MulNoNan = op("MulNoNan(x: T, y: T) -> z: T", T=FLOATING_COMPLEX)
Div = op("Div(x: T, y: T) -> z: T", T=types(REAL, COMPLEX))
DivNoNan = op("DivNoNan(x: T, y: T) -> z: T", T=FLOATING_COMPLEX)
RealDiv = op("RealDiv(x: T, y: T) -> z: T", T=types(REAL, COMPLEX))
TruncateDiv = op("TruncateDiv(x: T, y: T) -> z: T", T=types(REAL, COMPLEX))
FloorDiv = op("FloorDiv(x: T, y: T) -> z: T", T=types(REAL, COMPLEX))
FloorMod = op("FloorMod(x: T, y: T) -> z: T", T=REAL)
Mod = op("Mod(x: T, y: T) -> z: T", T=types(FLOATING, INDEX))
TruncateMod = op("TruncateMod(x: T, y: T) -> z: T", T=types(FLOATING, INDEX))
Maximum = op("Maximum(x: T, y: T) -> z: T", T=REAL)
Minimum = op("Minimum(x: T, y: T) -> z: T", T=REAL)
Pow = op("Pow(x: T, y: T) -> z: T", T=types(FLOATING_COMPLEX, SIGNED))
SquaredDifference = op(
    "SquaredDifference(x: T, y: T) -> z: T", COMMUTATIVE, T=types(FLOATING_COMPLEX, INDEX)
)
not_differentiable(FloorDiv, TruncateDiv)

for _spec in (Add, AddV2, Sub, Mul, MulNoNan, Div, DivNoNan, RealDiv, TruncateDiv, FloorDiv):
    _spec.shape(broadcast_shape)
for _spec in (FloorMod, Mod, TruncateMod, Maximum, Minimum, Pow, SquaredDifference):
    _spec.shape(broadcast_shape)


@AddN.shape
def _(op: Any, *inputs: Shape) -> Shape:
    if op.attrs["T"] is dtypes.variant:
        return None
    merged = inputs[0]
    for shape in inputs[1:]:
        merged = merge_shapes(merged, shape)
    return merged


@AccumulateNV2.shape
def _(op: Any, *inputs: Shape) -> Shape:
    merged = op.attrs["shape"]
    for shape in inputs:
        merged = merge_shapes(merged, shape)
    return merged


# What shape arithmetic needs of the values -----------------------------------------------------


def _unless_zero(compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A fold rule that leaves a division by zero to the step, which raises its error."""

    def rule(op: Any, x: Any, y: Any) -> Any:
        return None if (y == 0).any() else compute(x, y)

    return rule


AddV2.fold(folding(np.add))
Sub.fold(folding(np.subtract))
Mul.fold(folding(np.multiply))
Maximum.fold(folding(np.maximum))
Minimum.fold(folding(np.minimum))
SquaredDifference.fold(folding(lambda x, y: np.square(x - y)))
FloorDiv.fold(_unless_zero(np.floor_divide))
RealDiv.fold(_unless_zero(np.true_divide))
FloorMod.fold(_unless_zero(np.mod))


@Add.fold
def _(op: Any, x: Any, y: Any) -> Any:
    return None if x.dtype == object else np.add(x, y)


# Gradients ------------------------------------------------------------------------------------


@Add.gradient
@AddV2.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shape(x, y, grad):
        return grad, grad
    of_x, of_y = stretches(x, y, grad)
    return of_x.undo(grad), of_y.undo(grad)


@AddN.gradient
@AccumulateNV2.gradient
def _(op: Any, grad: Any) -> Any:
    return [grad] * len(op.inputs)


@Sub.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shape(x, y, grad):
        return grad, -grad
    of_x, of_y = stretches(x, y, grad)
    return of_x.undo(grad), of_y.undo(-grad)


@Mul.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shape(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return Mul(grad, y), Mul(grad, x)
    of_x, of_y = stretches(x, y, grad)
    x, y = conj(x), conj(y)
    return of_x.undo(Mul(grad, y)), of_y.undo(Mul(x, grad))


@MulNoNan.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    if same_static_shape(x, y, grad):
        return MulNoNan(grad, y), MulNoNan(x, grad)
    of_x, of_y = stretches_in_step(x, y)
    return of_x.undo(MulNoNan(grad, y)), of_y.undo(MulNoNan(x, grad))


@Div.gradient
def _(op: Any, grad: Any) -> Any:
    return _quotient_gradient(op, grad, lambda a, b: a / b)


@RealDiv.gradient
def _(op: Any, grad: Any) -> Any:
    return _quotient_gradient(op, grad, realdiv)


@DivNoNan.gradient
def _(op: Any, grad: Any) -> Any:
    return _quotient_gradient(op, grad, div_no_nan)


def _quotient_gradient(op: Any, grad: Any, divide: Callable[[Any, Any], Any]) -> Any:
    x, y = op.inputs
    of_x, of_y = stretches_in_step(x, y)
    x, y = conj(x), conj(y)
    grad_x = of_x.undo(divide(grad, y))
    return grad_x, of_y.undo(grad * divide(divide(-x, y), y))


@FloorMod.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    of_x, of_y = stretches_in_step(x, y)
    quotient = FloorDiv(x, y)
    return of_x.undo(grad), of_y.undo(grad * -quotient)


@Maximum.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.comparison import greater_equal

    return _chosen_gradient(op, grad, greater_equal)


@Minimum.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.comparison import less_equal

    return _chosen_gradient(op, grad, less_equal)


def _chosen_gradient(op: Any, grad: Any, first_wins: Callable[[Any, Any], Any]) -> Any:
    from penstock.ops.select import Select

    x, y = op.inputs
    shape_x, shape_y = array.shape(x), array.shape(y)
    nothing = array.zeros(array.shape(grad), grad.dtype)
    chosen = first_wins(x, y)
    axes_x, axes_y = BroadcastGradientArgs(shape_x, shape_y)
    grad_x = sum_to(Select(chosen, grad, nothing), shape_x, axes_x)
    return grad_x, sum_to(Select(chosen, nothing, grad), shape_y, axes_y)


@SquaredDifference.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    with after(grad):
        # The factor is applied to grad, which is no larger than the difference.
        grad_x = scalar_mul(2.0, grad) * (x - y)
    if same_static_shape(x, y, grad):
        return grad_x, -grad_x
    of_x, of_y = stretches(x, y, grad)
    return of_x.undo(grad_x), -of_y.undo(grad_x)


@Pow.gradient
def _(op: Any, grad: Any) -> Any:
    x, y = op.inputs
    of_x, of_y = stretches(x, y, grad)
    base, exponent = conj(x), conj(y)
    grad_x = of_x.undo(grad * exponent * pow(base, exponent - 1))
    power = conj(op.outputs[0])
    log_base = _log_where_defined(x, base)
    return grad_x, of_y.undo(grad * power * log_base)


def _log_where_defined(x: Tensor, base: Any) -> Tensor:
    """log(base), and 0 where that is undefined: 0 ** y does not change with y."""
    from penstock.ops.comparison import not_equal

    defined = not_equal(base, 0) if x.dtype.is_complex else base > 0
    safe = array.where(defined, base, array.ones_like(x))
    return array.where(defined, log(safe), array.zeros_like(x))


# Public functions -----------------------------------------------------------------------------


def _operands(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both operands as tensors; a Python number takes the type of the tensor beside it."""
    x = to_tensor(x, name="x")
    return x, to_tensor(y, name="y", preferred_dtype=x.dtype.base_dtype)


@dispatched
def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y, element by element; strings are joined."""
    with name_scope(name, "Add", [x]) as scope:
        x = to_tensor(x, name="x")
        # The older op, for older readers of the graph, wherever it has the type.
        spec = AddV2 if x.dtype.base_dtype in _WITHOUT_ADD else Add
        return spec(x, y, name=scope)


@dispatched
def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - y, element by element."""
    return Sub(x, y, name=name)


@dispatched
def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, element by element."""
    return Mul(x, y, name=name)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0, even if x is infinite or NaN there."""
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x, y = _operands(x, y)
        return MulNoNan(x, y, name=scope)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """`scalar` * `x`, where `x` may be IndexedSlices."""
    factor = to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if factor._shape != ():
        raise ValueError(f"Only scalar multiply works, got shape {factor.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(Mul(factor, x.values, name=name), x.indices, x.dense_shape)
    return Mul(factor, x, name=name)


# The floating type in which integers of a type are divided.
_QUOTIENT_TYPE = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.uint32: dtypes.float64,
    dtypes.int32: dtypes.float64,
    dtypes.uint64: dtypes.float64,
    dtypes.int64: dtypes.float64,
}


def _same_type(x: Tensor, y: Tensor) -> Any:
    x_type, y_type = x.dtype.base_dtype, y.dtype.base_dtype
    if x_type is not y_type:
        raise TypeError(f"x and y must have the same dtype, got {x_type!r} != {y_type!r}")
    return x_type


@dispatched
def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 3 has it: integers are divided as floats."""
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = _operands(x, y)
        quotient_type = _QUOTIENT_TYPE.get(_same_type(x, y))
        if quotient_type is not None:
            x, y = cast(x, quotient_type), cast(y, quotient_type)
        return RealDiv(x, y, name=scope)


@dispatched
def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 3 has it."""
    if name is not None:
        return truediv(x, y, name=name)
    if not isinstance(x, Tensor):
        target = y.dtype.base_dtype if isinstance(y, Tensor) else None
        x = to_tensor(x, preferred_dtype=target)
    return x / y


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 has it: integers are divided and rounded down."""
    with name_scope(name, "div", [x, y]) as scope:
        x = to_tensor(x, name="x")
        y = to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        base = _same_type(x, y)
        spec = RealDiv if base.is_floating or base.is_complex else FloorDiv
        return spec(x, y, name=scope)


@dispatched
def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = to_tensor(x, name="x")
        y = to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return DivNoNan(x, y, name=scope)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = to_tensor(x, name="x")
        return DivNoNan(to_tensor(1, name="one", dtype=x.dtype.base_dtype), x, name=scope)


@dispatched
def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x // y: the quotient, rounded down."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return FloorDiv(x, y, name=scope)


def floor_div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x // y: the quotient, rounded down."""
    return FloorDiv(x, y, name=name)


@dispatched
def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y of floating and complex numbers."""
    return RealDiv(x, y, name=name)


@dispatched
def truncatediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The quotient of integers, rounded towards zero as in C."""
    return TruncateDiv(x, y, name=name)


@dispatched
def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x % y: the rest of a division that rounds down; it has the sign of y."""
    return FloorMod(x, y, name=name)


mod = floormod


@dispatched
def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The rest of a division that rounds towards zero; it has the sign of x."""
    return TruncateMod(x, y, name=name)


@dispatched
def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y, element by element."""
    return Maximum(x, y, name=name)


@dispatched
def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y, element by element."""
    return Minimum(x, y, name=name)


@dispatched
def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power of y, element by element."""
    with name_scope(name, "Pow", [x]) as scope:
        return Pow(x, y, name=scope)


@dispatched
def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """(x - y) squared; of complex numbers, their squared distance."""
    return SquaredDifference(x, y, name=name)


def _summands(inputs: Any) -> list[Any]:
    """The inputs of a sum as tensors and slices; ValueError where there are none."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype "
            "and shape"
        )
    return [x if isinstance(x, (Tensor, IndexedSlices)) else to_tensor(x) for x in inputs]


@dispatched
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape (no broadcasting)."""
    summands = _summands(inputs)
    if len(summands) == 1:
        only = to_tensor(summands[0])
        return array.identity(only, name=name) if name else only
    # Slices become tensors as inputs of the sum, in its scope.
    return AddN([x if isinstance(x, IndexedSlices) else to_tensor(x) for x in summands], name=name)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Tensor:
    """The sum of a list of tensors of one shape, which may be given as `shape`."""
    summands = [to_tensor(x) for x in inputs] if isinstance(inputs, (list, tuple)) else []
    if len({x.dtype.base_dtype for x in summands}) != 1:
        raise ValueError(
            "inputs must be a list of at least one Tensor with the same dtype and shape"
        )
    merged = shapes.TensorShape(shape)
    for x in summands:
        merged = merged.merge_with(x.shape)  # ValueError where they differ
    kind = summands[0].dtype.base_dtype
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not kind:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {kind}")
    if len(summands) == 1:
        return array.identity(summands[0], name=name) if name else summands[0]
    return AccumulateNV2(summands, shape=merged, name=name)
