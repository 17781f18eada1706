"""Functions whose ops are computed as they are called: what `tf.py_function` calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.autodiff.gradients import gradients
from penstock.client.session import Session
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.script import ConcreteFunction


@contextmanager
def _computing() -> Iterator[Callable[[Any], Any]]:
    """A graph of its own whose tensors have values at once; gives what computes one."""
    graph = Graph()
    sessions: list[Session] = []

    def value_of(result: Any) -> Any:
        if not isinstance(result, Tensor):
            return result
        if not sessions:
            sessions.append(Session(graph=graph))
        return sessions[0].run(result)

    graph._evaluate_now = value_of
    try:
        with graph.as_default():
            yield value_of
    finally:
        for session in sessions:
            session.close()


def call(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """The function's result for arrays, as arrays."""
    with _computing() as value_of:
        result = function(*arrays)
        if isinstance(result, (list, tuple)):
            return [value_of(part) for part in result]
        return value_of(result)


def call_gradient(
    function: Callable[..., Any], inputs: Sequence[Any], slopes: Sequence[Any]
) -> list[Any]:
    """The gradients by the inputs; zero where the function doesn't compute with an input."""
    with _computing() as value_of:
        tensors = [constant(np.asarray(array)) for array in inputs]
        outputs = function(*tensors)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        pairs = [
            (output, constant(np.asarray(slope)))
            for output, slope in zip(outputs, slopes, strict=True)
            if isinstance(output, Tensor) and output.dtype.is_floating
        ]
        if not pairs:
            return [np.zeros_like(array) for array in inputs]
        found = gradients([y for y, _ in pairs], tensors, [slope for _, slope in pairs])
        return [
            np.zeros_like(array) if grad is None else np.asarray(value_of(grad))
            for array, grad in zip(inputs, found, strict=True)
        ]


ConcreteFunction.call = staticmethod(call)
ConcreteFunction.call_gradient = staticmethod(call_gradient)
