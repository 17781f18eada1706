"""Slices of tensors: which part of a whole a checkpoint or a variable holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock import errors, shapes
from penstock.checkpoint import ordered_code
from penstock.proto import TensorSliceProto

_WHOLE = -1  # the length of an extent that takes in a whole axis


@dataclass(frozen=True)
class TensorSlice:
    """A start and a length for each axis; the length is -1 where the slice takes all of it."""

    extents: tuple[tuple[int, int], ...]

    @classmethod
    def whole(cls, rank: int) -> TensorSlice:
        return cls(((0, _WHOLE),) * rank)

    @classmethod
    def parse(cls, text: str) -> TensorSlice:
        """Reads `start,length:start,length…`, with `-` for a whole axis; ValueError if it isn't."""
        extents = []
        for part in text.split(":"):
            if part == "-":
                extents.append((0, _WHOLE))
                continue
            start, comma, length = part.partition(",")
            if not comma or not start.isdigit() or not length.isdigit() or int(length) <= 0:
                raise ValueError(
                    f"Expected a pair of numbers or '-' but got '{part}': string = {text}"
                )
            extents.append((int(start), int(length)))
        return cls(tuple(extents))

    @classmethod
    def from_proto(cls, message: Any) -> TensorSlice:
        return cls(
            tuple(
                (extent.start, extent.length if extent.HasField("length") else _WHOLE)
                for extent in message.extent
            )
        )

    def to_proto(self) -> Any:
        message = TensorSliceProto()
        for start, length in self.extents:
            extent = message.extent.add()
            if length != _WHOLE:
                extent.start, extent.length = start, length
        return message

    def key(self, name: str) -> bytes:
        """The key of this slice of the tensor `name` in a checkpoint's table."""
        return ordered_code.slice_key(name, list(self.extents))

    def ranges(self, shape: Sequence[int]) -> tuple[slice, ...]:
        """The slice as an index of an array of `shape`; ValueError where it reaches outside."""
        if len(shape) != len(self.extents):
            raise ValueError(f"slice {self} has not the rank of shape {list(shape)}")
        found = []
        for (start, length), size in zip(self.extents, shape, strict=True):
            stop = size if length == _WHOLE else start + length
            if start < 0 or stop > size:
                raise ValueError(f"Extent out of bounds: slice {self} of shape {list(shape)}")
            found.append(slice(start, stop))
        return tuple(found)

    def is_whole(self, shape: Sequence[int]) -> bool:
        """Whether the slice is all of a tensor of `shape`."""
        return all(
            part.start == 0 and part.stop == size
            for part, size in zip(self.ranges(shape), shape, strict=True)
        )

    def __str__(self) -> str:
        return ":".join(
            "-" if length == _WHOLE else f"{start},{length}" for start, length in self.extents
        )


def parse_shape_and_slice(text: str) -> tuple[tuple[int, ...], TensorSlice, tuple[int, ...]]:
    """The shape of the whole, the slice, and the slice's shape, of `"4 3 0,2:-"`."""
    words = text.split()
    if len(words) < 2:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Need least two elements in shape_and_slice specification: {text}",
        )
    try:
        whole = tuple(int(word) for word in words[:-1])
        part = TensorSlice.parse(words[-1])
        sizes = tuple(r.stop - r.start for r in part.ranges(whole))
    except ValueError as error:
        raise errors.InvalidArgumentError(
            None, None, f"can't parse shape_and_slice specification {text!r}: {error}"
        ) from None
    return whole, part, sizes


def overlap(
    stored: tuple[slice, ...], wanted: tuple[slice, ...]
) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
    """Where two parts of one whole meet: as an index of the first, and of the second."""
    in_stored, in_wanted = [], []
    for a, b in zip(stored, wanted, strict=True):
        start, stop = max(a.start, b.start), min(a.stop, b.stop)
        if start >= stop:
            return None
        in_stored.append(slice(start - a.start, stop - a.start))
        in_wanted.append(slice(start - b.start, stop - b.start))
    return tuple(in_stored), tuple(in_wanted)


def static_shape(message: Any) -> tuple[int, ...]:
    """The shape of a message that describes a stored tensor; ValueError if it isn't full."""
    shape = shapes.raw(message)
    if shape is None or any(size is None or size < 0 for size in shape):
        raise ValueError(f"a stored tensor can't have shape {shape}")
    return tuple(size for size in shape if size is not None)
