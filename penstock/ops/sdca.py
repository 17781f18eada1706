"""Op types of stochastic dual coordinate ascent, which trains linear models example by example."""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import READS, WRITES, OpSpec, attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_COUNT = attr("int", minimum=0)
_POSITIVE = attr("int", minimum=1)


def _optimizer(name: str, adaptive: str) -> OpSpec:
    """One of two op types that differ in the spelling of an attr."""
    return op(
        f"{name}(sparse_example_indices: num_sparse_features*int64, "
        "sparse_feature_indices: num_sparse_features*int64, "
        "sparse_feature_values: num_sparse_features_with_values*float32, "
        "dense_features: num_dense_features*float32, example_weights: float32, "
        "example_labels: float32, sparse_indices: num_sparse_features*int64, "
        "sparse_weights: num_sparse_features*float32, dense_weights: num_dense_features*float32, "
        "example_state_data: float32) -> out_example_state_data: float32, "
        "out_delta_sparse_weights: num_sparse_features*float32, "
        "out_delta_dense_weights: num_dense_features*float32",
        loss_type=attr("string", allowed=_LOSSES),
        **{adaptive: False},
        num_sparse_features=_COUNT,
        num_sparse_features_with_values=_COUNT,
        num_dense_features=_COUNT,
        l1=attr("float"),
        l2=attr("float"),
        num_loss_partitions=_POSITIVE,
        num_inner_iterations=_POSITIVE,
    )


SdcaOptimizer = _optimizer("SdcaOptimizer", "adaptative")
SdcaOptimizerV2 = _optimizer("SdcaOptimizerV2", "adaptive")
SdcaShrinkL1 = op(
    "SdcaShrinkL1(weights: num_features*&float32)",
    READS,
    WRITES,
    num_features=_COUNT,
    l1=attr("float"),
    l2=attr("float"),
)
SdcaFprint = op("SdcaFprint(input: string) -> output: int64")

not_differentiable(SdcaOptimizer, SdcaOptimizerV2, SdcaShrinkL1, SdcaFprint)


def _optimizer_shapes(op: Operation, *inputs: Shape) -> list[Shape]:
    sparse, dense = op.attrs["num_sparse_features"], op.attrs["num_dense_features"]
    with_rank(inputs[-1], 2)
    weights = inputs[len(inputs) - 1 - sparse - dense : -1]
    return [(None, 4), *weights]


SdcaOptimizer.shape(_optimizer_shapes)
SdcaOptimizerV2.shape(_optimizer_shapes)


@SdcaShrinkL1.shape
def _(op: Operation, *weights: Shape) -> list[Shape]:
    return []


@SdcaFprint.shape
def _(op: Operation, ids: Shape) -> Shape:
    ids = with_rank(ids, 1)
    return (None if ids is None else ids[0], 2)


def sdca_optimizer(
    sparse_example_indices: list[Any],
    sparse_feature_indices: list[Any],
    sparse_feature_values: list[Any],
    dense_features: list[Any],
    example_weights: Any,
    example_labels: Any,
    sparse_indices: list[Any],
    sparse_weights: list[Any],
    dense_weights: list[Any],
    example_state_data: Any,
    loss_type: str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptative: bool = True,
    name: str | None = None,
) -> Any:
    """One pass of dual coordinate ascent over a batch of examples.

    Returns:
      The new state of the examples, and what to add to the sparse and to the dense weights.
    """
    return SdcaOptimizer(
        sparse_example_indices,
        sparse_feature_indices,
        sparse_feature_values,
        dense_features,
        example_weights,
        example_labels,
        sparse_indices,
        sparse_weights,
        dense_weights,
        example_state_data,
        loss_type=loss_type,
        l1=l1,
        l2=l2,
        num_loss_partitions=num_loss_partitions,
        num_inner_iterations=num_inner_iterations,
        adaptative=adaptative,
        name=name,
    )


def sdca_shrink_l1(weights: list[Any], l1: float, l2: float, name: str | None = None) -> Operation:
    """Moves the values of variables towards zero by `l1 / l2`, in place."""
    made: Operation = SdcaShrinkL1(weights, l1=l1, l2=l2, name=name)
    return made


def sdca_fprint(input: Any, name: str | None = None) -> Tensor:
    """Fingerprints of strings: two 64-bit numbers for each, never 0 or 1 as the first of them."""
    prints: Tensor = SdcaFprint(input, name=name)
    return prints
