"""Walking backwards out of a function's body: what it has captured of the graphs around it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from penstock.ir.function import FunctionGraph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


class CapturedValues:
    """The bodies around some tensors, and how edges lead into and out of them.

    An argument that stands for a tensor of an outer graph counts as that tensor, unless it is one
    of the tensors to differentiate by.
    """

    def __init__(self, ys: Sequence[Tensor], xs: Collection[Tensor]):
        self._xs = xs
        self._bodies: list[FunctionGraph] = []
        graph = ys[0]._op.graph if ys else None
        while isinstance(graph, FunctionGraph):
            self._bodies.append(graph)
            graph = graph.outer_graph
        self._outer = {
            inner: outer
            for body in self._bodies
            for outer, inner in body.captured.items()
            # An eager one has a value, and no node; a deferred one is no tensor yet.
            if isinstance(outer, Tensor) and not outer._op.graph.is_eager
        }

    def inputs(self, op: Operation) -> Sequence[Tensor]:
        """The inputs of a node, in the graphs that they come from."""
        return [self.origin(tensor) for tensor in op._inputs] if self._outer else op._inputs

    def origin(self, tensor: Tensor) -> Tensor:
        """The tensor of an outer graph that an argument stands for, or the tensor itself."""
        while tensor in self._outer and tensor not in self._xs:
            tensor = self._outer[tensor]
        return tensor

    def consumers(self, tensor: Tensor) -> Iterator[Operation]:
        """The nodes that use a tensor, inside the bodies, too."""
        yield from tensor._consumers
        for body in self._bodies:
            inner = body.captured.get(tensor)
            if inner is not None and inner not in self._xs:
                yield from self.consumers(inner)
