"""Requests of several steps, put together for one computation and taken apart again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import WAITS, attr, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank, with_rank_at_least
from penstock.shapes import Shape

_NAMED: dict[str, Any] = {"container": "", "shared_name": ""}
_QUEUED: dict[str, Any] = {
    "num_batch_threads": attr("int"),
    "max_batch_size": attr("int"),
    "batch_timeout_micros": attr("int"),
    "max_enqueued_batches": 10,
    "allowed_batch_sizes": attr("list(int)", []),
    **_NAMED,
    "batching_queue": "",
}
_LOW_PRIORITY = "low_priority_padding_with"

Batch = op(
    "Batch(in_tensors: *T) -> batched_tensors: *T, batch_index: int64, id: int64",
    WAITS,
    **{key: value for key, value in _QUEUED.items() if key != "batch_timeout_micros"},
    batch_timeout_micros=attr("int"),
    grad_timeout_micros=attr("int"),
)
Unbatch = op(
    "Unbatch(batched_tensor: T, batch_index: int64, id: int64) -> unbatched_tensor: T",
    WAITS,
    timeout_micros=attr("int"),
    **_NAMED,
)
UnbatchGrad = op(
    "UnbatchGrad(original_input: T, batch_index: int64, grad: T, id: int64) -> batched_grad: T",
    WAITS,
    **_NAMED,
)
BatchFunction = op(
    "BatchFunction(in_tensors: *Tin, captured_tensors: *Tcaptured) -> out_tensors: *Tout",
    WAITS,
    f=attr("func"),
    **_QUEUED,
    low_priority_max_batch_size=0,
    low_priority_batch_timeout_micros=0,
    low_priority_allowed_batch_sizes=attr("list(int)", []),
    low_priority_max_enqueued_batches=0,
    mixed_priority_policy=attr(
        "string",
        f"{_LOW_PRIORITY}_max_batch_size",
        allowed=(
            f"{_LOW_PRIORITY}_max_batch_size",
            f"{_LOW_PRIORITY}_next_allowed_batch_size",
            "priority_isolation",
            "priority_merge",
        ),
    ),
    batch_padding_policy=attr(
        "string", "PAD_UP", allowed=("PAD_UP", "BATCH_DOWN", "MINIMIZE_TPU_COST_PER_REQUEST")
    ),
    Tcaptured=attr("list(type)", minimum=0),
    enable_large_batch_splitting=False,
)


@Batch.shape
def _(op: Operation, *given: Shape) -> list[Shape]:
    batched: list[Shape] = []
    for shape in given:
        with_rank_at_least(shape, 1)
        batched.append(None if shape is None else (None, *shape[1:]))
    return [*batched, (None, 3), ()]


@Unbatch.shape
def _(op: Operation, batched: Shape, index: Shape, key: Shape) -> Shape:
    with_rank(index, 2)
    with_rank(key, 0)
    with_rank_at_least(batched, 1)
    return None if batched is None else (None, *batched[1:])


@UnbatchGrad.shape
def _(op: Operation, original: Shape, index: Shape, grad: Shape, key: Shape) -> Shape:
    with_rank(index, 2)
    with_rank(key, 0)
    with_rank_at_least(grad, 1)
    return None if grad is None else (None, *grad[1:])


@BatchFunction.shape
def _(op: Operation, *given: Shape) -> list[Shape]:
    return [None] * len(op.attrs["Tout"])


def batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Any = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function of tensors so that steps which run at once compute it together.

    The tensors of several steps are put together along their first dimension, and the results are
    taken apart again. It has no gradient.

    Args:
      num_batch_threads: how many batches are computed at once.
      max_batch_size: how many rows a batch has at most.
      batch_timeout_micros: how long an incomplete batch waits for more.
      allowed_batch_sizes: sizes that batches are padded to; the last one is `max_batch_size`.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        def decorated(*args: Any) -> Any:
            for arg in args:
                if not isinstance(arg, Tensor):
                    raise ValueError(
                        "All arguments to functions decorated with `batch_function`  are supposed "
                        f"to be Tensors; found {arg!r}"
                    )
            made = _traced(function, args)
            with name_scope("batch") as scope:
                return BatchFunction(
                    list(args),
                    made.captured_inputs,
                    f=made,
                    num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=list(allowed_batch_sizes or ()),
                    max_enqueued_batches=max_enqueued_batches,
                    shared_name=scope,
                    Tout=[arg.type for arg in made.definition.signature.output_arg],
                )

        return decorated

    return decorator


def _traced(function: Callable[..., Any], args: tuple[Tensor, ...]) -> Any:
    """The function as one of the graph, for batches of any size."""
    from penstock.ops.functions import Defun

    def computation(*given: Tensor) -> Any:
        for tensor, arg in zip(given, args, strict=True):
            if arg._shape:
                tensor.set_shape([None, *arg._shape[1:]])
        results = function(*given)
        several = isinstance(results, (list, tuple))
        return [convert_to_tensor(each) for each in results] if several else results

    return Defun(*[arg.dtype for arg in args])(computation)
