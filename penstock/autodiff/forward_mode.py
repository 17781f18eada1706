"""Forward-mode derivatives of eager execution: tangents that go along with the operations.

The product of an operation's Jacobian and a tangent is found from its gradient function. This is
linear in what it is given, and the Jacobian of a linear function at any point is its transpose: its
own gradient, by a vector that is made for that only.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from penstock.autodiff.gradients import is_trainable
from penstock.autodiff.tape import Tape
from penstock.ir import nest, tapes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ops.filling import ones_like
from penstock.platform import logging


class ForwardGradientAccumulator:
    """Computes products of a Jacobian and a vector while operations run.

    >>> with ForwardGradientAccumulator() as accumulator:
    ...     accumulator.watch(x, direction)
    ...     y = tf.sin(x) * x
    >>> accumulator.jvp(y)

    Outer ones follow what inner ones compute: higher derivatives are asked of them last.
    """

    def __init__(self) -> None:
        self._tangents: dict[int, Any] = {}  # by the ids of tensors that are there still
        self._tensors: dict[int, weakref.ref[Any]] = {}
        self._is_recording = False
        self._was_used = False

    def __enter__(self) -> ForwardGradientAccumulator:
        if self._is_recording:
            raise ValueError("Accumulator is already recording.")
        if self._was_used:
            raise NotImplementedError("Accumulator reuse isn't implemented yet.")
        self._is_recording = self._was_used = True
        tapes.start(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_recording:
            tapes.stop(self)
            self._is_recording = False

    def watch(self, tensor: Any, tangents: Any) -> None:
        """Gives tensors a tangent; those of a tensor that has one already are added.

        Args:
          tensor: a tensor, or a structure of some.
          tangents: the vectors, in the same structure.
        """
        for primal, tangent in zip(nest.flatten(tensor), nest.flatten(tangents), strict=True):
            if not primal.dtype.is_floating:
                logging.log_first_n(
                    logging.WARN,
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    5,
                    primal.dtype,
                )
            if hasattr(primal, "handle"):
                raise NotImplementedError("Currently only Tensors may be watched.")
            value = convert_to_tensor(tangent, dtype=primal.dtype)
            known = self._tangents.get(primal._id)
            self._keep(primal, value if known is None else known + value)

    def jvp(self, target: Any) -> Any:
        """The tangents of tensors that were computed; None for what depends on nothing watched."""
        if not self._was_used:
            raise ValueError("Called jvp() without first tracing anything.")
        return nest.map_structure(lambda tensor: self._tangents.get(tensor._id), target)

    # What a tape is to those who tell it ----------------------------------------------------------

    def knows(self, tensors: Sequence[Any]) -> bool:
        return any(tensor._id in self._tangents for tensor in tensors)

    def variable_accessed(self, variable: Any) -> None:
        """Variables have no tangents."""

    def record(self, op: Operation) -> None:
        if not self.knows(op._inputs):
            return
        recording = tapes.recording()
        outer = recording[: recording.index(self)]
        with tapes.recording_only(outer):
            found = _output_tangents(op, self._tangents, outer)
        for output, tangent in zip(op._outputs, found, strict=True):
            if tangent is not None:
                self._keep(output, tangent)

    def _keep(self, tensor: Any, tangent: Any) -> None:
        key, tangents = tensor._id, self._tangents
        if key not in tangents:
            # Held by this object alone: with it, all of them go.
            self._tensors[key] = weakref.ref(tensor, lambda _: tangents.pop(key, None))
        tangents[key] = tangent


def _output_tangents(
    op: Operation, tangents: Mapping[int, Any], outer: Sequence[tapes.Recorder]
) -> list[Any]:
    """The tangents of an operation's outputs, for those that some of its inputs have, by id."""
    backward, transposing = Tape(watches_variables=False), Tape(watches_variables=False)
    unique: dict[int, Any] = {tensor._id: tensor for tensor in op._inputs}
    primals = [tensor for key, tensor in unique.items() if key in tangents]
    for primal in primals:
        backward.watch(primal)
    backward.record(op)
    places = [i for i, output in enumerate(op._outputs) if is_trainable(output)]
    aids = [ones_like(op._outputs[i]) for i in places]
    for aid in aids:
        transposing.watch(aid)
    with tapes.recording_only([*outer, transposing]):
        slopes = backward.gradient([op._outputs[i] for i in places], primals, aids)
    linear = [
        (convert_to_tensor(slope), tangents[primal._id])
        for slope, primal in zip(slopes, primals, strict=True)
        if slope is not None
    ]
    found: list[Any] = [None] * len(op._outputs)
    if linear:
        results, directions = zip(*linear, strict=True)
        through = transposing.gradient(list(results), aids, list(directions))
        for i, tangent in zip(places, through, strict=True):
            found[i] = tangent
    return found
