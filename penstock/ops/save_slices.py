"""How a variable is saved as a slice of a larger one, and what a partition's initializer knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import shapes
from penstock.ir.naming import within_scope, without_scope
from penstock.proto import SaveSliceInfoDef


class SaveSliceInfo:
    """Which slice of which whole a variable holds: checkpoints keep the whole under one name.

    Args:
      full_name: name of the whole.
      full_shape: its shape.
      var_offset: where the slice starts in it.
      var_shape: the slice's shape.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ):
        if save_slice_info_def is not None:
            message = save_slice_info_def
            self.full_name: str | None = within_scope(message.full_name, import_scope)
            self.full_shape: Sequence[int] | None = list(message.full_shape)
            self.var_offset: Sequence[int] | None = list(message.var_offset)
            self.var_shape: Sequence[int] | None = list(message.var_shape)
        else:
            self.full_name = full_name
            self.full_shape = full_shape
            self.var_offset = var_offset
            self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The slice as checkpoint ops spell it: the full shape, then `start,length` per axis."""
        full = " ".join(str(size) for size in self.full_shape or ())
        pairs = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return f"{full} " + ":".join(f"{start},{length}" for start, length in pairs)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """This slice as a SaveSliceInfoDef message; None if it is outside `export_scope`."""
        name = self.full_name or ""
        if export_scope is not None and not name.startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=without_scope(name, export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


class PartitionInfo:
    """Where a part lies in the whole: what an initializer of a part may look at."""

    def __init__(self, full_shape: Any, var_offset: Sequence[int]):
        for argument, given in (("full_shape", full_shape), ("var_offset", var_offset)):
            sizes = isinstance(given, (Sequence, shapes.TensorShape))
            if isinstance(given, str) or not sizes:
                raise TypeError(
                    f"`{argument}` must be a sequence (like tuple or list) instead of "
                    f"{type(given).__name__}"
                )
        whole = shapes.raw(full_shape)
        if whole is None or len(whole) != len(var_offset):
            raise ValueError(
                "Expected full_shape and var_offset to have the same length, but found "
                f"full_shape={full_shape} and var_offset={list(var_offset)}"
            )
        for offset, size in zip(var_offset, whole, strict=True):
            if size is not None and not 0 <= offset < max(size, 1):
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={list(var_offset)}, full_shape={list(whole)}"
                )
        self._full_shape = [int(size or 0) for size in whole]
        self._var_offset = list(var_offset)

    @property
    def full_shape(self) -> list[int]:
        return self._full_shape

    @property
    def var_offset(self) -> list[int]:
        return self._var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where a part of this shape starts along the one axis that is cut; 0 if none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The one axis along which a part of this shape differs from the whole."""
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"Expected shape and full_shape to have the same length: {list(shape)} vs. "
                f"{self._full_shape}"
            )
        cut = [axis for axis, size in enumerate(shape) if size != self._full_shape[axis]]
        for axis, size in enumerate(shape):
            if self._var_offset[axis] + size > self._full_shape[axis]:
                raise ValueError(
                    f"With full_shape={self._full_shape}, var_offset={self._var_offset} and "
                    f"shape={list(shape)}, the part reaches past the end of axis {axis}"
                )
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape {list(shape)} and var_offset "
                f"{self._var_offset}: slices of full_shape {self._full_shape} along {cut}"
            )
        return cut[0] if cut else None
