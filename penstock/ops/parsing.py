"""`tf.parse_example` and its relatives: examples into tensors, as a program describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array
from penstock.ops.comparison import equal
from penstock.ops.control import with_dependencies
from penstock.ops.debugging import Assert
from penstock.ops.example_ops import ParseExample, ParseSingleExample
from penstock.ops.feature_specs import (
    FeatureColumns,
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    name_of_key,
)
from penstock.ops.sequence_parsing import (
    Parsed,
    by_key,
    parse_sequence_example,
    parse_single_sequence_example,
    sparse_tensors,
)
from penstock.ops.sparse_conversion import sparse_merge

__all__ = [
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]

_OF_EXAMPLES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def parse_example(
    serialized: Any, features: Mapping[str, Any], name: str | None = None, example_names: Any = None
) -> Parsed:
    """Parses a vector of serialized `tf.train.Example`s into a dictionary of tensors.

    Args:
      serialized: A vector of strings.
      features: For each key of interest a FixedLenFeature, VarLenFeature, FixedLenSequenceFeature
        or SparseFeature.
      name: A name for the operation.
      example_names: Names of the examples, for error messages.

    >>> tf.parse_example(records, {"label": tf.FixedLenFeature([], tf.int64)})["label"]
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    columns = parsed_columns(features)
    return with_sparse_features(features, _parse(serialized, columns, example_names, name))


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], name: str | None = None, example_names: Any = None
) -> Parsed:
    """Parses one serialized `tf.train.Example`, a scalar; see `tf.parse_example`."""
    if not features:
        raise ValueError("Missing features.")
    columns = parsed_columns(features)
    if example_names is None:
        parsed = _parse_single(serialized, columns, name)
    else:
        parsed = _parse_batch_of_one(serialized, columns, example_names, name)
    return with_sparse_features(features, parsed)


# How they are made -----------------------------------------------------------------------------


def parsed_columns(features: Mapping[str, Any]) -> FeatureColumns:
    """How `tf.parse_example` parses features."""
    return FeatureColumns.of(_with_rows(features), _OF_EXAMPLES)


def _with_rows(features: Mapping[str, Any]) -> dict[str, Any]:
    """The features, with the unknown number of rows as first dimension of sequences."""
    rows = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            rows[key] = feature._replace(shape=[None, *feature.shape])
    return rows


def _parse(serialized: Any, columns: FeatureColumns, names: Any, name: str | None) -> Parsed:
    with name_scope(name, "ParseExample", [serialized, names]):
        defaults = columns.default_tensors()
        parts = ParseExample(
            serialized,
            [] if names is None else names,
            columns.sparse_keys,
            columns.dense_keys,
            defaults,
            sparse_types=columns.sparse_types,
            dense_shapes=columns.dense_shapes,
            name=name,
        )
        return by_key(columns, _sparse_of(parts), parts.dense_values)


def _parse_single(serialized: Any, columns: FeatureColumns, name: str | None) -> Parsed:
    with name_scope(name, "ParseSingleExample", [serialized]):
        string = to_tensor(serialized, name="serialized")
        parts = ParseSingleExample(
            string,
            columns.default_tensors(),
            num_sparse=len(columns.sparse_keys),
            sparse_keys=columns.sparse_keys,
            sparse_types=columns.sparse_types,
            dense_keys=columns.dense_keys,
            dense_shapes=columns.dense_shapes,
            name=name,
        )
        return by_key(columns, _sparse_of(parts), parts.dense_values)


def _parse_batch_of_one(
    serialized: Any, columns: FeatureColumns, example_name: Any, name: str | None
) -> Parsed:
    """One example with a name: only the op that parses batches takes names."""
    with name_scope(name, "ParseSingleExample", [serialized, example_name]):
        string = array.expand_dims(_scalar(to_tensor(serialized), "serialized"), 0)
        called = array.expand_dims(_scalar(to_tensor(example_name), "names"), 0)
        parsed = _parse(string, columns, called, name)
        for key in columns.dense_keys:
            parsed[key] = array.squeeze(parsed[key], [0], name=f"Squeeze_{name_of_key(key)}")
        for key in columns.sparse_keys:
            batch, part = parsed[key], name_of_key(key)
            parsed[key] = SparseTensor(
                array.slice(batch.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{part}"),
                batch.values,
                array.slice(batch.dense_shape, [1], [-1], name=f"Squeeze_Shape_{part}"),
            )
        return parsed


def _sparse_of(parts: Any) -> list[SparseTensor]:
    return sparse_tensors(parts.sparse_indices, parts.sparse_values, parts.sparse_shapes)


def with_sparse_features(features: Mapping[str, Any], parsed: Parsed) -> Parsed:
    """Puts each SparseFeature together from its parts; what only these needed is left out."""
    merged = {}
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            keys = feature.index_key
            ids = parsed[keys] if isinstance(keys, str) else [parsed[each] for each in keys]
            merged[key] = sparse_merge(
                ids,
                parsed[feature.value_key],
                vocab_size=feature.size,
                already_sorted=feature.already_sorted,
            )
    together = {**parsed, **merged}
    return {key: value for key, value in together.items() if key in features}


def _scalar(tensor: Tensor, what: str) -> Tensor:
    """The tensor, known to be a scalar or checked when it runs."""
    rank = tensor.shape.ndims
    if rank is None:
        check = Assert(
            equal(array.rank(tensor), 0),
            [f"Input {what} must be a scalar"],
            name=f"{what.capitalize()}IsScalar",
        )
        checked = with_dependencies([check], tensor, name=f"{what}Dependencies")
        checked.set_shape([])
        return checked
    if rank:
        raise ValueError(f"Input {what} must be a scalar")
    return tensor
