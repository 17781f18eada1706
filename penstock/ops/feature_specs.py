"""What a program says about the features that it parses out of examples."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.convert import to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.constants import constant
from penstock.ops.shaping import reshape
from penstock.shapes import Shape

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature"]


class VarLenFeature(namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values: parsed to a SparseTensor."""

    __slots__ = ()


class FixedLenFeature(namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of one shape: parsed to a tensor.

    Args:
      shape: The shape of the feature in one example.
      dtype: tf.float32, tf.int64 or tf.string.
      default_value: What an example without the feature has; without a default it is an error.
    """

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature of any number of entries of one shape: parsed to a tensor with a dimension more.

    In a batch the shorter ones are filled up with `default_value` (0 or ""). `allow_missing` lets
    an example have no such feature; `tf.parse_example` asks for it.
    """

    __slots__ = ()

    def __new__(
        cls, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
    ) -> FixedLenSequenceFeature:
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class SparseFeature(
    namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """A sparse tensor kept in several features: parsed to a SparseTensor.

    Args:
      index_key: The feature with the positions of the values, or a list of one for each dimension.
      value_key: The feature with the values.
      dtype: The type of the values.
      size: The size of the dimension, or the list of sizes.
      already_sorted: Whether the positions are in rising order in every example.
    """

    __slots__ = ()

    def __new__(
        cls, index_key: Any, value_key: Any, dtype: Any, size: Any, already_sorted: bool = False
    ) -> SparseFeature:
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def name_of_key(key: str) -> str:
    """The key of a feature in the letters that names of nodes may have."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)


@dataclass
class FeatureColumns:
    """Features by the way they are parsed, in the order of their keys."""

    sparse_keys: list[str] = field(default_factory=list)
    sparse_types: list[DType] = field(default_factory=list)
    dense_keys: list[str] = field(default_factory=list)
    dense_types: list[DType] = field(default_factory=list)
    dense_shapes: list[Shape] = field(default_factory=list)
    dense_defaults: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, features: Mapping[str, Any] | None, allowed: tuple[type, ...]) -> FeatureColumns:
        """Sorts features by kind; ValueError for one that is not of an allowed class, or wrong."""
        columns = cls()
        for key in sorted(features or ()):
            feature = features[key]  # type: ignore[index]
            if not isinstance(feature, allowed):
                if not isinstance(feature, _KINDS):
                    raise ValueError(f"Invalid feature {key}:{feature}.")
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            columns._add(key, feature)
        common = set(columns.dense_keys) & set(columns.sparse_keys)
        if common:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {common}")
        return columns

    def __len__(self) -> int:
        return len(self.sparse_keys) + len(self.dense_keys)

    def _add(self, key: str, feature: Any) -> None:
        if isinstance(feature, SparseFeature) and not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if isinstance(feature, SparseFeature) and not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            keys = feature.index_key
            for index_key in sorted([keys] if isinstance(keys, str) else keys):
                self._add_sparse(index_key, dtypes.int64)
            self._add_sparse(feature.value_key, feature.dtype)
        else:
            self._add_dense(key, feature)

    def _add_sparse(self, key: str, dtype: Any) -> None:
        dtype = dtypes.as_dtype(dtype)
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtype)
            return
        known = self.sparse_types[self.sparse_keys.index(key)]
        if known is not dtype:
            raise ValueError(f"Conflicting type {known} vs {dtype} for feature {key}.")

    def _add_dense(self, key: str, feature: Any) -> None:
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = shapes.raw(feature.shape)
        if isinstance(feature, FixedLenFeature):
            if shape and shape[0] is None:
                raise ValueError(
                    f"First dimension of shape for feature {key} unknown. Consider using "
                    "FixedLenSequenceFeature."
                )
            if not shapes.is_full(shape):
                raise ValueError(
                    f"All dimensions of shape for feature {key} need to be known but received "
                    f"{feature.shape!s}."
                )
        self.dense_keys.append(key)
        self.dense_types.append(dtypes.as_dtype(feature.dtype))
        self.dense_shapes.append(shape)
        if isinstance(feature, FixedLenSequenceFeature) and feature.allow_missing:
            self.dense_defaults[key] = None
        if feature.default_value is not None:
            self.dense_defaults[key] = feature.default_value

    def default_tensors(self, reshaped: bool = True) -> list[Tensor]:
        """The default of each dense feature: empty where it is required.

        Args:
          reshaped: Whether a default is given the shape of its feature, whatever its own is.
        """
        columns = zip(self.dense_keys, self.dense_shapes, self.dense_types, strict=True)
        return [self._default_tensor(*column, reshaped) for column in columns]

    def _default_tensor(self, key: str, shape: Shape, dtype: DType, reshaped: bool) -> Tensor:
        value = self.dense_defaults.get(key)
        name = name_of_key(key)
        if shape and shape[0] is None:  # the value that fills shorter sequences up
            if value is None:
                return to_tensor("" if dtype is dtypes.string else 0, dtype)
            return reshape(to_tensor(value, dtype, f"padding_{name}"), [])
        if value is None:
            return constant([], dtype=dtype)
        if isinstance(value, Tensor):
            return value
        default = to_tensor(value, dtype, f"key_{name}")
        return reshape(default, shapes.TensorShape(shape)) if reshaped else default
