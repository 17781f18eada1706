"""`map_defun`, and datasets that TensorFlow's own tuning of pipelines is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.data.dataset import DatasetSpec, DatasetV1, DatasetV2, flat_structure
from penstock.data.mapped import MappedDataset
from penstock.data.mapped_function import StructuredFunctionWrapper
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import add_function
from penstock.ir.tensor import Tensor
from penstock.ops.datasets import branches as nodes
from penstock.shapes import TensorShape

__all__ = ["map_defun"]


def map_defun(
    fn: Any,
    elems: list[Any],
    output_dtypes: list[Any],
    output_shapes: list[Any],
    max_intra_op_parallelism: int = 1,
) -> list[Tensor]:
    """A function of each row of the tensors, its results stacked to rows again.

    Args:
      fn: what `tf.function` makes of a Python function, with an input signature.
      elems: tensors with the same number of rows.
      output_dtypes: the types of what `fn` returns.
      output_shapes: the shapes of what `fn` returns, without the rows.
      max_intra_op_parallelism: accepted; each call takes the threads that its kernels take.
    """
    for name, value, of in (
        ("elems", elems, "tensors"),
        ("output_dtypes", output_dtypes, "`tf.DType` objects"),
        ("output_shapes", output_shapes, "`tf.TensorShape` objects"),
    ):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` must be a list of {of}.")
    concrete = fn.get_concrete_function()
    add_function(get_default_graph(), concrete._function)
    results = nodes.MapDefun(
        [convert_to_tensor(each) for each in elems],
        concrete.captured_inputs,
        output_types=output_dtypes,
        output_shapes=[TensorShape(shape) for shape in output_shapes],
        f=FunctionName(concrete.name, {}),
        max_intra_op_parallelism=max_intra_op_parallelism,
    )
    return list(results)


class _ChooseFastestDataset(DatasetV1):
    """One of several datasets with equal elements: the one that turns out to be the fastest."""

    def __init__(self, datasets: Sequence[DatasetV2], num_experiments: int = 10):
        self._datasets = list(datasets)
        self._structure = self._datasets[0].element_spec
        variants = [dataset._variant_tensor for dataset in self._datasets]
        super().__init__(
            nodes.ChooseFastestDataset(
                variants, num_experiments=num_experiments, **flat_structure(self._structure)
            )
        )

    def _inputs(self) -> list[Any]:
        return self._datasets

    @property
    def element_spec(self) -> Any:
        return self._structure


class _ChooseFastestBranchDataset(MappedDataset):
    """What the fastest of several functions of a dataset makes of it.

    Each function makes `ratio_denominator` elements of `ratio_numerator` of its input, and is tried
    for `num_elements_per_branch` elements.
    """

    def __init__(
        self,
        input_dataset: DatasetV2,
        functions: Sequence[Callable[[Any], DatasetV2]],
        ratio_numerator: int = 1,
        ratio_denominator: int = 1,
        num_elements_per_branch: int | None = None,
    ):
        if ratio_numerator <= 0 or ratio_denominator <= 0:
            raise ValueError("ratio must be positive.")
        spec = DatasetSpec(input_dataset.element_spec)
        wrapped = [
            StructuredFunctionWrapper(function, "ChooseFastestV2", input_structure=spec)
            for function in functions
        ]
        result = wrapped[0].output_structure.element_spec
        variant = nodes.ChooseFastestBranchDataset(
            input_dataset._variant_tensor,
            ratio_numerator,
            ratio_denominator,
            [tensor for each in wrapped for tensor in each.captured_inputs],
            num_elements_per_branch=num_elements_per_branch or 10 * ratio_denominator,
            branches=[each.function for each in wrapped],
            other_arguments_lengths=[len(each.captured_inputs) for each in wrapped],
            **flat_structure(result),
        )
        super().__init__(input_dataset, variant, wrapped, result)
