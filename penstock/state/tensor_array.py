"""The memory of a tensor array: values by index, written once and read once, within a step."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors, shapes
from penstock.dtypes import DType
from penstock.shapes import Shape

_numbers = itertools.count()


class _Entry:
    """One element. `written` with no value is a zero of `shape`, of a gradient array."""

    __slots__ = ("cleared", "is_own", "read", "shape", "value", "written")

    def __init__(self) -> None:
        self.value: Any = None
        self.shape: Shape = None
        self.written = False
        self.read = False
        self.cleared = False
        self.is_own = False  # whether `value` is a sum made here, which may be added to in place


class TensorArray:
    """Elements of one type.

    1. An element is written once, before it is read; in a gradient array values written to one
       index are added up.
    2. With `identical_shapes` the first element's shape becomes the shape of all.
    3. With `clear_after_read` an element is forgotten when it is read.
    4. An element that was never written is zeros, if its shape is known.
    """

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_shape: Shape = None,
        *,
        identical_shapes: bool = False,
        is_dynamic: bool = False,
        clear_after_read: bool = True,
        is_gradient: bool = False,
    ):
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self.identical_shapes = identical_shapes
        self.is_dynamic = is_dynamic
        self.clear_after_read = clear_after_read
        self.is_gradient = is_gradient
        self.closed = False
        self._entries = [_Entry() for _ in range(size)]
        self.split_into = size  # how many parts a value was split into: its gradient has as many
        self._gradients: dict[str, TensorArray] = {}
        self._lock = threading.Lock()

    @staticmethod
    def unique_name(name: str) -> str:
        return f"{name}_{next(_numbers)}"

    def __len__(self) -> int:
        return len(self._entries)

    def check_type(self, dtype: DType, action: str) -> None:
        if dtype is not self.dtype:
            raise _invalid(
                f"TensorArray dtype is {_type_name(self.dtype)} but Op {action} dtype "
                f"{_type_name(dtype)}."
            )

    def check_open(self) -> None:
        if self.closed:
            raise _invalid(f"TensorArray {self.name} has already been closed.")

    def close(self) -> None:
        self.closed = True
        self._entries = []
        self._gradients = {}

    # Writing ----------------------------------------------------------------------------------

    def write(self, index: int, value: Any) -> None:
        """Stores `value`; in a gradient array, adds it to what is there."""
        self.check_open()
        entry = self._entry_to_write(index)
        shape = tuple(value.shape)
        if shape != self.element_shape:
            self._check_shape(index, shape)
        if entry.read:
            raise self._refused(index, "it has already been read.")
        if entry.written:
            self._aggregate(index, entry, value, shape)
            return
        entry.value, entry.shape, entry.written = value, shape, True

    def _entry_to_write(self, index: int) -> _Entry:
        entries = self._entries
        if 0 <= index < len(entries):
            return entries[index]
        if index < 0 or not self.is_dynamic:
            raise _invalid(
                f"TensorArray {self.name}: Tried to write to index {index} but array is not "
                f"resizeable and size is: {len(entries)}"
            )
        entries.extend(_Entry() for _ in range(index + 1 - len(entries)))
        return entries[index]

    def _check_shape(self, index: int, shape: tuple[int, ...]) -> None:
        if not shapes.compatible(self.element_shape, shape):
            raise self._refused(
                index,
                f"the value shape is {shapes.text(shape)} which is incompatible with the "
                f"TensorArray's inferred element shape: {shapes.text(self.element_shape)} "
                "(consider setting infer_shape=False).",
            )
        if self.identical_shapes:
            self.element_shape = shape

    def _aggregate(self, index: int, entry: _Entry, value: Any, shape: tuple[int, ...]) -> None:
        if not self.is_gradient:
            raise self._refused(index, "it has already been written to.")
        if entry.shape != shape:
            raise _invalid(
                f"TensorArray {self.name}: Could not aggregate to TensorArray index {index} "
                f"because the existing shape is {shapes.text(entry.shape)} but the new input shape "
                f"is {shapes.text(shape)}."
            )
        if entry.value is None:
            entry.value = value
        elif entry.is_own:
            entry.value += value
        else:
            entry.value, entry.is_own = entry.value + value, True

    def _refused(self, index: int, why: str) -> errors.OpError:
        return _invalid(
            f"TensorArray {self.name}: Could not write to TensorArray index {index} because {why}"
        )

    def grow(self, size: int) -> None:
        """Makes room for `size` elements in an array that may grow."""
        self._entries.extend(_Entry() for _ in range(size - len(self._entries)))

    # Reading ----------------------------------------------------------------------------------

    def read(self, index: int, zeros: Callable[[tuple[int, ...]], Any]) -> Any:
        """The element; `zeros(shape)` makes those that were not written."""
        self.check_open()
        if not 0 <= index < len(self._entries):
            raise _invalid(
                f"Tried to read from index {index} but array size is: {len(self._entries)}"
            )
        entry = self._entries[index]
        if entry.cleared:
            raise _invalid(
                f"TensorArray {self.name}: Could not read index {index} twice because it was "
                "cleared after a previous read (perhaps try setting clear_after_read = false?)."
            )
        value = entry.value
        if value is None:
            value = zeros(self._shape_of_missing(index, entry))
        entry.read = True
        if self.clear_after_read:
            entry.value, entry.cleared = None, True
        return value

    def read_many(
        self, indices: Sequence[int], zeros: Callable[[tuple[int, ...]], Any]
    ) -> list[Any]:
        return [self.read(index, zeros) for index in indices]

    def _shape_of_missing(self, index: int, entry: _Entry) -> tuple[int, ...]:
        shape = entry.shape if entry.written else self.element_shape
        if shape is None or not shapes.is_full(shape):
            raise _invalid(
                f"TensorArray {self.name}: Could not read from TensorArray index {index}.  "
                f"Furthermore, the element shape is not fully defined: "
                f"{shapes.text(self.element_shape)}.  It is possible you are working with a "
                "resizeable TensorArray and stop_gradients is not allowing the gradients to be "
                "written.  If you set the full element_shape property on the forward TensorArray, "
                "the proper all-zeros tensor will be returned instead of incurring this error."
            )
        return shape  # type: ignore[return-value]  # full: no size is None

    # Gradients --------------------------------------------------------------------------------

    def gradient(self, source: str, prefix: tuple[int, ...] = ()) -> TensorArray:
        """The array that gathers this one's gradients, one for each `source`; made when asked for.

        It has this array's size at that time. `prefix` stands in front of the elements' shapes.
        """
        self.check_open()
        with self._lock:
            found = self._gradients.get(source)
            if found is None:
                found = self._gradients[source] = self._new_gradient(source, prefix)
            return found

    def _new_gradient(self, source: str, prefix: tuple[int, ...]) -> TensorArray:
        element = None if self.element_shape is None else (*prefix, *self.element_shape)
        made = TensorArray(
            f"{self.name}@{source}",
            self.dtype,
            len(self._entries),
            element,
            identical_shapes=self.identical_shapes,
            is_gradient=True,
        )
        made.split_into = self.split_into
        for mine, its in zip(self._entries, made._entries, strict=True):
            if mine.written and mine.shape is not None:
                its.shape, its.written = (*prefix, *mine.shape), True
        return made


class Reference:
    """How the oldest ops hold an array: a reference, which others read."""

    __slots__ = ("array",)

    def __init__(self, array: TensorArray):
        self.array = array

    def read(self) -> TensorArray:
        return self.array


def _type_name(dtype: DType) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def _invalid(message: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, message)
