"""Barriers: `Barrier` of TensorFlow's data_flow_ops."""

from __future__ import annotations

from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.operation import Operation
from penstock.ir.registry import READS, STATEFUL, WAITS, WRITES, attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.queues import shape_list, type_list
from penstock.ops.shape_checks import merge_sizes, with_rank, with_rank_at_least
from penstock.shapes import Shape, TensorShape, unknown_shape

_Barrier = op(
    "Barrier() -> handle: &string",
    STATEFUL,
    component_types=attr("list(type)", minimum=1),
    shapes=attr("list(shape)", [], minimum=0),
    capacity=-1,
    container="",
    shared_name="",
)
BarrierInsertMany = op(
    "BarrierInsertMany(handle: &string, keys: string, values: T)",
    WRITES,
    component_index=attr("int"),
)
BarrierTakeMany = op(
    "BarrierTakeMany(handle: &string, num_elements: int32) -> indices: int64, keys: string, "
    "values: *component_types",
    WRITES,
    WAITS,
    allow_small_batch=False,
    wait_for_incomplete=False,
    timeout_ms=-1,
)
BarrierClose = op("BarrierClose(handle: &string)", WRITES, cancel_pending_enqueues=False)
BarrierReadySize = op("BarrierReadySize(handle: &string) -> size: int32", READS)
BarrierIncompleteSize = op("BarrierIncompleteSize(handle: &string) -> size: int32", READS)
not_differentiable(
    _Barrier,
    BarrierInsertMany,
    BarrierTakeMany,
    BarrierClose,
    BarrierReadySize,
    BarrierIncompleteSize,
)


@_Barrier.shape
def _(op: Any) -> Shape:
    return (2,)


@BarrierInsertMany.shape
def _(op: Any, handle: Shape, keys: Shape, values: Shape) -> list[Shape]:
    (count,) = with_rank(keys, 1)
    rows = with_rank_at_least(values, 1)
    if rows is not None:
        merge_sizes(count, rows[0])
    return []


@BarrierTakeMany.shape
def _(op: Any, handle: Shape, num_elements: Shape) -> list[Shape]:
    return [(None,), (None,), *[None] * len(op.attrs["component_types"])]


@BarrierReadySize.shape
@BarrierIncompleteSize.shape
def _(op: Any, handle: Shape) -> Shape:
    return ()


class Barrier:
    """Elements whose components are inserted one by one, under a key, and taken out together.

    Args:
      types: the type of each component.
      shapes: the shape of each component, if they are known.
      shared_name: the name that sessions share it under.
      name: a name for the node.
    """

    def __init__(
        self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"
    ):
        self._types = type_list(types)
        given = shape_list(shapes)
        for i, shape in enumerate(given or ()):
            if shape.num_elements() == 0:
                raise ValueError(
                    f"Empty tensors are not supported, but received shape '{shape}' at index {i}"
                )
        self._shapes = given if given is not None else [unknown_shape() for _ in self._types]
        self._barrier_ref: Tensor = _Barrier(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name, name=name
        )
        self._name = self._barrier_ref._op.name.rpartition("/")[2]

    @property
    def barrier_ref(self) -> Tensor:
        """The handle of the barrier."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the barrier's node."""
        return self._barrier_ref._op.name

    def insert_many(
        self, component_index: int, keys: Any, values: Any, name: str | None = None
    ) -> Operation:
        """Gives the elements of these keys one of their components."""
        return BarrierInsertMany(
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
            name=name or f"{self._name}_BarrierInsertMany",
        )

    def take_many(
        self,
        num_elements: Any,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Takes complete elements out: (indices, keys, list of values).

        Args:
          num_elements: how many.
          allow_small_batch: whether fewer are taken where the barrier is closed.
          timeout: not supported; TensorFlow's argument.
          name: a name for the operation.
        """
        taken = BarrierTakeMany(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            wait_for_incomplete=timeout,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        node = taken[0].op
        count = None if allow_small_batch else constant_value(node.inputs[1])
        batch = TensorShape([count])
        node.outputs[0].set_shape(batch)
        node.outputs[1].set_shape(batch)
        for output, shape in zip(node.outputs[2:], self._shapes, strict=True):
            output.set_shape(batch.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Lets no new keys in; `cancel_pending_enqueues` forgets incomplete elements too."""
        return BarrierClose(
            self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_BarrierClose",
        )

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements are complete."""
        return BarrierReadySize(self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components."""
        name = name or f"{self._name}_BarrierIncompleteSize"
        return BarrierIncompleteSize(self._barrier_ref, name=name)
