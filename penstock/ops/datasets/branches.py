"""Ops for several ways to the same elements: functions of rows, branches, parts of batches."""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op
from penstock.ops.datasets.elements import ANY_TYPES, ELEMENTS, dataset_handles
from penstock.ops.shape_checks import merge_sizes
from penstock.shapes import Shape

MapDefun = op(
    "MapDefun(arguments: *Targuments, captured_inputs: *Tcaptured) -> output: *output_types",
    Tcaptured=attr("list(type)", [], minimum=0),
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
    f=attr("func"),
    max_intra_op_parallelism=1,
)
ChooseFastestDataset = op(
    "ChooseFastestDataset(input_datasets: N*variant) -> handle: variant",
    N=attr("int", minimum=2),
    num_experiments=attr("int"),
    **ELEMENTS,
)
ExperimentalChooseFastestDataset = op(
    "ExperimentalChooseFastestDataset(input_datasets: N*variant) -> handle: variant",
    N=attr("int", minimum=2),
    num_experiments=attr("int"),
    **ELEMENTS,
)
ChooseFastestBranchDataset = op(
    "ChooseFastestBranchDataset(input_dataset: variant, ratio_numerator: int64, "
    "ratio_denominator: int64, other_arguments: *Targuments) -> handle: variant",
    Targuments=ANY_TYPES,
    num_elements_per_branch=attr("int", minimum=1),
    branches=attr("list(func)", minimum=1),
    other_arguments_lengths=attr("list(int)", minimum=1),
    **ELEMENTS,
)
RebatchDataset = op(
    "RebatchDataset(input_dataset: variant, num_replicas: int64) -> handle: variant",
    **ELEMENTS,
    use_fallback=True,
)
ExperimentalRebatchDataset = op(
    "ExperimentalRebatchDataset(input_dataset: variant, num_replicas: int64) -> handle: variant",
    **ELEMENTS,
    use_fallback=True,
)

dataset_handles(
    ChooseFastestDataset,
    ExperimentalChooseFastestDataset,
    ChooseFastestBranchDataset,
    RebatchDataset,
    ExperimentalRebatchDataset,
)
not_differentiable(MapDefun)


@MapDefun.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    rows = None
    for number, shape in enumerate(inputs[: len(op.attrs["Targuments"])]):
        if shape is None:
            continue
        if not shape:
            raise ValueError(f"Arguments must have rank at least 1. Input {number} has rank of 0.")
        try:
            rows = merge_sizes(rows, shape[0])
        except ValueError:
            raise ValueError("Arguments must have the same dimension 0.") from None
    return [None if each is None else (rows, *each) for each in op.attrs["output_shapes"]]
