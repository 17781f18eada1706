"""Dense columns made of categorical ones, sequences of them included: what they share."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.feature_column.columns import (
    BothCategorical,
    BothDense,
    BothSequenceDense,
    number_of_buckets,
    parse_spec_of,
    sparse_tensors_of,
)


class SequenceCategoricalColumn(
    BothCategorical, namedtuple("SequenceCategoricalColumn", ("categorical_column",))
):
    """Categories whose order counts: see `sequence_categorical_column_with_identity` etc."""

    @property
    def name(self) -> str:
        return str(self.categorical_column.name)

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return parse_spec_of(self.categorical_column)

    @property
    def num_buckets(self) -> int:
        return number_of_buckets(self.categorical_column)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids with three dimensions: example, step, and what there is at a step."""
        ids, weights = sparse_tensors_of(
            self.categorical_column, transformation_cache, state_manager
        )
        shape = tf.shape(ids)
        of_steps = [shape[0], shape[1], tf.reduce_prod(shape[2:])]
        ids = tf.sparse_reshape(ids, of_steps)
        if weights is not None:
            weights = tf.sparse_reshape(weights, of_steps)
        return self.IdWeightPair(ids, weights)


class OfCategories(BothDense, BothSequenceDense):
    """A dense column of a categorical column: for a batch, or for each step of sequences."""

    categorical_column: Any

    #: The function that makes such columns, for messages.
    _made_by = "embedding_column"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return parse_spec_of(self.categorical_column)

    def _dense(self, transformation_cache: Any, state_manager: Any) -> Any:
        raise NotImplementedError

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self._refuse_sequence("SequenceCategoricalColumn")
        return self._dense(transformation_cache, state_manager)

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        self._refuse_sequence("_SequenceCategoricalColumn")
        return super()._get_dense_tensor(inputs, weight_collections, trainable)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        self._demand_sequence("SequenceCategoricalColumn")
        dense = self._dense(transformation_cache, state_manager)
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        return self.TensorSequenceLengthPair(
            dense_tensor=dense, sequence_length=sequence_lengths(pair.id_tensor)
        )

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        self._demand_sequence("_SequenceCategoricalColumn")
        return super()._get_sequence_dense_tensor(inputs, weight_collections, trainable)

    def _refuse_sequence(self, sequence_type: str) -> None:
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {self._made_by}: {self.name}. categorical_column must not be of type "
                f"{sequence_type}. Suggested fix A: If you wish to use DenseFeatures, use a "
                "non-sequence categorical_column_with_*. Suggested fix B: If you wish to create "
                "sequence input, use SequenceFeatures instead of DenseFeatures. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )

    def _demand_sequence(self, sequence_type: str) -> None:
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {self._made_by}: {self.name}. categorical_column must be of type "
                f"{sequence_type} to use SequenceFeatures. Suggested fix: Use one of "
                "sequence_categorical_column_with_*. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )


def sequence_lengths(sp_tensor: Any, num_elements: Any = 1) -> Any:
    """How many steps each example of a SparseTensor has, with so many elements to a step."""
    with tf.name_scope(None, "sequence_length") as scope:
        rows = sp_tensor.indices[:, 0]
        positions = sp_tensor.indices[:, 1]
        positions += tf.ones_like(positions)
        longest = tf.segment_max(positions, segment_ids=rows)
        lengths = tf.cast(tf.ceil(longest / num_elements), tf.int64)
        missing_rows = tf.shape(sp_tensor)[:1] - tf.shape(lengths)[:1]
        padding = tf.zeros(missing_rows, dtype=lengths.dtype)
        return tf.concat([lengths, padding], axis=0, name=scope)
