"""`tf.TensorArray`: a list of tensors inside the graph, above all for loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.filling import range as range_of
from penstock.ops.flow_modes import EnableControlFlowV2
from penstock.ops.identity import identity
from penstock.ops.shaping import shape as shape_of
from penstock.ops.tensor_arrays import (
    TensorArrayCloseV3,
    TensorArrayConcatV3,
    TensorArrayGatherV3,
    TensorArrayGradV3,
    TensorArrayReadV3,
    TensorArrayScatterV3,
    TensorArraySizeV3,
    TensorArraySplitV3,
    TensorArrayV3,
    TensorArrayWriteV3,
)
from penstock.shapes import TensorShape, as_shape

__all__ = ["TensorArray"]


class Known:
    """What is known of an array, shared by all objects that stand for one of its states."""

    def __init__(self, element_shape: TensorShape):
        self.element_shape = element_shape
        self.first_value: Tensor | None = None  # the array goes where the first write is


class TensorArray:
    """An array of tensors, written once and read once at each index, within a step.

    Every write returns a new object, which must be used from then on: it stands for the array after
    the write. It can be a loop variable of `tf.while_loop` and the result of `tf.cond`.

    Args:
      dtype: The type of the elements.
      size: The number of elements.
      dynamic_size: Whether writes beyond `size` make the array grow.
      clear_after_read: Whether an element is forgotten when it is read (the default).
      tensor_array_name: The name that errors call the array by.
      handle, flow: An existing array, and the state of it that is meant.
      infer_shape: Whether all elements have one shape.
      element_shape: That shape, or what is known of it.
      colocate_with_first_write_call: Whether the array is placed where the first value comes from.
    """

    def __new__(
        cls, dtype: Any, size: Any = None, *args: Any, flow: Any = None, **kwargs: Any
    ) -> TensorArray:
        """An array behind a handle, or a list of tensors where control flow is functional."""
        if len(args) > 4:
            flow = args[4]
        if get_default_graph().is_eager:
            from penstock.ops.eager_tensor_array import EagerTensorArray

            return object.__new__(EagerTensorArray)
        is_list = isinstance(flow, Tensor) and flow._dtype is dtypes.variant
        if is_list or EnableControlFlowV2(get_default_graph()):
            from penstock.ops.list_tensor_array import ListTensorArray

            return object.__new__(ListTensorArray)
        return object.__new__(cls)

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        if handle is not None:
            _check_existing(
                handle,
                tensor_array_name=tensor_array_name,
                size=size,
                element_shape=element_shape,
                dynamic_size=dynamic_size,
                clear_after_read=clear_after_read,
            )
        elif size is None:
            raise ValueError("Size must be provided if handle is not provided")
        self._dtype: DType = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._size = size
        self._colocates = colocate_with_first_write_call
        self._known = Known(as_shape(element_shape))
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._handle, self._flow = handle, flow
            else:
                with self._placed_later():
                    self._handle, self._flow = TensorArrayV3(
                        size,
                        dtype=dtype,
                        element_shape=element_shape,
                        identical_element_shapes=infer_shape,
                        dynamic_size=self._dynamic_size,
                        clear_after_read=clear_after_read is not False,
                        tensor_array_name=tensor_array_name,
                        name=scope,
                    )

    @contextmanager
    def _placed_later(self) -> Iterator[None]:
        """Keeps a new array off the devices of the blocks around, if a write will place it."""
        graph = get_default_graph()
        with ExitStack() as stack:
            if self._colocates:
                stack.enter_context(graph.device(None))
                stack.enter_context(graph.colocate_with(None, ignore_existing=True))
            yield

    @contextmanager
    def _placed_with(self, value: Tensor) -> Iterator[None]:
        if not self._colocates:
            yield
            return
        if self._known.first_value is None:
            self._known.first_value = value
        with get_default_graph().colocate_with(self._known.first_value):
            yield

    # What it is -------------------------------------------------------------------------------

    @property
    def flow(self) -> Tensor:
        """The scalar that makes others wait for what led to this state of the array."""
        return self._flow

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The tensor that tells which array it is."""
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the shape of the elements."""
        return self._known.element_shape

    @property
    def dynamic_size(self) -> bool:
        """Whether the array can grow."""
        return self._dynamic_size

    def _with_flow(self, flow: Tensor) -> TensorArray:
        """The array in the state that `flow` stands for."""
        array = object.__new__(type(self))
        array.__dict__.update(self.__dict__)
        array._flow = flow
        with name_scope(None, "TensorArray", [self._handle, flow]):
            return array  # a scope without nodes: in TensorFlow each object takes a name

    def _see_element(self, shape: TensorShape) -> None:
        """Learns the shape of an element; ValueError where it can't be one."""
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._known.element_shape = self.element_shape.merge_with(shape)

    def identity(self) -> TensorArray:
        """This array; who uses it waits for the control inputs of the blocks around this call."""
        return self._with_flow(identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array of this one's gradients; calls with one `source` give the same array.

        It is made when `flow` (this object's if None) has arrived, with the size at that time.
        """
        flow = self._flow if flow is None else flow
        graph = get_default_graph()
        with name_scope(name, "TensorArrayGrad", [self._handle]), graph.colocate_with(self._handle):
            made = TensorArrayGradV3(self._handle, flow, source=source, name=name)
            with graph.control_dependencies([made.grad_handle]):
                flow = identity(flow, name="gradient_flow")
            gradient = TensorArray(
                self._dtype,
                handle=made.grad_handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            gradient._known = self._known
            return gradient

    # Reading ----------------------------------------------------------------------------------

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`."""
        value: Tensor = TensorArrayReadV3(
            self._handle, index, self._flow, dtype=self._dtype, name=name
        )
        value.set_shape(self.element_shape)
        return value

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor, with a first dimension more; they must have one shape."""
        with (
            get_default_graph().colocate_with(self._handle),
            name_scope(name, "TensorArrayStack", [self._handle]),
        ):
            return self.gather(range_of(0, self.size()), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices` as one tensor, with a first dimension more."""
        value: Tensor = TensorArrayGatherV3(
            self._handle,
            indices,
            self._flow,
            dtype=self._dtype,
            element_shape=self.element_shape,
            name=name,
        )
        dims = self.element_shape.dims
        if dims is not None:
            value.set_shape([None, *dims])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first dimension."""
        joined = TensorArrayConcatV3(
            self._handle,
            self._flow,
            dtype=self._dtype,
            element_shape_except0=self.element_shape[1:],
            name=name,
        )
        dims = self.element_shape.dims
        if dims:
            joined.value.set_shape([None, *dims[1:]])
        value: Tensor = joined.value
        return value

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements."""
        size: Tensor = TensorArraySizeV3(self._handle, self._flow, name=name)
        return size

    def mark_used(self) -> None:
        """Says that an array whose flow nobody needs was meant so; nothing complains anyway."""

    # Writing ----------------------------------------------------------------------------------

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array after `value` was written to `index`."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._see_element(value.shape)
            with self._placed_with(value):
                flow = TensorArrayWriteV3(self._handle, index, value, self._flow, name=name)
            return self._with_flow(flow)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array after the rows of `value` were written to the indices 0, 1, …"""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = shape_of(value)[0]
            return self.scatter(range_of(0, count), value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array after the rows of `value` were written to `indices`."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = to_tensor(value, preferred_dtype=self._dtype, name="value")
            self._see_element(value.shape[1:])
            with self._placed_with(value):
                flow = TensorArrayScatterV3(self._handle, indices, value, self._flow, name=name)
            return self._with_flow(flow)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array after `value` was cut into parts of `lengths` rows, one for each index."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = to_tensor(value, self._dtype, "value")
            with self._placed_with(value):
                lengths = cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if value.shape.dims is not None and known is not None and all_equal(known):
                    part = TensorShape([int(known[0])])
                    self._see_element(part.concatenate(value.shape[1:]))
                flow = TensorArraySplitV3(self._handle, value, lengths, self._flow, name=name)
            return self._with_flow(flow)

    def close(self, name: str | None = None) -> Operation:
        """An operation that ends the array: later accesses fail."""
        closed: Operation = TensorArrayCloseV3(self._handle, name=name)
        return closed


def _check_existing(handle: Any, **given: Any) -> None:
    """An array that exists is described by its handle, and by nothing else."""
    if given["tensor_array_name"] is not None:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError(f"Handle must be a Tensor, got {handle!r}")
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")


def all_equal(lengths: np.ndarray) -> bool:
    return bool(lengths.ndim and lengths.size and lengths.max() == lengths.min())
