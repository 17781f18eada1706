"""Inputs of a model that is defined by its `call`: their names and placeholders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock import nest
from penstock.keras import backend as K


class ModelInputs:
    """Arrays, tensors or specs, alone or in a list or dictionary."""

    def __init__(self, inputs: Any):
        self._is_dict = isinstance(inputs, dict)
        self._is_single = not isinstance(inputs, (list, tuple, dict))
        if self._is_dict:
            self._names = sorted(inputs)
            self._values = [inputs[name] for name in self._names]
        else:
            self._values = nest.flatten(inputs)
            self._names = [f"input_{number}" for number in range(1, len(self._values) + 1)]

    def get_input_names(self) -> list[str]:
        """The keys, or names with numbers."""
        return self._names

    def get_symbolic_inputs(self, return_single_as_list: bool = False) -> Any:
        """The inputs, with placeholders in the place of arrays."""
        pairs = zip(self._names, self._values, strict=True)
        self._values = [_symbolic(name, value) for name, value in pairs]
        if self._is_dict:
            return dict(zip(self._names, self._values, strict=True))
        if self._is_single and not return_single_as_list:
            return self._values[0]
        return self._values

    def as_dict(self) -> Iterator[tuple[str, Any]]:
        """The names with their values."""
        yield from zip(self._names, self._values, strict=True)

    def as_list(self) -> list[Any]:
        return self._values


def _symbolic(name: str, value: Any) -> Any:
    if isinstance(value, (list, float, int)):
        value = np.asarray(value)
    if not isinstance(value, (np.ndarray, tf.TensorSpec)):
        return value
    dtype: Any = tf.as_dtype(value.dtype)
    if isinstance(value, np.ndarray) and dtype.is_floating:
        dtype = K.floatx()
    shape = tuple(value.shape)[1:] if isinstance(value, np.ndarray) else value.shape.as_list()[1:]
    return K.placeholder(shape=(None, *(shape or (1,))), name=name, dtype=dtype)


def get_input_shape_and_dtype(layer: Any) -> tuple[Any, Any]:
    """Shape, with the batch, and type that a layer or model expects; Nones if it doesn't say."""
    while getattr(layer, "_is_graph_network", False) or type(layer).__name__ == "Sequential":
        if not layer.layers:
            raise ValueError("An empty Model cannot be used as a Layer.")
        layer = layer.layers[0]
    if hasattr(layer, "_batch_input_shape"):
        return layer._batch_input_shape, layer.dtype
    return None, None


def get_static_batch_size(layer: Any) -> int | None:
    """The size of the batches that a layer or model expects, if it says so."""
    shape, _ = get_input_shape_and_dtype(layer)
    return None if shape is None else shape[0]


def generic_output_names(outputs_list: list[Any]) -> list[str]:
    return [f"output_{number}" for number in range(1, len(outputs_list) + 1)]
