"""Conditional accumulators: `tf.ConditionalAccumulator`, `tf.SparseConditionalAccumulator`."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ir.registry import READS, STATEFUL, WAITS, WRITES, attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import NUMERIC
from penstock.ops.casts import cast
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape, TensorShape, unknown_shape

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator"]

_ACCUMULATOR: dict[str, Any] = {
    "dtype": NUMERIC,
    "shape": attr("shape"),
    "container": "",
    "shared_name": "",
    "reduction_type": attr("string", "MEAN", allowed=("MEAN", "SUM")),
}

_ConditionalAccumulator = op(
    "ConditionalAccumulator() -> handle: &string", STATEFUL, **_ACCUMULATOR
)
_SparseConditionalAccumulator = op(
    "SparseConditionalAccumulator() -> handle: &string", STATEFUL, **_ACCUMULATOR
)
_ResourceConditionalAccumulator = op(
    "ResourceConditionalAccumulator() -> handle: resource", STATEFUL, **_ACCUMULATOR
)
AccumulatorApplyGradient = op(
    "AccumulatorApplyGradient(handle: &string, local_step: int64, gradient: dtype)",
    WRITES,
    dtype=NUMERIC,
)
ResourceAccumulatorApplyGradient = op(
    "ResourceAccumulatorApplyGradient(handle: resource, local_step: int64, gradient: dtype)",
    STATEFUL,
    WRITES,
    dtype=NUMERIC,
)
AccumulatorTakeGradient = op(
    "AccumulatorTakeGradient(handle: &string, num_required: int32) -> average: dtype",
    WRITES,
    WAITS,
    dtype=NUMERIC,
)
ResourceAccumulatorTakeGradient = op(
    "ResourceAccumulatorTakeGradient(handle: resource, num_required: int32) -> average: dtype",
    STATEFUL,
    WRITES,
    WAITS,
    dtype=NUMERIC,
)
AccumulatorNumAccumulated = op(
    "AccumulatorNumAccumulated(handle: &string) -> num_accumulated: int32", READS
)
ResourceAccumulatorNumAccumulated = op(
    "ResourceAccumulatorNumAccumulated(handle: resource) -> num_accumulated: int32", STATEFUL, READS
)
AccumulatorSetGlobalStep = op(
    "AccumulatorSetGlobalStep(handle: &string, new_global_step: int64)", WRITES
)
ResourceAccumulatorSetGlobalStep = op(
    "ResourceAccumulatorSetGlobalStep(handle: resource, new_global_step: int64)", STATEFUL, WRITES
)
SparseAccumulatorApplyGradient = op(
    "SparseAccumulatorApplyGradient(handle: &string, local_step: int64, gradient_indices: int64, "
    "gradient_values: dtype, gradient_shape: int64)",
    WRITES,
    dtype=NUMERIC,
    has_known_shape=attr("bool"),
)
SparseAccumulatorTakeGradient = op(
    "SparseAccumulatorTakeGradient(handle: &string, num_required: int32) -> indices: int64, "
    "values: dtype, shape: int64",
    WRITES,
    WAITS,
    dtype=NUMERIC,
)
not_differentiable(
    _ConditionalAccumulator,
    _SparseConditionalAccumulator,
    _ResourceConditionalAccumulator,
    AccumulatorApplyGradient,
    ResourceAccumulatorApplyGradient,
    AccumulatorTakeGradient,
    ResourceAccumulatorTakeGradient,
    AccumulatorNumAccumulated,
    ResourceAccumulatorNumAccumulated,
    AccumulatorSetGlobalStep,
    ResourceAccumulatorSetGlobalStep,
    SparseAccumulatorApplyGradient,
    SparseAccumulatorTakeGradient,
)


@_ConditionalAccumulator.shape
@_SparseConditionalAccumulator.shape
@_ResourceConditionalAccumulator.shape
def _(op: Any) -> Shape:
    return (2,)


@AccumulatorApplyGradient.shape
@ResourceAccumulatorApplyGradient.shape
def _(op: Any, handle: Shape, local_step: Shape, gradient: Shape) -> list[Shape]:
    with_rank(local_step, 0)
    return []


@SparseAccumulatorApplyGradient.shape
def _(op: Any, handle: Shape, local_step: Shape, *gradient: Shape) -> list[Shape]:
    with_rank(local_step, 0)
    return []


@AccumulatorTakeGradient.shape
@ResourceAccumulatorTakeGradient.shape
def _(op: Any, handle: Shape, num_required: Shape) -> Shape:
    with_rank(num_required, 0)
    return None


@SparseAccumulatorTakeGradient.shape
def _(op: Any, handle: Shape, num_required: Shape) -> list[Shape]:
    with_rank(num_required, 0)
    return [None, None, None]


@AccumulatorNumAccumulated.shape
@ResourceAccumulatorNumAccumulated.shape
def _(op: Any, handle: Shape) -> Shape:
    return ()


@AccumulatorSetGlobalStep.shape
@ResourceAccumulatorSetGlobalStep.shape
def _(op: Any, handle: Shape, step: Shape) -> list[Shape]:
    with_rank(step, 0)
    return []


def _as_step(step: Any) -> Tensor:
    return cast(convert_to_tensor(step), dtypes.int64)


class ConditionalAccumulatorBase:
    """What all accumulators can do; make a `tf.ConditionalAccumulator`.

    Up-to-date gradients are added up (those of older steps are dropped) and can be taken out, as
    their mean or sum, once enough of them are there.
    """

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor):
        self._dtype = dtype
        self._shape = unknown_shape() if shape is None else TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref._op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of the gradients."""
        return self._dtype

    @property
    def _is_resource(self) -> bool:
        return self._accumulator_ref.dtype is dtypes.resource

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients are in the accumulator now."""
        spec = ResourceAccumulatorNumAccumulated if self._is_resource else AccumulatorNumAccumulated
        return spec(self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """Sets the step of the accumulator: gradients of older steps are dropped from now on."""
        spec = ResourceAccumulatorSetGlobalStep if self._is_resource else AccumulatorSetGlobalStep
        return spec(self._accumulator_ref, _as_step(new_global_step), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of dense gradients.

    Args:
      dtype: the type of the gradients.
      shape: their shape, if it is known.
      shared_name: the name that sessions share it under.
      name: a name for the node.
      reduction_type: "MEAN" or "SUM".
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        ref = _ResourceConditionalAccumulator(
            dtype=dtype,
            shape=shape,
            shared_name=shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """Adds a gradient; it is dropped if `local_step` is older than the accumulator's step."""
        gradient = convert_to_tensor(grad, self._dtype)
        gradient.get_shape().assert_is_compatible_with(self._shape)
        step = _as_step(local_step)
        return ResourceAccumulatorApplyGradient(self._accumulator_ref, step, gradient, name=name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean (or sum) of the gradients, once there are `num_required` of them."""
        gradient: Tensor = ResourceAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )
        gradient.set_shape(self._shape)
        return gradient


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of sparse gradients: rows of a tensor. The mean is that of each row.

    Args: see `tf.ConditionalAccumulator`.
    """

    def __init__(
        self,
        dtype: Any,
        shape: Any = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        ref = _SparseConditionalAccumulator(
            dtype=dtype,
            shape=shape,
            shared_name=shared_name,
            name=name,
            reduction_type=reduction_type,
        )
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None
    ) -> Operation:
        """Adds a gradient that is given as `tf.IndexedSlices`."""
        return self.apply_grad(
            grad_indices=grad.indices,
            grad_values=grad.values,
            grad_shape=grad.dense_shape,
            local_step=local_step,
            name=name,
        )

    def apply_grad(
        self,
        grad_indices: Any,
        grad_values: Any,
        grad_shape: Any = None,
        local_step: Any = 0,
        name: str | None = None,
    ) -> Operation:
        """Adds a gradient; it is dropped if `local_step` is older than the accumulator's step.

        Args:
          grad_indices: the numbers of the rows.
          grad_values: the rows.
          grad_shape: the shape of the dense gradient, if it is known.
          local_step: the step that the gradient was computed in.
          name: a name for the operation.
        """
        step = _as_step(local_step)
        return SparseAccumulatorApplyGradient(
            self._accumulator_ref,
            step,
            cast(grad_indices, dtypes.int64),
            grad_values,
            cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """(indices, values, shape) of the mean or sum, once there are `num_required` gradients."""
        return SparseAccumulatorTakeGradient(
            self._accumulator_ref, num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """The same as `tf.IndexedSlices`."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)
