"""Combinations of categories as features."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import penstock as tf
from penstock.feature_column.categorical import HashedCategoricalColumn
from penstock.feature_column.columns import (
    BothCategorical,
    CategoricalColumn,
    FeatureColumn,
    _CategoricalColumn,
    _FeatureColumn,
    parse_spec_of,
    sparse_tensors_of,
)
from penstock.ops.sparse_cross import sparse_cross_hashed


class CrossedColumn(
    BothCategorical, namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))
):
    """Combinations of categories, by their hash; see `crossed_column`."""

    def _leaves(self) -> Iterator[Any]:
        """The keys and columns that are crossed, those of crossed columns among them too."""
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key._leaves()
            else:
                yield key

    @property
    def name(self) -> str:
        return "_X_".join(
            sorted(leaf if isinstance(leaf, str) else leaf.name for leaf in self._leaves())
        )

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            if isinstance(key, FeatureColumn | _FeatureColumn):
                spec.update(parse_spec_of(key))
            else:
                spec[key] = tf.VarLenFeature(tf.string)
        return spec

    @property
    def num_buckets(self) -> int:
        return int(self.hash_bucket_size)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        def crossed(leaf: Any) -> Any:
            if isinstance(leaf, str):
                return transformation_cache.get(leaf, state_manager)
            if not isinstance(leaf, CategoricalColumn | _CategoricalColumn):
                raise ValueError(f"Unsupported column type. Given: {leaf}")
            pair = sparse_tensors_of(leaf, transformation_cache, state_manager)
            if pair.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column "
                    f"populates weight_tensor. Given column: {leaf.name}"
                )
            return pair.id_tensor

        return sparse_cross_hashed(
            inputs=[crossed(leaf) for leaf in self._leaves()],
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
        )

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.IdWeightPair(transformation_cache.get(self, state_manager), None)


def crossed_column(keys: Any, hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Each combination of categories as a category, by its hash.

    Args:
      keys: names of features, or categorical columns that don't hash themselves.
      hash_bucket_size: how many categories there are.
      hash_key: another hash function.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | CategoricalColumn | _CategoricalColumn):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                "crossing will increase probability of collision. Instead, use the feature name as "
                f"a string. Given: {key}"
            )
    return CrossedColumn(keys=tuple(keys), hash_bucket_size=hash_bucket_size, hash_key=hash_key)
