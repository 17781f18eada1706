"""Op types that parse `tf.train.SequenceExample` messages."""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import attr, op
from penstock.ir.type_sets import FEATURE, INDEX
from penstock.ops.example_ops import (
    check_scalar_or_vector,
    dense_shapes,
    sparse_shapes,
    splits_shape,
)
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

ParseSequenceExample = op(
    "ParseSequenceExample(serialized: string, debug_name: string, "
    "context_dense_defaults: *Tcontext_dense) -> context_sparse_indices: Ncontext_sparse*int64, "
    "context_sparse_values: *context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, "
    "context_dense_values: *Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: *feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: *feature_list_dense_types, "
    "feature_list_dense_lengths: Nfeature_list_dense*int64",
    feature_list_dense_missing_assumed_empty=attr("list(string)", minimum=0),
    context_sparse_keys=attr("list(string)", minimum=0),
    context_dense_keys=attr("list(string)", minimum=0),
    feature_list_sparse_keys=attr("list(string)", minimum=0),
    feature_list_dense_keys=attr("list(string)", minimum=0),
    Ncontext_sparse=attr("int", 0, minimum=0),
    Ncontext_dense=attr("int", 0, minimum=0),
    Nfeature_list_sparse=attr("int", 0, minimum=0),
    Nfeature_list_dense=attr("int", 0, minimum=0),
    context_sparse_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    Tcontext_dense=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_dense_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    context_dense_shapes=attr("list(shape)", [], minimum=0),
    feature_list_sparse_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_dense_shapes=attr("list(shape)", [], minimum=0),
)
ParseSequenceExampleV2 = op(
    "ParseSequenceExampleV2(serialized: string, debug_name: string, context_sparse_keys: string, "
    "context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, "
    "feature_list_dense_keys: string, feature_list_ragged_keys: string, "
    "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: *Tcontext_dense) "
    "-> context_sparse_indices: Ncontext_sparse*int64, "
    "context_sparse_values: *context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, "
    "context_dense_values: *Tcontext_dense, context_ragged_values: *context_ragged_value_types, "
    "context_ragged_row_splits: *context_ragged_split_types, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: *feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: *feature_list_dense_types, "
    "feature_list_dense_lengths: Nfeature_list_dense*int64, "
    "feature_list_ragged_values: *feature_list_ragged_value_types, "
    "feature_list_ragged_outer_splits: *feature_list_ragged_split_types, "
    "feature_list_ragged_inner_splits: *feature_list_ragged_split_types",
    Ncontext_sparse=attr("int", 0, minimum=0),
    Tcontext_dense=attr("list(type)", [], allowed=FEATURE, minimum=0),
    context_sparse_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    context_ragged_value_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    context_ragged_split_types=attr("list(type)", [], allowed=INDEX, minimum=0),
    context_dense_shapes=attr("list(shape)", [], minimum=0),
    Nfeature_list_sparse=attr("int", 0, minimum=0),
    Nfeature_list_dense=attr("int", 0, minimum=0),
    feature_list_dense_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_sparse_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_ragged_value_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_ragged_split_types=attr("list(type)", [], allowed=INDEX, minimum=0),
    feature_list_dense_shapes=attr("list(shape)", [], minimum=0),
)
ParseSingleSequenceExample = op(
    "ParseSingleSequenceExample(serialized: string, "
    "feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse*string, context_dense_keys: Ncontext_dense*string, "
    "feature_list_sparse_keys: Nfeature_list_sparse*string, "
    "feature_list_dense_keys: Nfeature_list_dense*string, "
    "context_dense_defaults: *Tcontext_dense, debug_name: string) "
    "-> context_sparse_indices: Ncontext_sparse*int64, "
    "context_sparse_values: *context_sparse_types, context_sparse_shapes: Ncontext_sparse*int64, "
    "context_dense_values: *Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse*int64, "
    "feature_list_sparse_values: *feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse*int64, "
    "feature_list_dense_values: *feature_list_dense_types",
    Ncontext_sparse=attr("int", 0, minimum=0),
    Ncontext_dense=attr("int", 0, minimum=0),
    Nfeature_list_sparse=attr("int", 0, minimum=0),
    Nfeature_list_dense=attr("int", 0, minimum=0),
    context_sparse_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    Tcontext_dense=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_dense_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    context_dense_shapes=attr("list(shape)", [], minimum=0),
    feature_list_sparse_types=attr("list(type)", [], allowed=FEATURE, minimum=0),
    feature_list_dense_shapes=attr("list(shape)", [], minimum=0),
)


@ParseSequenceExample.shape
def _(op: Operation, serialized: Shape, *rest: Shape) -> list[Shape]:
    batch = with_rank(serialized, 1)
    return [*_context_shapes(op, batch), *_list_shapes(op, batch)]


@ParseSequenceExampleV2.shape
def _(op: Operation, serialized: Shape, *rest: Shape) -> list[Shape]:
    check_scalar_or_vector(serialized)
    context, lists = (
        len(op.attrs[f"{part}_ragged_value_types"]) for part in ("context", "feature_list")
    )
    return [
        *_context_shapes(op, serialized),
        *[(None,)] * context,
        *[splits_shape(serialized)] * context,
        *_list_shapes(op, serialized),
        *[(None,)] * lists,
        *[splits_shape(serialized)] * lists,
        *[(None,)] * lists,
    ]


@ParseSingleSequenceExample.shape
def _(op: Operation, serialized: Shape, *rest: Shape) -> list[Shape]:
    with_rank(serialized, 0)
    return [*_context_shapes(op, ()), *_list_shapes(op, (), lengths=False)]


def _context_shapes(op: Operation, batch: Shape) -> list[Shape]:
    attrs = op.attrs
    return [
        *sparse_shapes(batch, len(attrs["context_sparse_types"])),
        *dense_shapes(batch, attrs["context_dense_shapes"]),
    ]


def _list_shapes(op: Operation, batch: Shape, lengths: bool = True) -> list[Shape]:
    attrs = op.attrs
    sequence = None if batch is None else (*batch, None)
    return [
        *sparse_shapes(batch, len(attrs["feature_list_sparse_types"]), extra=2),
        *dense_shapes(sequence, attrs["feature_list_dense_shapes"]),
        *([batch] * len(attrs["feature_list_dense_types"]) if lengths else []),
    ]
