"""Embeddings that a TPU's embedding hardware would hold; without one they are plain embeddings."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.tpu.tpu_function import get_tpu_context
from penstock.feature_column.categorical import (
    IdentityCategoricalColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
)
from penstock.feature_column.columns import number_of_buckets
from penstock.feature_column.embedding import (
    EmbeddingColumn,
    SharedEmbeddingColumn,
    SharedEmbeddingColumnCreator,
    _check_embedding,
    _shared_name,
    _SharedEmbeddingColumn,
)
from penstock.feature_column.of_categories import SequenceCategoricalColumn

_TPU_FC_TO_SCOPE = "_tpu_feature_column_scope"

_SUPPORTED_CATEGORICAL_COLUMNS = (
    IdentityCategoricalColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
    SequenceCategoricalColumn,
)


def _is_running_on_cpu() -> bool:
    return get_tpu_context().number_of_shards is None


def get_sequence_length_feature_key_name_from_feature_key_name(feature_name: str) -> str:
    """The feature that has the lengths of another one's sequences."""
    return f"{feature_name}_seq_length_"


def _record_variable_scope_and_name(
    embedding_var_name: str, embedding_var_name_in_fc: str, is_shared_embedding: bool = False
) -> None:
    """Notes in the graph where a table would have its variable; it may be in one place only."""
    records = tf.get_default_graph().get_collection_ref(_TPU_FC_TO_SCOPE)
    if not records:
        records.append({})
    here = tf.get_variable_scope().name
    scope, name = records[0].setdefault(embedding_var_name, (here, embedding_var_name_in_fc))
    for what, given, expected, checked in (
        ("variable scope name", here, scope, not is_shared_embedding),
        ("embedding name", embedding_var_name_in_fc, name, True),
    ):
        if checked and given != expected:
            raise ValueError(
                f"For embedding var name {embedding_var_name}, the {what} is different, got "
                f"{given}; expected {expected}"
            )


class _TPUBaseEmbeddingColumn:
    """What a TPU's input pipeline asks of an embedding."""

    categorical_column: Any
    combiner: str
    dimension: int
    initializer: Any

    def __init__(
        self, categorical_column: Any, max_sequence_length: int = 0, learning_rate_fn: Any = None
    ):
        self._max_sequence_length = max_sequence_length
        self._learning_rate_fn = learning_rate_fn
        if self.is_sequence_column() and max_sequence_length < 1:
            raise ValueError(
                "max_sequence_length must be greater than 0 for sequence columns. Got "
                f"max_sequence_length={max_sequence_length} for sequence column "
                f"{categorical_column.name}."
            )
        if not self.is_sequence_column() and max_sequence_length != 0:
            raise ValueError(
                f"Non zero max_seq_length={max_sequence_length} specified for non sequence "
                f"column {categorical_column.name}."
            )

    def get_combiner(self) -> str:
        return self.combiner

    def get_embedding_table_size(self) -> tuple[int, int]:
        """How many vectors there are, and how long they are."""
        return number_of_buckets(self.categorical_column), self.dimension

    def get_feature_key_name(self) -> str:
        column = self.categorical_column
        named = column.categorical_column if self.is_categorical_column_weighted() else column
        return str(named.name)

    def get_weight_key_name(self) -> str | None:
        if self.is_categorical_column_weighted():
            return str(self.categorical_column.weight_feature_key)
        return None

    def get_embedding_var_name(self) -> str:
        return str(self.categorical_column.name)

    def get_initializer(self) -> Any:
        return self.initializer

    def is_categorical_column_weighted(self) -> bool:
        return isinstance(self.categorical_column, WeightedCategoricalColumn)

    def is_sequence_column(self) -> bool:
        return isinstance(self.categorical_column, SequenceCategoricalColumn)

    def get_max_sequence_length(self) -> int:
        return self._max_sequence_length

    def get_learning_rate_fn(self) -> Any:
        return self._learning_rate_fn

    def get_sequence_length_feature_key_name(self) -> str:
        return get_sequence_length_feature_key_name_from_feature_key_name(
            self.get_feature_key_name()
        )

    def _lengths(self, lengths: Any) -> Any:
        return tf.squeeze(lengths, -1)  # a feature of one dimension was given a second one


class _TPUEmbeddingColumn(_TPUBaseEmbeddingColumn, EmbeddingColumn):
    """Vectors of categories; see `embedding_column`."""

    def __new__(
        cls,
        categorical_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        max_sequence_length: int = 0,
        learning_rate_fn: Any = None,
    ) -> _TPUEmbeddingColumn:
        return super().__new__(
            cls, categorical_column, dimension, combiner, initializer, None, None, None, True
        )

    def __init__(
        self,
        categorical_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        max_sequence_length: int = 0,
        learning_rate_fn: Any = None,
    ):
        super().__init__(categorical_column, max_sequence_length, learning_rate_fn)

    def __getnewargs__(self) -> tuple[Any, ...]:
        more = self._max_sequence_length, self._learning_rate_fn
        return (self.categorical_column, self.dimension, self.combiner, self.initializer, *more)

    def create_state(self, state_manager: Any) -> None:
        if _is_running_on_cpu():
            super().create_state(state_manager)
        else:
            _record_variable_scope_and_name(self.get_embedding_var_name(), "embedding_weights")

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        if _is_running_on_cpu():
            return super()._get_dense_tensor(inputs, weight_collections, trainable)
        _record_variable_scope_and_name(self.get_embedding_var_name(), "embedding_weights")
        return inputs.get(self.get_feature_key_name())

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        if _is_running_on_cpu():
            return super().get_dense_tensor(transformation_cache, state_manager)
        return transformation_cache.get(self.get_feature_key_name(), state_manager)

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        if _is_running_on_cpu():
            return super()._get_sequence_dense_tensor(inputs, weight_collections, trainable)
        _record_variable_scope_and_name(self.get_embedding_var_name(), "embedding_weights")
        return self.TensorSequenceLengthPair(
            inputs.get(self.get_feature_key_name()),
            self._lengths(inputs.get(self.get_sequence_length_feature_key_name())),
        )

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        if _is_running_on_cpu():
            return super().get_sequence_dense_tensor(transformation_cache, state_manager)
        key = self.get_sequence_length_feature_key_name()
        return self.TensorSequenceLengthPair(
            transformation_cache.get(self.get_feature_key_name(), state_manager),
            self._lengths(transformation_cache.get(key, state_manager)),
        )


_TPUEmbeddingColumnV2 = _TPUEmbeddingColumn  # there is one class for both protocols


class _TPUSharedEmbeddingColumn(_TPUBaseEmbeddingColumn, _SharedEmbeddingColumn):
    """One of several columns with the same vectors, for `input_layer`."""

    def __new__(
        cls,
        categorical_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        shared_embedding_collection_name: str | None = None,
        max_sequence_length: int = 0,
        learning_rate_fn: Any = None,
    ) -> _TPUSharedEmbeddingColumn:
        name = shared_embedding_collection_name
        vectors = categorical_column, dimension, combiner, initializer
        return super().__new__(cls, *vectors, name, None, None, None, True)

    def __init__(
        self,
        categorical_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        shared_embedding_collection_name: str | None = None,
        max_sequence_length: int = 0,
        learning_rate_fn: Any = None,
    ):
        super().__init__(categorical_column, max_sequence_length, learning_rate_fn)

    def __getnewargs__(self) -> tuple[Any, ...]:
        more = self._max_sequence_length, self._learning_rate_fn
        return (*self[:5], *more)

    def get_embedding_var_name(self) -> str:
        return str(self.shared_embedding_collection_name)

    def _record(self) -> None:
        _record_variable_scope_and_name(
            self.get_embedding_var_name(), "embedding_weights", is_shared_embedding=True
        )

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        if _is_running_on_cpu():
            return super()._get_dense_tensor(inputs, weight_collections, trainable)
        self._record()
        return inputs.get(self.get_feature_key_name())

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        if _is_running_on_cpu():
            return super()._get_sequence_dense_tensor(inputs, weight_collections, trainable)
        self._record()
        return self.TensorSequenceLengthPair(
            inputs.get(self.get_feature_key_name()),
            inputs.get(self.get_sequence_length_feature_key_name()),
        )


class _TPUSharedEmbeddingColumnV2(_TPUBaseEmbeddingColumn, SharedEmbeddingColumn):
    """One of several columns with the same vectors, for `DenseFeatures`."""

    def __new__(
        cls,
        categorical_column: Any,
        shared_embedding_column_creator: Any,
        combiner: str = "mean",
        initializer: Any = None,
        shared_embedding_collection_name: str | None = None,
        max_sequence_length: int = 0,
        learning_rate_fn: Any = None,
    ) -> _TPUSharedEmbeddingColumnV2:
        creator = shared_embedding_column_creator
        return super().__new__(cls, categorical_column, creator, combiner, None)

    def __init__(
        self,
        categorical_column: Any,
        shared_embedding_column_creator: Any,
        combiner: str = "mean",
        initializer: Any = None,
        shared_embedding_collection_name: str | None = None,
        max_sequence_length: int = 0,
        learning_rate_fn: Any = None,
    ):
        super().__init__(categorical_column, max_sequence_length, learning_rate_fn)
        self._initializer = initializer
        self._shared_embedding_collection_name = shared_embedding_collection_name

    def __getnewargs__(self) -> tuple[Any, ...]:
        named = self._initializer, self._shared_embedding_collection_name
        more = self._max_sequence_length, self._learning_rate_fn
        return (*self[:3], *named, *more)

    def get_embedding_table_size(self) -> tuple[int, int]:
        dimension = self.shared_embedding_column_creator.dimension
        return number_of_buckets(self.categorical_column), dimension

    def get_embedding_var_name(self) -> str:
        return str(self._shared_embedding_collection_name)

    def get_initializer(self) -> Any:
        return self._initializer

    def _dense(self, transformation_cache: Any, state_manager: Any) -> Any:
        if _is_running_on_cpu():
            return super()._dense(transformation_cache, state_manager)
        _record_variable_scope_and_name(
            self.get_embedding_var_name(),
            self.shared_embedding_column_creator._name,
            is_shared_embedding=True,
        )
        return transformation_cache.get(self.get_feature_key_name(), state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        if _is_running_on_cpu():
            return super().get_sequence_dense_tensor(transformation_cache, state_manager)
        key = self.get_sequence_length_feature_key_name()
        return self.TensorSequenceLengthPair(
            self._dense(transformation_cache, state_manager),
            self._lengths(transformation_cache.get(key, state_manager)),
        )


# Functions that make columns ---------------------------------------------------------------------


def _check_types(columns: Any, function: str) -> None:
    for column in columns:
        if not isinstance(column, _SUPPORTED_CATEGORICAL_COLUMNS):
            known = " or ".join(each.__name__ for each in _SUPPORTED_CATEGORICAL_COLUMNS)
            raise TypeError(
                f"categorical_column for tpu  {function} must be type {known}, got {type(column)}."
            )


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    max_sequence_length: int = 0,
    learning_rate_fn: Any = None,
) -> _TPUEmbeddingColumn:
    """A `tf.feature_column.embedding_column` that TPUs could hold.

    Args:
      categorical_column: the categories: by identity or a vocabulary, weighted, or a sequence.
      dimension: the length of a vector.
      combiner: how the vectors of an example's categories become one.
      initializer: of the vectors.
      max_sequence_length: how long sequences can be; 0 if it is none.
      learning_rate_fn: gives the learning rate of a step.
    """
    _check_types([categorical_column], "embedding_column")
    of_what = f" Embedding of column_name: {categorical_column.name}"
    initializer = _check_embedding(dimension, initializer, None, None, of_what)
    return _TPUEmbeddingColumn(
        categorical_column, dimension, combiner, initializer, max_sequence_length, learning_rate_fn
    )


embedding_column_v2 = embedding_column


def _check_shared(columns: Any, dimension: Any, initializer: Any, lengths: Any) -> Any:
    """Checks what shared columns have in common; gives their initializer, lengths and name."""
    _check_types(columns, "shared_embedding_columns")
    lengths = lengths or [0] * len(columns)
    if len(lengths) != len(columns):
        raise ValueError(
            "shared_embedding_columns: each column needs its max_sequence_lengths, got "
            f"{len(lengths)} for {len(columns)} categorical_columns."
        )
    initializer = _check_embedding(dimension, initializer, None, None, " ")
    first, *others = ordered = sorted(columns, key=lambda column: column.name)
    for column in others:
        if number_of_buckets(column) != number_of_buckets(first):
            raise ValueError(
                "shared_embedding_columns: all categorical_columns must have the same number of "
                f"buckets, got {number_of_buckets(first)} in {first} and "
                f"{number_of_buckets(column)} in {column}."
            )
    return initializer, lengths, _shared_name(ordered)


def shared_embedding_columns(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_sequence_lengths: Any = None,
    learning_rate_fn: Any = None,
) -> list[_TPUSharedEmbeddingColumn]:
    """Columns like `embedding_column`'s with the same vectors, for `input_layer`."""
    initializer, lengths, name = _check_shared(
        categorical_columns, dimension, initializer, max_sequence_lengths
    )
    name = shared_embedding_collection_name or name
    return [
        _TPUSharedEmbeddingColumn(
            column, dimension, combiner, initializer, name, length, learning_rate_fn
        )
        for column, length in zip(categorical_columns, lengths, strict=True)
    ]


def shared_embedding_columns_v2(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_sequence_lengths: Any = None,
    learning_rate_fn: Any = None,
) -> list[_TPUSharedEmbeddingColumnV2]:
    """Columns like `embedding_column`'s with the same vectors, for `DenseFeatures`."""
    initializer, lengths, name = _check_shared(
        categorical_columns, dimension, initializer, max_sequence_lengths
    )
    name = shared_embedding_collection_name or name
    creator = SharedEmbeddingColumnCreator(
        dimension,
        initializer,
        None,
        None,
        number_of_buckets(categorical_columns[0]),
        trainable=True,
        name=name,
    )
    return [
        _TPUSharedEmbeddingColumnV2(
            column, creator, combiner, initializer, name, length, learning_rate_fn
        )
        for column, length in zip(categorical_columns, lengths, strict=True)
    ]


def _split(feature_columns: Any, types: tuple[type, ...], names: str) -> tuple[list[Any], Any]:
    for column in feature_columns:
        if not isinstance(column, types):
            raise TypeError(f"column must be a {names} but got {type(column)} instead.")
    return (
        [column for column in feature_columns if column.is_sequence_column()],
        [column for column in feature_columns if not column.is_sequence_column()],
    )


def split_sequence_columns(feature_columns: Any) -> tuple[list[Any], list[Any]]:
    """The columns of sequences, and the others."""
    types = _TPUEmbeddingColumn, _TPUSharedEmbeddingColumn
    return _split(feature_columns, types, "_TPUEmbeddingColumn or  _TPUSharedEmbeddingColumn")


def split_sequence_columns_v2(feature_columns: Any) -> tuple[list[Any], list[Any]]:
    """The columns of sequences, and the others."""
    types = _TPUEmbeddingColumnV2, _TPUSharedEmbeddingColumnV2
    return _split(feature_columns, types, "_TPUEmbeddingColumnV2 or _TPUSharedEmbeddingColumnV2")
