"""Tapes of eager execution: the operations that have run since a tape was started.

A tape holds operations with their inputs and outputs, as far as they depend on what it watches;
going through them backwards gives gradients. Nothing but tapes holds them: when a tape is gone, so
is the history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.autodiff.aggregation import aggregate
from penstock.autodiff.gradients import gradient_function, is_trainable, verify
from penstock.autodiff.lists import as_list
from penstock.autodiff.zeros import zeros_for
from penstock.ir import tapes
from penstock.ir.operation import Operation

Gradient = Any  # Tensor | IndexedSlices | None


class Tape:
    """What has run since it was started, of what depends on what it watches.

    Args:
      watches_variables: whether trainable variables are watched as soon as they are read.
    """

    def __init__(self, *, watches_variables: bool = True) -> None:
        self._watches_variables = watches_variables
        self.operations: list[Operation] = []
        self.variables: dict[int, Any] = {}
        self._known: set[int] = set()  # the ids of what is watched, and of what came from it

    def start(self) -> None:
        tapes.start(self)

    def stop(self) -> None:
        tapes.stop(self)

    def watch(self, tensor: Any) -> None:
        self._known.add(tensor._id)

    def watch_variable(self, variable: Any) -> None:
        self.variables[id(variable)] = variable
        self.watch(variable.handle)

    def variable_accessed(self, variable: Any) -> None:
        if self._watches_variables:
            self.watch_variable(variable)

    def knows(self, tensors: Sequence[Any]) -> bool:
        """Whether it would record an operation with one of these inputs."""
        return any(tensor._id in self._known for tensor in tensors)

    def record(self, op: Any) -> None:
        known = self._known
        for tensor in op._inputs:
            if tensor._id in known:
                self.operations.append(op)
                known.update([out._id for out in op._outputs if is_trainable(out)])
                return

    def gradient(
        self, targets: Sequence[Any], sources: Sequence[Any], weights: Sequence[Any]
    ) -> list[Gradient]:
        """The derivatives of the sum of `weights` times `targets` by tensors, None for no path."""
        wanted = {source._id for source in sources} & self._known
        between = self._depending_on(set(wanted))
        found: dict[int, list[Gradient]] = {}
        for target, weight in zip(targets, weights, strict=True):
            found.setdefault(target._id, []).append(weight)
        for op in reversed(between):
            slopes = [_summed(op, found, out._id, wanted) for out in op._outputs]
            if all(slope is None for slope in slopes):
                continue
            for tensor, slope in zip(op._inputs, _differentiated(op, slopes), strict=True):
                if slope is not None:
                    found.setdefault(tensor._id, []).append(slope)
        return [
            aggregate(source._op, found[source._id], None)
            if source._id in wanted and source._id in found
            else None
            for source in sources
        ]

    def _depending_on(self, reached: set[int]) -> list[Any]:
        """The operations through which gradients can come to the tensors with these ids."""
        found = []
        for op in self.operations:
            if any(tensor._id in reached for tensor in op._inputs):
                found.append(op)
                reached.update([out._id for out in op._outputs])
        return found


def _summed(
    op: Operation, found: dict[int, list[Gradient]], key: int, wanted: set[int]
) -> Gradient:
    """The gradient of an output; it is kept where it is asked for."""
    if key not in found:
        return None
    total = aggregate(op, found.pop(key), None)
    if key in wanted:
        found[key] = [total]
    return total


def _differentiated(op: Operation, slopes: list[Gradient]) -> Sequence[Gradient]:
    """The gradients of an operation's inputs, given those of its outputs."""
    backward: Callable[..., Any] | None = op.__dict__.get("_backward")
    if backward is not None:
        return as_list(backward(*_completed(op, slopes)))
    function = gradient_function(op)
    if function is None:
        return [None] * len(op._inputs)
    if not getattr(function, "takes_missing", False):
        slopes = _completed(op, slopes)
    found = as_list(function(op, *slopes))
    verify(op, found)
    return found


def _completed(op: Operation, slopes: list[Gradient]) -> list[Gradient]:
    """Zeros for outputs that the targets don't depend on."""
    return [
        zeros_for(out) if slope is None and is_trainable(out) else slope
        for out, slope in zip(op._outputs, slopes, strict=True)
    ]
