"""Categories as vectors that are learned."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.feature_column.categorical import WeightedCategoricalColumn
from penstock.feature_column.columns import (
    ScopeVariables,
    _CategoricalColumn,
    _DenseColumn,
    _SequenceDenseColumn,
    number_of_buckets,
    parse_spec_of,
    sparse_tensors_of,
)
from penstock.feature_column.of_categories import (
    OfCategories,
    SequenceCategoricalColumn,
    sequence_lengths,
)
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.shapes import TensorShape


def _load(weights: Any, checkpoint: str | None, tensor_name: str | None) -> None:
    """Lets a variable be initialized from a checkpoint, if there is one."""
    if checkpoint is not None:
        parts = list(weights) if isinstance(weights, PartitionedVariable) else weights
        tf.train.init_from_checkpoint(checkpoint, {tensor_name: parts})


def _looked_up(column: Any, pair: Any, weights: Any) -> Any:
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights=weights,
        sparse_ids=pair.id_tensor,
        sparse_weights=pair.weight_tensor,
        combiner=column.combiner,
        name=f"{column.name}_weights",
        max_norm=column.max_norm,
    )


class EmbeddingColumn(
    OfCategories,
    namedtuple(
        "EmbeddingColumn",
        (
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ),
    ),
):
    """Vectors of categories; see `embedding_column`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(number_of_buckets(self.categorical_column), self.dimension),
            dtype=tf.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _dense(self, transformation_cache: Any, state_manager: Any) -> Any:
        pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
        weights = state_manager.get_variable(self, name="embedding_weights")
        _load(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return _looked_up(self, pair, weights)


class _SharedEmbeddingColumn(
    _DenseColumn,
    _SequenceDenseColumn,
    namedtuple(
        "_SharedEmbeddingColumn",
        (
            "categorical_column",
            "dimension",
            "combiner",
            "initializer",
            "shared_embedding_collection_name",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ),
    ),
):
    """One of several columns with the same vectors; see `shared_embedding_columns`.

    The first that is used makes the variable and adds it to the collection of the shared name,
    where the others find it.
    """

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return str(self.shared_embedding_collection_name)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return parse_spec_of(self.categorical_column)

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.categorical_column)

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _dense(self, inputs: Any, weight_collections: Any, trainable: Any) -> Any:
        with tf.name_scope(None, default_name=self.name):
            pair = sparse_tensors_of(self.categorical_column, inputs, None)
            weights = self._weights(weight_collections, trainable)
            _load(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
            return _looked_up(self, pair, weights)

    def _weights(self, weight_collections: Any, trainable: Any) -> Any:
        shape = (number_of_buckets(self.categorical_column), self.dimension)
        shared_name = self.shared_embedding_collection_name
        known = tf.get_collection(shared_name)
        remedy = (
            "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not "
            "add any variables to this collection. The feature_column library already adds a "
            "variable under the hood."
        )
        if len(known) > 1:
            raise ValueError(f"Collection {known} can only contain one variable. {remedy}")
        if known:
            if known[0].get_shape() != shape:
                raise ValueError(
                    f"Shared embedding collection {shared_name} contains variable {known[0].name} "
                    f"of unexpected shape {known[0].get_shape()}. Expected shape is {shape}. "
                    f"{remedy}"
                )
            return known[0]
        made = ScopeVariables(weight_collections, trainable).create_variable(
            self,
            "embedding_weights",
            shape,
            tf.float32,
            trainable=self.trainable,
            initializer=self.initializer,
        )
        tf.add_to_collection(shared_name, made)
        return made

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In embedding_column: {self.name}. categorical_column must not be of type "
                "_SequenceCategoricalColumn. Suggested fix A: If you wish to use input_layer, use "
                "a non-sequence categorical_column_with_*. Suggested fix B: If you wish to create "
                "sequence input, use sequence_input_layer instead of input_layer. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )
        return self._dense(inputs, weight_collections, trainable)

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In embedding_column: {self.name}. categorical_column must be of type "
                "_SequenceCategoricalColumn to use sequence_input_layer. Suggested fix: Use one of "
                "sequence_categorical_column_with_*. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )
        dense = self._dense(inputs, weight_collections, trainable)
        pair = sparse_tensors_of(self.categorical_column, inputs, None)
        return self.TensorSequenceLengthPair(
            dense_tensor=dense, sequence_length=sequence_lengths(pair.id_tensor)
        )


class SharedEmbeddingColumnCreator:
    """Makes columns that share a variable, and the variable: one in each graph."""

    def __init__(
        self,
        dimension: int,
        initializer: Any,
        ckpt_to_load_from: str | None,
        tensor_name_in_ckpt: str | None,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ):
        self.dimension = dimension
        self._initializer = initializer
        self._checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._weights: dict[Any, Any] = {}

    def __call__(
        self, categorical_column: Any, combiner: str, max_norm: Any
    ) -> SharedEmbeddingColumn:
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self) -> Any:
        """The variable of the default graph, made when first asked for."""
        graph = tf.get_default_graph()
        if graph not in self._weights:
            made = tf.get_variable(
                name=self._name,
                shape=(self._num_buckets, self.dimension),
                dtype=tf.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            _load(made, *self._checkpoint)
            self._weights[graph] = made
        return self._weights[graph]


class SharedEmbeddingColumn(
    OfCategories,
    namedtuple(
        "SharedEmbeddingColumn",
        ("categorical_column", "shared_embedding_column_creator", "combiner", "max_norm"),
    ),
):
    """One of several columns with the same vectors, for `DenseFeatures`."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def _dense(self, transformation_cache: Any, state_manager: Any) -> Any:
        with tf.name_scope(None, default_name=self.name):
            pair = sparse_tensors_of(self.categorical_column, transformation_cache, state_manager)
            weights = self.shared_embedding_column_creator.embedding_weights
            return _looked_up(self, pair, weights)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please "
            "use `DenseFeatures` or `LinearModel` instead."
        )

    _parse_example_spec = property(_refuse)
    _variable_shape = property(_refuse)
    _transform_feature: Any = _refuse
    _get_dense_tensor: Any = _refuse
    _get_sequence_dense_tensor: Any = _refuse


def _check_embedding(
    dimension: Any, initializer: Any, checkpoint: Any, tensor_name: Any, of_what: str
) -> Any:
    """Checks the arguments of an embedding, and gives its initializer."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )
    if initializer is None:
        return tf.truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))
    if not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{of_what}")
    return initializer


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A vector for each category, learned with the model.

    Args:
      categorical_column: the categories.
      dimension: the length of a vector.
      combiner: how the vectors of an example's categories become one: "mean", "sqrtn" or "sum".
      initializer: a truncated normal distribution of the deviation 1/sqrt(dimension) by default.
      ckpt_to_load_from: a checkpoint to take the vectors from, and
      tensor_name_in_ckpt: their name in it.
      max_norm: vectors longer than that are clipped to it.
      trainable: whether the vectors are learned.
    """
    of_what = f" Embedding of column_name: {categorical_column.name}"
    initializer = _check_embedding(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, of_what
    )
    return EmbeddingColumn(
        categorical_column=categorical_column,
        dimension=dimension,
        combiner=combiner,
        initializer=initializer,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


def _check_sharing(columns: list[Any]) -> None:
    """Columns that share vectors must be of one type, and of as many categories."""

    def unweighted(column: Any) -> Any:
        weighted = isinstance(column, WeightedCategoricalColumn)
        return column.categorical_column if weighted else column

    first, *others = columns
    if not isinstance(first, _CategoricalColumn):
        raise ValueError(
            "All categorical_columns must be subclasses of _CategoricalColumn. "
            f"Given: {first}, of type: {type(first)}"
        )
    buckets = number_of_buckets(first)
    first = unweighted(first)
    for column in map(unweighted, others):
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, "
                "or be weighted_categorical_column of the same type. "
                f"Given column: {first} of type: {type(first)} does not match given column: "
                f"{column} of type: {type(column)}"
            )
        if number_of_buckets(column) != buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number "
                f"of buckets. Given column: {first} with buckets: {buckets} does  not match "
                f"column: {column} with buckets: {number_of_buckets(column)}"
            )


def _shared_name(columns: list[Any]) -> str:
    return "_".join(column.name for column in columns) + "_shared_embedding"


def shared_embedding_columns(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[_SharedEmbeddingColumn]:
    """Columns like `embedding_column`'s with the same vectors for the categories of each.

    Args:
      shared_embedding_collection_name: the variable scope of the vectors, and the collection that
        holds them; made of the columns' names by default.
    """
    initializer = _check_embedding(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, ""
    )
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    _check_sharing(ordered)
    return [
        _SharedEmbeddingColumn(
            categorical_column=column,
            initializer=initializer,
            dimension=dimension,
            combiner=combiner,
            shared_embedding_collection_name=shared_embedding_collection_name
            or _shared_name(ordered),
            ckpt_to_load_from=ckpt_to_load_from,
            tensor_name_in_ckpt=tensor_name_in_ckpt,
            max_norm=max_norm,
            trainable=trainable,
        )
        for column in categorical_columns
    ]


def shared_embedding_columns_v2(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """`shared_embedding_columns` for `DenseFeatures`."""
    initializer = _check_embedding(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, ""
    )
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    _check_sharing(ordered)
    create = SharedEmbeddingColumnCreator(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        number_of_buckets(ordered[0]),
        trainable,
        shared_embedding_collection_name or _shared_name(ordered),
    )
    return [create(column, combiner, max_norm) for column in categorical_columns]
