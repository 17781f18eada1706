"""`tf.TensorArray` in eager mode: a Python list of tensors with the rules of the array."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from penstock import dtypes, errors
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.filling import zeros
from penstock.ops.joining import concat, split, stack, unstack
from penstock.ops.tensor_array import Known, TensorArray
from penstock.shapes import as_shape


def _number(index: Any) -> int:
    return int(constant_value(index)) if isinstance(index, Tensor) else int(index)  # type: ignore[arg-type]


def _refuse(error: type[errors.OpError], message: str) -> NoReturn:
    raise error(None, None, message)  # type: ignore[call-arg]


class EagerTensorArray(TensorArray):
    """A TensorArray whose writes change the object itself."""

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
            raise ValueError("TensorArray handles are not supported when eager execution is on.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is on.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._clears = clear_after_read is not False
        self._infer_shape = infer_shape
        self._known = Known(as_shape(element_shape))
        self._elements: list[Tensor | None] = [None] * _number(size)
        self._cleared: set[int] = set()
        self._flow = constant(0, dtypes.int32)

    @property
    def handle(self) -> Any:
        """None: the array is this object."""
        return None

    def _with_flow(self, flow: Tensor) -> EagerTensorArray:
        return self

    def identity(self) -> EagerTensorArray:
        return self

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> NoReturn:
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; a tape differentiates "
            "through the elements themselves."
        )

    # Reading ----------------------------------------------------------------------------------

    def read(self, index: Any, name: str | None = None) -> Tensor:
        number = _number(index)
        if number < 0:
            _refuse(
                errors.OutOfRangeError,
                f"Reading from negative indices (index {number}) is not allowed.",
            )
        if number >= len(self._elements):
            _refuse(
                errors.OutOfRangeError,
                f"Tried to read from index {number} but array size is: {len(self._elements)}",
            )
        if number in self._cleared:
            _refuse(
                errors.InvalidArgumentError,
                f"Could not read index {number} twice because it was cleared after a previous "
                "read (perhaps try setting clear_after_read = false?)",
            )
        value = self._element(number)
        if self._clears:
            self._elements[number] = None
            self._cleared.add(number)
        return value

    def _element(self, number: int) -> Tensor:
        """An element; zeros where nothing was written."""
        value = self._elements[number]
        if value is None:
            if not self.element_shape.is_fully_defined():
                _refuse(
                    errors.InvalidArgumentError,
                    f"Could not read from TensorArray index {number} because it has not been "
                    "written to, and the shape of its elements is not known.",
                )
            value = self._elements[number] = zeros(self.element_shape, self._dtype)
        return value

    def stack(self, name: str | None = None) -> Tensor:
        return self.gather(range(len(self._elements)), name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        numbers = constant_value(indices) if isinstance(indices, Tensor) else indices
        rows = [self.read(int(number)) for number in numbers]  # type: ignore[union-attr]
        if not rows:
            return zeros([0, *(self.element_shape.dims or ())], self._dtype)
        return stack(rows, name=name or "stack")

    def concat(self, name: str | None = None) -> Tensor:
        rows = [self.read(number) for number in range(len(self._elements))]
        try:
            return concat(rows, 0, name=name or "concat")
        except errors.OpError as error:
            shapes = [str(row.shape) for row in rows]
            message = f"TensorArray has inconsistent shapes: {', '.join(shapes)}"
            raise errors.InvalidArgumentError(None, None, message) from error

    def size(self, name: str | None = None) -> Tensor:
        return constant(len(self._elements))

    # Writing ----------------------------------------------------------------------------------

    def write(self, index: Any, value: Any, name: str | None = None) -> EagerTensorArray:
        number = _number(index)
        if number < 0:
            _refuse(
                errors.OutOfRangeError,
                f"Writing to negative indices (index {number}) is not allowed.",
            )
        if number >= len(self._elements):
            if not self._dynamic_size:
                _refuse(
                    errors.OutOfRangeError,
                    f"Tried to write to index {number} but array is not resizeable and size is: "
                    f"{len(self._elements)}",
                )
            self._elements += [None] * (number + 1 - len(self._elements))
        if not isinstance(value, Tensor):
            value = to_tensor(value, preferred_dtype=self._dtype)
        if value.dtype.base_dtype is not self._dtype:
            _refuse(
                errors.InvalidArgumentError,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name}",
            )
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})"
            )
        if self._infer_shape:
            self._known.element_shape = self.element_shape.merge_with(value.shape)
        self._elements[number] = value
        self._cleared.discard(number)
        return self

    def unstack(self, value: Any, name: str | None = None) -> EagerTensorArray:
        rows = unstack(to_tensor(value, preferred_dtype=self._dtype))
        if len(rows) > len(self._elements) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size "
                f"{len(self._elements)}"
            )
        self._elements = [None] * max(len(rows), len(self._elements) * (not self._dynamic_size))
        for number, row in enumerate(rows):
            self.write(number, row)
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> EagerTensorArray:
        numbers = constant_value(indices) if isinstance(indices, Tensor) else np.asarray(indices)
        rows = unstack(to_tensor(value, preferred_dtype=self._dtype))
        for number, row in zip(numbers, rows, strict=True):  # type: ignore[arg-type]
            self.write(int(number), row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> EagerTensorArray:
        value = to_tensor(value, self._dtype)
        sizes = np.asarray(constant_value(to_tensor(lengths)))
        total = int(sizes.sum())
        if sizes.ndim != 1:
            _refuse(
                errors.InvalidArgumentError,
                f"Expected lengths to be a vector, received shape: {sizes.shape}",
            )
        if not value.shape.as_list() or total != value.shape.as_list()[0]:
            _refuse(
                errors.InvalidArgumentError,
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{total} and value's shape is: {value.shape}",
            )
        if len(sizes) != len(self._elements) and not self._dynamic_size:
            _refuse(
                errors.InvalidArgumentError,
                f"TensorArray's size is not equal to the size of lengths ({len(self._elements)} "
                f"vs. {len(sizes)}), and the TensorArray is not marked as dynamically resizeable",
            )
        self._elements = [None] * len(sizes)
        for number, part in enumerate(split(value, sizes.tolist(), 0)):
            self._elements[number] = part
        return self

    def close(self, name: str | None = None) -> None:  # type: ignore[override]
        self._elements.clear()
