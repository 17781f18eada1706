"""Memory that a thread offers to the kernels it is about to call, for the value they will give.

A function whose result will be copied somewhere can write it there itself: a kernel that is
registered with `takes_offer` uses the memory for its output, and kernels behind it that write in
place stay in it. Whoever offers looks at the result: it may be in that memory, or anywhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch

from penstock.ir.attr_codec import Function
from penstock.ir.function import FunctionGraph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.kernels import registry


class _Offer(threading.local):
    memory: torch.Tensor | None = None


_offer = _Offer()


def offer(memory: torch.Tensor | None) -> None:
    """Offers contiguous memory to the next kernel of this thread that takes some; None ends it."""
    _offer.memory = memory


def offered_or_new(shape: Sequence[int]) -> torch.Tensor:
    """Memory for numbers of type float32, the offered one if it fits."""
    memory = _offer.memory
    if memory is not None:
        _offer.memory = None
        if memory.dtype is torch.float32 and memory.numel() == torch.Size(shape).numel():
            return memory.view(shape)
    return torch.empty(shape)


def offered_result(body: FunctionGraph) -> int | None:
    """The number of the result that memory can be offered for when a function is called.

    There is one kernel that takes it, from whose output a single road leads to this result, along
    ops that keep nothing: nobody else has the memory if the result is copied into it in the end.
    """
    takers = []
    for op in body.get_operations():
        if _calls_functions(op):
            return None
        kernel = registry.find(op.type, "CPU")
        if kernel is not None and kernel.takes_offer:
            takers.append(op)
    if len(takers) != 1:
        return None
    results = list(body.outputs)
    end = _end_of_road(takers[0].outputs[0], results)
    return None if end is None else results.index(end)


def _calls_functions(op: Operation) -> bool:
    values = (v for value in op.attrs.values() for v in _listed(value))
    return op.spec.function is not None or any(isinstance(value, Function) for value in values)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else (value,)


def _end_of_road(tensor: Tensor, results: Sequence[Tensor]) -> Tensor | None:
    """The result that is all that comes of a tensor."""
    while True:
        uses, times = tensor.consumers(), sum(result is tensor for result in results)
        if len(uses) + times != 1:
            return None
        if times:
            return tensor
        if len(uses[0].outputs) != 1 or uses[0].spec.is_stateful:
            return None
        tensor = uses[0].outputs[0]
