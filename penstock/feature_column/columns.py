"""What a feature column is, in the two protocols that TensorFlow 1.x has for it.

`FeatureColumn` is the protocol of `DenseFeatures` and `LinearModel`: a column asks a cache for
the tensors that it is made of, and a state manager for its variables. `_FeatureColumn` is the
older one, of `input_layer` and `linear_model`: methods with an underscore, and variables of the
current scope. The columns of this package are both: the `Both…` classes give the older methods in
terms of the newer.
"""

from __future__ import annotations

import abc
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

import penstock as tf
from penstock.feature_column.serialization import config_of, from_config
from penstock.shapes import TensorShape

_IdWeightPair = namedtuple("_IdWeightPair", ["id_tensor", "weight_tensor"])
_TensorSequenceLengthPair = namedtuple(
    "_TensorSequenceLengthPair", ["dense_tensor", "sequence_length"]
)


class StateManager:
    """Keeps the variables and tables of columns, for a layer that is made of them."""

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes the variable `name` of a column."""
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column: Any, var: Any) -> None:
        """Adds a variable that a column made itself."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable `name` of a column."""
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Adds a table of a column."""
        raise NotImplementedError("StateManager.add_resource")

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """The table `name` of a column."""
        raise NotImplementedError("StateManager.get_resource")


class ScopeVariables(StateManager):
    """The state of columns under the older protocol: variables of the current variable scope."""

    def __init__(self, weight_collections: Any, trainable: Any):
        self._collections = weight_collections
        self._trainable = trainable
        self._variables: dict[tuple[Any, str], Any] = {}

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        global_variables = tf.GraphKeys.GLOBAL_VARIABLES
        if self._collections and global_variables not in self._collections:
            self._collections.append(global_variables)
        variable = tf.get_variable(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable and self._trainable,
            collections=self._collections,
        )
        self._variables[feature_column, name] = variable
        return variable

    def get_variable(self, feature_column: Any, name: str) -> Any:
        if (feature_column, name) not in self._variables:
            feature_column.create_state(self)
        return self._variables[feature_column, name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Nothing: a table of the graph is initialized with the graph's tables."""


# The newer protocol ------------------------------------------------------------------------------


class FeatureColumn(abc.ABC):
    """How a model takes in one feature."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of its variables' scope, by which columns are ordered."""

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    @abc.abstractmethod
    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensors that the column makes of its features."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features to parse out of an Example."""

    def create_state(self, state_manager: Any) -> None:
        """Makes the column's variables; it has none unless it says so."""
        return None

    @property
    @abc.abstractmethod
    def _is_v2_column(self) -> bool: ...

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """The columns and keys of features that it is made of."""

    @abc.abstractmethod
    def _get_config(self) -> dict[str, Any]: ...

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        raise NotImplementedError


class DenseColumn(FeatureColumn):
    """A column that gives one tensor for a batch."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of an example's part of the tensor."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor, of the shape [batch] + variable_shape."""


class CategoricalColumn(FeatureColumn):
    """A column that gives ids of categories, any number for an example."""

    IdWeightPair = _IdWeightPair

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many categories there are."""

    @abc.abstractmethod
    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The `IdWeightPair` of a batch."""


class SequenceDenseColumn(FeatureColumn):
    """A column that gives a sequence of dense vectors for an example."""

    TensorSequenceLengthPair = _TensorSequenceLengthPair

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The `TensorSequenceLengthPair` of a batch."""


# The older protocol ------------------------------------------------------------------------------


class _FeatureColumn(abc.ABC):
    """How `input_layer` and `linear_model` take in one feature."""

    @property
    @abc.abstractmethod
    def name(self) -> str: ...

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @abc.abstractmethod
    def _transform_feature(self, inputs: Any) -> Any: ...

    @property
    @abc.abstractmethod
    def _parse_example_spec(self) -> dict[str, Any]: ...

    def _reset_config(self) -> None:
        """Forgets what the column kept: nothing."""
        return None


class _DenseColumn(_FeatureColumn):
    @property
    @abc.abstractmethod
    def _variable_shape(self) -> TensorShape: ...

    @abc.abstractmethod
    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any: ...


class _CategoricalColumn(_FeatureColumn):
    IdWeightPair = _IdWeightPair

    @property
    @abc.abstractmethod
    def _num_buckets(self) -> int: ...

    @abc.abstractmethod
    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any: ...


class _SequenceDenseColumn(_FeatureColumn):
    TensorSequenceLengthPair = _TensorSequenceLengthPair

    @abc.abstractmethod
    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any: ...


# Both protocols ----------------------------------------------------------------------------------


class BothFeature(FeatureColumn, _FeatureColumn):
    """A column of the newer protocol that answers in the older one too."""

    @property
    def _is_v2_column(self) -> bool:
        return all(
            isinstance(parent, str) or (isinstance(parent, FeatureColumn) and parent._is_v2_column)
            for parent in self.parents
        )

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _get_config(self) -> dict[str, Any]:
        return config_of(self)

    @classmethod
    def _from_config(
        cls, config: dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        return from_config(cls, config, custom_objects, columns_by_name)


class BothDense(BothFeature, DenseColumn, _DenseColumn):
    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.get_dense_tensor(inputs, ScopeVariables(weight_collections, trainable))


class BothCategorical(BothFeature, CategoricalColumn, _CategoricalColumn):
    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self.get_sparse_tensors(inputs, None)


class BothSequenceDense(BothFeature, SequenceDenseColumn, _SequenceDenseColumn):
    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        state = ScopeVariables(weight_collections, trainable)
        return self.get_sequence_dense_tensor(inputs, state)


# Columns of either protocol, as parts of other columns -------------------------------------------


def is_feature_column_v2(feature_columns: Any) -> bool:
    """Whether all columns, and the columns they are made of, have the newer protocol."""
    return all(
        isinstance(column, FeatureColumn) and column._is_v2_column for column in feature_columns
    )


def sparse_tensors_of(column: Any, transformation_cache: Any, state_manager: Any) -> Any:
    """The ids and weights of a categorical column."""
    if isinstance(column, CategoricalColumn):
        return column.get_sparse_tensors(transformation_cache, state_manager)
    return column._get_sparse_tensors(transformation_cache)


def number_of_buckets(column: Any) -> int:
    """How many categories a categorical column has."""
    found = column.num_buckets if isinstance(column, CategoricalColumn) else column._num_buckets
    return int(found)


def parse_spec_of(column: Any) -> dict[str, Any]:
    """The features that a column parses out of an Example."""
    if isinstance(column, FeatureColumn):
        return column.parse_example_spec
    return dict(column._parse_example_spec)


def normalized(feature_columns: Any, protocol: type = FeatureColumn) -> list[Any]:
    """Columns, given as one, a list or an iterator, as a list: not empty, of different names."""
    if isinstance(feature_columns, protocol):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, protocol):
            raise ValueError(
                f"Items of feature_columns must be a {protocol.__name__}. "
                f"Given (type {type(column)}): {column}."
            )
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{by_name[column.name]}. This usually means that these columns refer to same base "
                "feature. Either one must be discarded or a duplicated but renamed item must be "
                "inserted in features dict."
            )
        by_name[column.name] = column
    return list(feature_columns)


def by_name(feature_columns: Any) -> list[Any]:
    """Columns in the order of their names."""
    return sorted(feature_columns, key=lambda column: column.name)


def check_batch_sizes(tensors: list[Any], columns: list[Any]) -> None:
    """ValueError if two columns are known to have batches of different sizes."""
    known: Any = None
    for column, tensor in zip(columns, tensors, strict=True):
        size = tensor.shape.dims[0].value
        if size is None:
            continue
        if known is None:
            known = column, size
        elif known[1] != size:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of "
                f"columns ({known[0].name}, {column.name}): ({known[1]}, {size})"
            )
