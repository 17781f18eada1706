"""Columns of combinations of categories."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator
from typing import Any

from penstock.contrib.layers.columns.bucketized import _BucketizedColumn
from penstock.contrib.layers.columns.protocol import (
    _FeatureColumn,
    _LinearEmbeddingLookupArguments,
    check_checkpoint,
    feature_config,
    ids_of_linear_model,
)
from penstock.contrib.layers.columns.sparse import _SparseColumn
from penstock.feature_column.columns import _CategoricalColumn
from penstock.ops.sparse_feature_cross import sparse_feature_cross

__all__ = ["crossed_column"]


class _CrossedColumn(
    _FeatureColumn,
    _CategoricalColumn,
    namedtuple(
        "_CrossedColumn",
        [
            "columns",
            "hash_bucket_size",
            "hash_key",
            "combiner",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
        ],
    ),
):
    """Combinations of categories, by their hash; see `crossed_column`."""

    def __new__(
        cls,
        columns: Any,
        hash_bucket_size: int,
        hash_key: int | None,
        combiner: str = "sum",
        ckpt_to_load_from: Any = None,
        tensor_name_in_ckpt: Any = None,
    ) -> Any:
        for column in columns:
            cls._assert_is_crossable(column)
        if len(columns) < 2:
            raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
        if hash_bucket_size < 2:
            raise ValueError(
                f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
            )
        check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        return super().__new__(
            cls,
            tuple(sorted(columns, key=lambda column: str(column.name))),
            hash_bucket_size,
            hash_key,
            combiner,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
        )

    @staticmethod
    def _assert_is_crossable(column: Any) -> None:
        if not isinstance(column, _SparseColumn | _CrossedColumn | _BucketizedColumn):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn "
                f"instances. (column {column} is a {type(column).__name__})"
            )

    @property
    def name(self) -> str:
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self) -> dict[str, Any]:
        features: dict[str, Any] = {}
        for column in self.columns:
            features.update(feature_config(column))
        return features

    @property
    def length(self) -> int:
        """How many ids there are."""
        return int(self.hash_bucket_size)

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids among the column's tensors."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights among the column's tensors: there are none."""
        return None

    def _leaves(self) -> Iterator[Any]:
        for column in self.columns:
            if isinstance(column, _CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the column's tensors to those of features and columns."""
        for column in self._leaves():
            if isinstance(column, _SparseColumn) and column.name not in columns_to_tensors:
                raise ValueError(f"features dictionary doesn't contain key ({column.name})")
        super().insert_transformed_feature(columns_to_tensors)

    def _transform_feature(self, inputs: Any) -> Any:
        def crossed(column: Any) -> Any:
            if isinstance(column, _BucketizedColumn):
                return column.to_sparse_tensor(inputs.get(column))
            return inputs.get(column.name)  # as it is: hashing it first would hide differences

        return sparse_feature_cross(
            [crossed(column) for column in self._leaves()],
            hashed_output=True,
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
            name="cross",
        )

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Any:
        raise ValueError(
            f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}"
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _wide_embedding_lookup_arguments(
        self, input_tensor: Any
    ) -> _LinearEmbeddingLookupArguments:
        return ids_of_linear_model(input_tensor, self.length, self.combiner)

    @property
    def _num_buckets(self) -> int:
        return self.length

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.IdWeightPair(inputs.get(self), None)


def crossed_column(
    columns: Any,
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: Any = None,
    hash_key: int | None = None,
) -> Any:
    """Each combination of categories as a category, by its hash.

    Args:
      columns: sparse, bucketized or crossed columns.
      hash_bucket_size: how many ids there are.
      combiner: how the weights of an example's categories are combined: "sum", "mean", "sqrtn".
      ckpt_to_load_from: a checkpoint to read the weights from, where they are called
      tensor_name_in_ckpt: so.
      hash_key: the start of the hash, which is then another function than without it.
    """
    return _CrossedColumn(
        columns, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
    )
