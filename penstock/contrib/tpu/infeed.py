"""What a TPU would be fed: types, shapes and shards of the tensors of a queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.contrib.tpu.sharding import ShardingPolicy
from penstock.dtypes import as_dtype
from penstock.shapes import TensorShape, as_shape


class InfeedQueue:
    """The description of a queue's tuples, which can be changed until it is frozen.

    Args:
      number_of_tuple_elements: how many tensors a tuple has, if nothing else tells it.
      tuple_types: their types.
      tuple_shapes: their shapes, before they are divided.
      shard_dimensions: the dimension along which each is divided.
    """

    def __init__(
        self,
        number_of_tuple_elements: int | None = None,
        tuple_types: Sequence[Any] | None = None,
        tuple_shapes: Sequence[Any] | None = None,
        shard_dimensions: Sequence[Any] | None = None,
        name: str | None = None,
    ):
        self._frozen = False
        self._name = "InfeedQueue" if name is None else name
        if number_of_tuple_elements is None:
            lists = (tuple_types, tuple_shapes, shard_dimensions)
            number_of_tuple_elements = next((len(each) for each in lists if each is not None), None)
        if number_of_tuple_elements is None:
            raise ValueError(
                "InfeedQueue needs number_of_tuple_elements, or a list that has it as its length"
            )
        if number_of_tuple_elements <= 0:
            raise ValueError(f"a queue of {number_of_tuple_elements} tuple elements holds nothing")
        self._sharding_policies = [ShardingPolicy() for _ in range(number_of_tuple_elements)]
        self._tuple_types: list[Any] | None = None
        self._tuple_shapes: list[TensorShape] | None = None
        if tuple_types is not None:
            self.set_tuple_types(tuple_types)
        if tuple_shapes is not None:
            self.set_tuple_shapes(tuple_shapes)
        if shard_dimensions is not None:
            self.set_shard_dimensions(shard_dimensions)

    def _validate(self) -> None:
        """ValueError unless shapes can be divided as the policies say."""
        for policy, shape in zip(self._sharding_policies, self._tuple_shapes or (), strict=False):
            policy.get_sharded_shape(shape)

    def _check_length(self, what: str, given: Sequence[Any]) -> None:
        if len(given) != self.number_of_tuple_elements:
            raise ValueError(
                f"{what} needs {self.number_of_tuple_elements} elements, one for each of the "
                f"tuple's, got {given}"
            )

    def _check_frozen(self, what: str, frozen: Sequence[Any], updated: Sequence[Any]) -> None:
        if any(old != new for old, new in zip(frozen, updated, strict=True)):
            raise ValueError(
                f"the queue is frozen with the {what}s {frozen}, which can't become {updated}"
            )

    @property
    def number_of_tuple_elements(self) -> int:
        return len(self._sharding_policies)

    @property
    def tuple_types(self) -> list[Any] | None:
        return self._tuple_types

    def set_tuple_types(self, tuple_types: Sequence[Any]) -> None:
        self._check_length("tuple_types", tuple_types)
        if self._frozen:
            self._check_frozen("type", self._tuple_types or (), tuple_types)
            return
        try:
            self._tuple_types = [as_dtype(each) for each in tuple_types]
        except TypeError as error:
            raise TypeError(f"tuple_types {tuple_types} are not all types: {error}") from error

    @property
    def tuple_shapes(self) -> list[TensorShape] | None:
        return self._tuple_shapes

    def set_tuple_shapes(self, tuple_shapes: Sequence[Any]) -> None:
        self._check_length("tuple_shapes", tuple_shapes)
        try:
            shapes = [as_shape(each) for each in tuple_shapes]
        except (ValueError, TypeError) as error:
            raise TypeError(f"tuple_shapes {tuple_shapes} are not all shapes: {error}") from error
        if self._frozen:
            self._check_frozen("shape", self._tuple_shapes or (), shapes)
        else:
            self._tuple_shapes = shapes
        self._validate()

    @property
    def sharding_policies(self) -> list[ShardingPolicy]:
        return self._sharding_policies

    @property
    def shard_dimensions(self) -> list[Any]:
        return [policy.shard_dimension for policy in self._sharding_policies]

    def set_shard_dimensions(self, shard_dimensions: Sequence[Any]) -> None:
        self._check_length("shard_dimensions", shard_dimensions)
        for policy, dimension in zip(self._sharding_policies, shard_dimensions, strict=True):
            policy.set_shard_dimension(dimension)
        self._validate()

    @property
    def number_of_shards(self) -> int | None:
        return self._sharding_policies[0].number_of_shards

    def set_number_of_shards(self, number_of_shards: int) -> None:
        for policy in self._sharding_policies:
            policy.set_number_of_shards(number_of_shards)
        self._validate()

    def set_configuration_from_input_tensors(self, input_tensors: Sequence[Any]) -> None:
        """Takes types and shapes of tensors that are not divided yet."""
        self._check_length("input_tensors", input_tensors)
        self.set_tuple_shapes([tensor.shape for tensor in input_tensors])
        self.set_tuple_types([tensor.dtype for tensor in input_tensors])

    def set_configuration_from_sharded_input_tensors(
        self, input_tensors: Sequence[Sequence[Any]]
    ) -> None:
        """Takes types, shapes and the number of shards of a tuple of tensors for each shard."""
        if not self._frozen:
            self._tuple_shapes = None
        self.set_number_of_shards(len(input_tensors))
        for shard in input_tensors:
            if len(shard) != self.number_of_tuple_elements:
                raise ValueError(
                    f"a shard has {self.number_of_tuple_elements} tensors, one for each element "
                    f"of the tuple, got {shard}"
                )
        elements = list(zip(*input_tensors, strict=True))
        pairs = zip(self._sharding_policies, elements, strict=True)
        self.set_tuple_shapes(
            [policy.get_unsharded_shape([part.shape for part in parts]) for policy, parts in pairs]
        )
        if any(part.dtype != parts[0].dtype for parts in elements for part in parts):
            raise TypeError(
                f"an element of the tuple has different types in the shards {input_tensors}"
            )
        self.set_tuple_types([parts[0].dtype for parts in elements])

    def freeze(self) -> None:
        """Allows no further change; ValueError unless types and shapes are set."""
        self._frozen = True
        if self._tuple_types is None:
            raise ValueError("A queue can be frozen when its tuple_types are set")
        if self._tuple_shapes is None or any(s.dims is None for s in self._tuple_shapes):
            raise ValueError("A queue can be frozen when its tuple_shapes are set and known")
        for policy in self._sharding_policies:
            policy.freeze()
        self._validate()
