"""`tf.contrib.batching`: calls that several steps make at once, done together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.ops.batching import Batch, Unbatch, UnbatchGrad, batch_function

__all__ = ["batch_function", "batch_function_v1"]

_MINUTE = 60 * 1000 * 1000  # in microseconds


def batch_function_v1(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    grad_timeout_micros: int = _MINUTE,
    unbatch_timeout_micros: int = _MINUTE,
    max_enqueued_batches: int = 10,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function gets the rows of several steps' tensors at once.

    It differs from `batch_function` in that its nodes are in the graph itself.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        def batched(*args: Any) -> Any:
            with tf.name_scope("batch") as name:
                for arg in args:
                    if not isinstance(arg, tf.Tensor):
                        raise ValueError(
                            "All arguments to functions decorated with `batch_function`  are "
                            f"supposed to be Tensors; found {arg!r}"
                        )
                tensors, index, number = Batch(
                    args,
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=allowed_batch_sizes or [],
                    grad_timeout_micros=grad_timeout_micros,
                    shared_name=name,
                )
                results = function(*tensors)
                several = not isinstance(results, tf.Tensor)
                with tf.name_scope("unbatch") as scope:
                    own = [
                        Unbatch(
                            result,
                            index,
                            number,
                            timeout_micros=unbatch_timeout_micros,
                            shared_name=f"{scope}/{result.name}",
                        )
                        for result in (results if several else [results])
                    ]
                return own if several else own[0]

        return batched

    return decorator


__getattr__ = lazy_paths.resolver(__name__)


@tf.RegisterGradient("Batch")
def _batch_gradient(op: Any, *gradients: Any) -> list[Any]:
    """Each caller's gradients of its own rows."""
    *_, index, number = op.outputs
    return [
        Unbatch(
            gradient,
            index,
            number,
            timeout_micros=op.get_attr("grad_timeout_micros"),
            shared_name=f"batch_gradient_{op.name}_{place}",
        )
        for place, gradient in enumerate(gradients[: len(op.inputs)])
    ]


@tf.RegisterGradient("Unbatch")
def _unbatch_gradient(op: Any, gradient: Any) -> list[Any]:
    """The gradients of all callers, together where the batch was."""
    batched, index, number = op.inputs
    name = f"unbatch_gradient_{op.name}"
    return [UnbatchGrad(batched, index, gradient, number, shared_name=name), None, None]
