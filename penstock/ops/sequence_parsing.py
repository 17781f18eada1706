"""`tf.io.parse_sequence_example` and its relative for one: a context, and lists of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.ir.composite import SparseTensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.feature_specs import (
    FeatureColumns,
    FixedLenFeature,
    FixedLenSequenceFeature,
    VarLenFeature,
)
from penstock.ops.sequence_example_ops import ParseSequenceExample, ParseSingleSequenceExample

Parsed = dict[str, Any]
_OF_CONTEXTS = (VarLenFeature, FixedLenFeature)
_OF_LISTS = (VarLenFeature, FixedLenSequenceFeature)


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed, Parsed]:
    """Parses a vector of serialized `tf.train.SequenceExample`s.

    Returns dictionaries of the tensors of the contexts, of those of the lists of features, and of
    the lengths of the lists that are dense.
    """
    context, lists = _columns(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        parts = ParseSequenceExample(
            serialized,
            [] if example_names is None else example_names,
            context.default_tensors(reshaped=False),
            feature_list_dense_missing_assumed_empty=_may_be_missing(lists),
            context_sparse_keys=context.sparse_keys,
            context_dense_keys=context.dense_keys,
            feature_list_sparse_keys=lists.sparse_keys,
            feature_list_dense_keys=lists.dense_keys,
            Ncontext_sparse=len(context.sparse_keys),
            Ncontext_dense=len(context.dense_keys),
            Nfeature_list_sparse=len(lists.sparse_keys),
            Nfeature_list_dense=len(lists.dense_keys),
            name=name,
            **_types_and_shapes(context, lists),
        )
    lengths = dict(zip(lists.dense_keys, parts.feature_list_dense_lengths, strict=True))
    return *_tensors(parts, context, lists), lengths


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed]:
    """Parses one serialized `tf.train.SequenceExample`, a scalar.

    Returns dictionaries of the tensors of the context, and of those of the lists of features.
    """
    context, lists = _columns(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        parts = ParseSingleSequenceExample(
            serialized,
            _may_be_missing(lists),
            context.sparse_keys,
            context.dense_keys,
            lists.sparse_keys,
            lists.dense_keys,
            context.default_tensors(),
            "" if example_name is None else example_name,
            name=name,
            **_types_and_shapes(context, lists),
        )
    return _tensors(parts, context, lists)


def _columns(
    context_features: Mapping[str, Any] | None, sequence_features: Mapping[str, Any] | None
) -> tuple[FeatureColumns, FeatureColumns]:
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    lists = FeatureColumns.of(sequence_features, _OF_LISTS)
    return FeatureColumns.of(context_features, _OF_CONTEXTS), lists


def _may_be_missing(lists: FeatureColumns) -> list[str]:
    for key, default in lists.dense_defaults.items():
        if default is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return list(lists.dense_defaults)


def _types_and_shapes(context: FeatureColumns, lists: FeatureColumns) -> dict[str, Any]:
    return {
        "context_sparse_types": context.sparse_types,
        "context_dense_shapes": context.dense_shapes,
        "feature_list_sparse_types": lists.sparse_types,
        "feature_list_dense_types": lists.dense_types,
        "feature_list_dense_shapes": lists.dense_shapes,
    }


def _tensors(parts: Any, context: FeatureColumns, lists: FeatureColumns) -> tuple[Parsed, Parsed]:
    context_sparse = sparse_tensors(
        parts.context_sparse_indices, parts.context_sparse_values, parts.context_sparse_shapes
    )
    list_sparse = sparse_tensors(
        parts.feature_list_sparse_indices,
        parts.feature_list_sparse_values,
        parts.feature_list_sparse_shapes,
    )
    return (
        by_key(context, context_sparse, parts.context_dense_values),
        by_key(lists, list_sparse, parts.feature_list_dense_values),
    )


def sparse_tensors(
    indices: list[Tensor], values: list[Tensor], shapes: list[Tensor]
) -> list[SparseTensor]:
    """The sparse tensors whose parts an op gives in three lists."""
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]


def by_key(columns: FeatureColumns, sparse: list[Any], dense: list[Any]) -> Parsed:
    """What an op has parsed, by the keys of its features."""
    return dict(zip([*columns.sparse_keys, *columns.dense_keys], [*sparse, *dense], strict=True))
