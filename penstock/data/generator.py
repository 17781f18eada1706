"""`Dataset.from_generator`: a Python generator behind three functions of the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.data import nest, structure
from penstock.data.dataset import Dataset, DatasetSource, flat_structure
from penstock.data.mapped_function import StructuredFunctionWrapper
from penstock.data.sources import TensorDataset
from penstock.ir.convert import convert_to_tensor
from penstock.ops.datasets import sources as nodes
from penstock.ops.literals import to_array
from penstock.ops.script import py_func
from penstock.shapes import TensorShape

_NAME = "Dataset.from_generator()"


class _Running:
    """The generators that iterators of one dataset have started, by number."""

    def __init__(self, generator: Callable[..., Any]):
        self._generator = generator
        self._numbers = itertools.count()
        self._iterators: dict[int, Any] = {}

    def begin(self, *args: Any) -> np.ndarray[Any, Any]:
        number = next(self._numbers)
        self._iterators[number] = iter(self._generator(*args))
        return np.array(number, dtype=np.int64)

    def next(self, number: Any) -> Any:
        return next(self._iterators[int(number)])

    def end(self, number: Any) -> np.ndarray[Any, Any]:
        self._iterators.pop(int(number), None)
        return np.array(0, dtype=np.int64)


def _array(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """What a generator yielded, as an array of the declared type."""
    if dtype == dtypes.string:
        return to_array(value, dtypes.string)[0]
    given = np.asarray(value)
    if given.dtype == object:
        raise ValueError("not a rectangular array")
    return given.astype(dtype.as_numpy_dtype, casting="unsafe", copy=False)


class _Flattened:
    """Elements that a generator yields, checked, as flat arrays."""

    def __init__(self, output_types: Any, output_shapes: Any):
        self._structure = output_types
        self._types = [dtypes.as_dtype(each) for each in nest.flatten(output_types)]
        self._shapes = nest.flatten(output_shapes)

    def __call__(self, values: Any) -> list[np.ndarray[Any, Any]]:
        try:
            flat = nest.flatten_up_to(self._structure, values)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The "
                f"expected structure was {self._structure}, but the yielded element was {values}."
            ) from None
        return [
            self._checked(value, dtype, shape)
            for value, dtype, shape in zip(flat, self._types, self._shapes, strict=True)
        ]

    @staticmethod
    def _checked(value: Any, dtype: Any, shape: TensorShape) -> np.ndarray[Any, Any]:
        try:
            array = _array(value, dtype)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {dtype.name}, but the yielded element was {value}."
            ) from None
        if not shape.is_compatible_with(array.shape):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape "
                f"{shape} was expected."
            )
        return array


class _GeneratorDataset(DatasetSource):
    """A dataset that is begun, continued and ended by functions."""

    def __init__(self, init_args: Any, init_func: Any, next_func: Any, finalize_func: Any):
        spec = structure.type_spec_from_value(init_args)
        begin = StructuredFunctionWrapper(init_func, _NAME, input_structure=spec)
        given = begin.output_structure
        give = StructuredFunctionWrapper(next_func, _NAME, input_structure=given)
        end = StructuredFunctionWrapper(finalize_func, _NAME, input_structure=given)
        variant = nodes.GeneratorDataset(
            structure.to_tensor_list(spec, init_args) + begin.captured_inputs,
            give.captured_inputs,
            end.captured_inputs,
            init_func=begin.function,
            next_func=give.function,
            finalize_func=end.function,
            **flat_structure(give.output_structure),
        )
        super().__init__(give.output_structure, variant)


def generator_dataset(
    generator: Callable[..., Any], output_types: Any, output_shapes: Any, args: Any
) -> Dataset:
    """The elements that `generator(*args)` yields."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    if output_shapes is None:
        output_shapes = nest.map_structure(lambda _: TensorShape(None), output_types)
    else:
        output_shapes = nest.map_structure_up_to(output_types, TensorShape, output_shapes)
    arguments = [convert_to_tensor(each, name=f"args_{i}") for i, each in enumerate(args or ())]
    types = [dtypes.as_dtype(each) for each in nest.flatten(output_types)]
    flattened = _Flattened(output_types, output_shapes)
    running = _Running(generator)

    def get_iterator_id_fn(unused_dummy: Any) -> Any:
        return py_func(running.begin, arguments, dtypes.int64)

    def generator_next_fn(number: Any) -> Any:
        values = py_func(lambda given: flattened(running.next(given)), [number], types)
        for value, shape in zip(values, nest.flatten(output_shapes), strict=True):
            value.set_shape(shape)
        return nest.pack_sequence_as(output_types, values)

    def finalize_fn(number: Any) -> Any:
        return py_func(running.end, [number], dtypes.int64)

    def flat_map_fn(dummy: Any) -> Dataset:
        return _GeneratorDataset(dummy, get_iterator_id_fn, generator_next_fn, finalize_fn)

    return TensorDataset(0).flat_map(flat_map_fn)
