"""`tf.TensorArray` as a list of tensors: a value that goes through loops like any other."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops import list_functions as lists
from penstock.ops.casts import cast
from penstock.ops.control import no_op
from penstock.ops.tensor_array import Known, TensorArray, all_equal
from penstock.ops.tensor_lists import TensorListLength
from penstock.shapes import TensorShape, as_shape


class ListTensorArray(TensorArray):
    """The array that `tf.TensorArray` makes where control flow is functional.

    Its flow is the list itself. Elements can be read and written as often as one likes.
    """

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
        assert handle is None, "an array that is a list has no handle"
        _check(flow, size, element_shape)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._size = size
        self._colocates = False
        self._known = Known(as_shape(element_shape))
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            if flow is None:
                flow = lists.tensor_list_reserve(element_shape, size, self._dtype, name=scope)
        self._flow = flow

    @property
    def handle(self) -> Any:
        """None: the flow is all that there is."""
        return None

    def _with_flow(self, flow: Tensor) -> TensorArray:
        array = object.__new__(type(self))
        array.__dict__.update(self.__dict__)
        array._flow = flow
        with name_scope(None, "TensorArrayV2", [flow]):
            return array  # a scope without nodes: in TensorFlow each object takes a name

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> NoReturn:
        """NotImplementedError: gradients go through the list as through any value."""
        raise NotImplementedError

    # Reading ----------------------------------------------------------------------------------

    def read(self, index: Any, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            return lists.tensor_list_get_item(
                self._flow, index, self._dtype, self.element_shape, name=name
            )

    def stack(self, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            return lists.tensor_list_stack(
                self._flow, self._dtype, element_shape=self.element_shape
            )

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        return lists.tensor_list_gather(
            self._flow, indices, self._dtype, self.element_shape, name=name
        )

    def concat(self, name: str | None = None) -> Tensor:
        dims = self.element_shape.dims
        shape = [None, *dims[1:]] if dims else None
        return lists.tensor_list_concat(self._flow, self._dtype, shape, name=name)

    def size(self, name: str | None = None) -> Tensor:
        length: Tensor = TensorListLength(self._flow, name=name)
        return length

    # Writing ----------------------------------------------------------------------------------

    def _value(self, value: Any) -> Tensor:
        return to_tensor(value, preferred_dtype=self._dtype, name="value")

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._value(value)
            self._see_element(value.shape)
            flow = lists.tensor_list_set_item(
                self._flow, index, value, self._dynamic_size, name=name
            )
            return self._with_flow(flow)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._value(value)
            self._see_element(value.shape[1:])
            return self._with_flow(lists.tensor_list_from_tensor(value, value.shape[1:]))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._value(value)
            self._see_element(value.shape[1:])
            flow = lists.tensor_list_scatter(
                value, indices, self.element_shape, input_handle=self._flow
            )
            return self._with_flow(flow)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._value(value)
            lengths = cast(lengths, dtypes.int64)
            known = constant_value(lengths)
            if value.shape.dims is not None and known is not None and all_equal(known):
                part = TensorShape([int(known[0])])
                self._see_element(part.concatenate(value.shape[1:]))
            flow = lists.tensor_list_split(value, self.element_shape, lengths, name=name)
            return self._with_flow(flow)

    def close(self, name: str | None = None) -> Operation:
        """A node that does nothing: a list goes when nobody needs it."""
        return no_op(name=name)


def _check(flow: Any, size: Any, element_shape: Any) -> None:
    if flow is None:
        if size is None:
            raise ValueError("Size must be provided if flow is not provided")
        return
    if not isinstance(flow, Tensor) or flow._dtype is not dtypes.variant:
        raise TypeError("flow must be a variant tensor")
    for name, value in (("size", size), ("element_shape", element_shape)):
        if value is not None:
            raise ValueError(f"Cannot provide both a flow and {name} at the same time")
