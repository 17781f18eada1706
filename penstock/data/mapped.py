"""Datasets that call a function for their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.data import nest, structure
from penstock.data.dataset import DatasetSpec, DatasetV2, UnaryDataset, flat_structure
from penstock.data.mapped_function import StructuredFunctionWrapper
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import mapped as nodes


class MappedDataset(UnaryDataset):
    """A dataset that calls functions of the graph."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        variant: Tensor,
        functions: list[StructuredFunctionWrapper],
        spec: Any = None,
    ):
        self._wrapped = functions
        super().__init__(input_dataset, variant, spec)

    def _functions(self) -> list[Any]:
        return self._wrapped


class MapDataset(MappedDataset):
    """A function of each element."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
        use_legacy_function: bool = False,
    ):
        function = StructuredFunctionWrapper(map_func, "Dataset.map()", dataset=input_dataset)
        variant = nodes.MapDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            f=function.function,
            use_inter_op_parallelism=use_inter_op_parallelism,
            preserve_cardinality=preserve_cardinality,
            **flat_structure(function.output_structure),
        )
        super().__init__(input_dataset, variant, [function], function.output_structure)


class ParallelMapDataset(MappedDataset):
    """A function of several elements at once, in their order."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        num_parallel_calls: Any,
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
        use_legacy_function: bool = False,
    ):
        function = StructuredFunctionWrapper(map_func, "Dataset.map()", dataset=input_dataset)
        calls = convert_to_tensor(num_parallel_calls, dtypes.int32, name="num_parallel_calls")
        variant = nodes.ParallelMapDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            calls,
            f=function.function,
            use_inter_op_parallelism=use_inter_op_parallelism,
            preserve_cardinality=preserve_cardinality,
            **flat_structure(function.output_structure),
        )
        super().__init__(input_dataset, variant, [function], function.output_structure)


def dataset_function(
    func: Callable[..., Any], transformation: str, dataset: DatasetV2
) -> StructuredFunctionWrapper:
    """A function that must return a dataset."""
    wrapped = StructuredFunctionWrapper(func, transformation, dataset=dataset)
    if not isinstance(wrapped.output_structure, DatasetSpec):
        raise TypeError(
            f"`map_func` must return a `Dataset` object. Got {type(wrapped.output_structure)}"
        )
    return wrapped


class FlatMapDataset(MappedDataset):
    """The datasets that a function makes, one after the other."""

    def __init__(self, input_dataset: DatasetV2, map_func: Callable[..., Any]):
        function = dataset_function(map_func, "Dataset.flat_map()", input_dataset)
        spec = function.output_structure.element_spec
        variant = nodes.FlatMapDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            f=function.function,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [function], spec)


class InterleaveDataset(MappedDataset):
    """Turns among the datasets that a function makes."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        cycle_length: Any,
        block_length: Any,
    ):
        function = dataset_function(map_func, "Dataset.interleave()", input_dataset)
        spec = function.output_structure.element_spec
        variant = nodes.InterleaveDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            convert_to_tensor(cycle_length, dtypes.int64, name="cycle_length"),
            convert_to_tensor(block_length, dtypes.int64, name="block_length"),
            f=function.function,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [function], spec)


class ParallelInterleaveDataset(MappedDataset):
    """Turns among datasets that are read at the same time."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        cycle_length: Any,
        block_length: Any,
        num_parallel_calls: Any,
    ):
        function = dataset_function(map_func, "Dataset.interleave()", input_dataset)
        spec = function.output_structure.element_spec
        settings = [
            convert_to_tensor(value, dtypes.int64, name=name)
            for name, value in (
                ("cycle_length", cycle_length),
                ("block_length", block_length),
                ("num_parallel_calls", num_parallel_calls),
            )
        ]
        variant = nodes.ParallelInterleaveDatasetV2(
            input_dataset._variant_tensor,
            function.captured_inputs,
            *settings,
            f=function.function,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [function], spec)


class FilterDataset(MappedDataset):
    """The elements for which a function is true."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        predicate: Callable[..., Any],
        use_legacy_function: bool = False,
    ):
        function = StructuredFunctionWrapper(predicate, "Dataset.filter()", dataset=input_dataset)
        check_predicate(function)
        variant = nodes.FilterDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            predicate=function.function,
            **flat_structure(input_dataset.element_spec),
        )
        super().__init__(input_dataset, variant, [function])


def check_predicate(function: StructuredFunctionWrapper) -> None:
    """Refuses a predicate that does not return one truth value."""
    spec = function.output_structure
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([], dtypes.bool)):
        raise ValueError(
            "`predicate` return type must be convertible to a scalar boolean tensor. Was "
            f"{function.output_structure}."
        )


# Functions that carry a state -----------------------------------------------------------------


def state_function(
    func: Callable[..., Any],
    transformation: str,
    state_spec: Any,
    element_spec: Any,
    new_state_of: Callable[[Any], Any],
) -> tuple[StructuredFunctionWrapper, Any]:
    """A function of a state and an element, and the state's spec.

    What is known of the state's shapes is what the first state and all later ones have in common:
    the function is built again, with less, until that holds.
    """
    while True:
        wrapped = StructuredFunctionWrapper(
            func, transformation, input_structure=(state_spec, element_spec), add_to_graph=False
        )
        new = new_state_of(wrapped.output_structure)
        _check_state("classes", structure.legacy_classes(state_spec), structure.legacy_classes(new))
        _check_state("types", structure.legacy_types(state_spec), structure.legacy_types(new))
        known = nest.flatten(structure.legacy_shapes(state_spec))
        weakened = [
            shape.most_specific_compatible_shape(other)
            for shape, other in zip(known, nest.flatten(structure.legacy_shapes(new)), strict=True)
        ]
        if [repr(shape) for shape in known] == [repr(shape) for shape in weakened]:
            wrapped.add_to_graph()
            return wrapped, state_spec
        state_spec = structure.convert_legacy_structure(
            structure.legacy_types(state_spec),
            nest.pack_sequence_as(structure.legacy_shapes(state_spec), weakened),
            structure.legacy_classes(state_spec),
        )


def _check_state(what: str, old: Any, new: Any) -> None:
    if nest.flatten(old) != nest.flatten(new):
        raise TypeError(
            f"The element {what} for the new state must match the initial state. Expected {old}; "
            f"got {new}."
        )


def reduced(dataset: DatasetV2, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """The last state of a function of the state and each element."""
    with name_scope("initial_state"):
        state = structure.normalize_element(initial_state)
    function, spec = state_function(
        reduce_func,
        "reduce()",
        structure.type_spec_from_value(state),
        dataset.element_spec,
        lambda output: output,
    )
    tensors = nodes.ReduceDataset(
        dataset._variant_tensor,
        structure.to_tensor_list(spec, state),
        function.captured_inputs,
        f=function.function,
        **flat_structure(spec),
    )
    return structure.from_compatible_tensor_list(spec, tensors)
