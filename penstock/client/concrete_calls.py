"""Functions whose ops are computed as they are called: what `tf.py_function` calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.autodiff.tape import Tape
from penstock.dtypes import DType
from penstock.eager.context import eager_mode
from penstock.eager.tensor import EagerTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ops.constants import constant
from penstock.ops.script import ConcreteFunction, tensors_of


def call(function: Callable[..., Any], arrays: Sequence[Any], types: Sequence[DType]) -> list[Any]:
    """The function's results for arrays, as arrays of these types."""
    with eager_mode():
        results = tensors_of(function(*map(_tensor, arrays)), types)
        return [np.asarray(result.numpy()) for result in results]


def _tensor(value: Any) -> Any:
    return constant(value) if isinstance(value, np.ndarray) else value  # a handle is itself


def call_gradient(
    function: Callable[..., Any], inputs: Sequence[Any], slopes: Sequence[Any]
) -> list[Any]:
    """The gradients by the inputs; zero where the function doesn't compute with an input."""
    with eager_mode():
        tensors = list(map(_tensor, inputs))
        tape = Tape()
        tape.start()
        try:
            for tensor in tensors:
                tape.watch(tensor)
            outputs = function(*tensors)
        finally:
            tape.stop()
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        pairs = [
            (output, _tensor(slope))
            for output, slope in zip(outputs, slopes, strict=False)
            if isinstance(output, EagerTensor) and output.dtype.is_floating
        ]
        found = tape.gradient([y for y, _ in pairs], tensors, [slope for _, slope in pairs])
        return [
            np.zeros_like(array) if grad is None else np.asarray(convert_to_tensor(grad).numpy())
            for array, grad in zip(inputs, found, strict=True)
        ]


ConcreteFunction.call = staticmethod(call)
ConcreteFunction.call_gradient = staticmethod(call_gradient)
