"""How a tensor is divided among cores: into how many shards, along which dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.shapes import TensorShape, as_dimension, as_shape

_DEFAULT_NUMBER_OF_SHARDS = 1
_DEFAULT_SHARD_DIMENSION = 0


class ShardingPolicy:
    """The number of shards of a tensor and their dimension; once frozen, they stay as they are."""

    def __init__(self) -> None:
        self._number_of_shards: int | None = None
        self._shard_dimension: Any = None
        self._frozen = False

    def __str__(self) -> str:
        if self._number_of_shards is None or self._shard_dimension is None:
            return "ShardingPolicy(unset)"
        return f"ShardingPolicy({self._number_of_shards} shards dimension {self._shard_dimension})"

    def _fill_default_values(self) -> None:
        if self._number_of_shards is None:
            self._number_of_shards = _DEFAULT_NUMBER_OF_SHARDS
        if self._shard_dimension is None:
            self._shard_dimension = as_dimension(_DEFAULT_SHARD_DIMENSION)

    def freeze(self) -> None:
        """Sets what is not set to one shard, along the first dimension, and allows no change."""
        if not self._frozen:
            self._fill_default_values()
            self._frozen = True

    @property
    def number_of_shards(self) -> int | None:
        return self._number_of_shards

    def set_number_of_shards(self, number_of_shards: int) -> None:
        if self._frozen:
            if self._number_of_shards != number_of_shards:
                raise ValueError(
                    f"the policy is frozen with {self._number_of_shards} shards, which can't "
                    f"become {number_of_shards}"
                )
        elif number_of_shards > 0:
            self._number_of_shards = number_of_shards
        else:
            raise ValueError(f"a tensor has one shard or more, got {number_of_shards}")

    @property
    def shard_dimension(self) -> Any:
        return self._shard_dimension

    def set_shard_dimension(self, shard_dimension: Any) -> None:
        if not self._frozen:
            self._shard_dimension = as_dimension(shard_dimension)
        elif self._shard_dimension != shard_dimension:
            raise ValueError(
                f"the policy is frozen with the dimension {self._shard_dimension}, which can't "
                f"become {shard_dimension}"
            )

    def merge(self, other: ShardingPolicy) -> None:
        """Takes over what another policy has set."""
        if other.number_of_shards is not None:
            self.set_number_of_shards(other.number_of_shards)
        if other.shard_dimension is not None:
            self.set_shard_dimension(other.shard_dimension)

    def get_sharded_shape(self, shape: Any, shard_index: int | None = None) -> TensorShape | None:
        """The shape of a shard of a tensor; None where the policy is not set."""
        if self._number_of_shards is None or self._shard_dimension is None:
            return None
        if shard_index is not None and not 0 <= shard_index < self._number_of_shards:
            raise ValueError(
                f"there is no shard_index {shard_index} among {self._number_of_shards} shards"
            )
        shape = as_shape(shape)
        if self._number_of_shards == 1:
            return shape
        sizes, place = self._sizes(shape)
        if sizes[place] is None:
            raise ValueError(f"dimension {place} of {sizes} is divided: its size must be known")
        if sizes[place] % self._number_of_shards:
            raise ValueError(
                f"dimension {place} of {sizes} is no multiple of {self._number_of_shards} shards"
            )
        sizes[place] //= self._number_of_shards
        return as_shape(sizes)

    def _sizes(self, shape: TensorShape) -> tuple[list[Any], int]:
        """A shape as a list, and where in it shards are divided."""
        if shape.ndims is None:
            raise ValueError("a shape of unknown rank can't be divided")
        sizes, place = shape.as_list(), int(self._shard_dimension)
        if len(sizes) <= place:
            raise ValueError(f"{sizes} has no dimension {place} to divide")
        return sizes, place

    def _unshard_shape(self, shape: Any) -> TensorShape:
        shape = as_shape(shape)
        if self._number_of_shards == 1:
            return shape
        sizes, place = self._sizes(shape)
        sizes[place] *= self._number_of_shards
        return as_shape(sizes)

    def get_unsharded_shape(self, shapes: Sequence[Any]) -> TensorShape:
        """The shape of the tensor that shards of these shapes are of."""
        self._fill_default_values()
        if len(shapes) != self._number_of_shards:
            raise ValueError(
                f"a tensor of {self._number_of_shards} shards has as many shapes, got {shapes}"
            )
        whole = [self._unshard_shape(shape) for shape in shapes]
        if not all(shape.is_compatible_with(whole[-1]) for shape in whole):
            raise ValueError(
                f"shards of the shapes {shapes} don't make one tensor along dimension "
                f"{self._shard_dimension}"
            )
        return whole[0]
