"""Op types that parse `tf.train.Example` messages."""

from __future__ import annotations

from penstock.ir.operation import Operation
from penstock.ir.registry import attr, op
from penstock.ir.type_sets import FEATURE, INDEX
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

ParseExample = op(
    "ParseExample(serialized: string, names: string, sparse_keys: Nsparse*string, "
    "dense_keys: Ndense*string, dense_defaults: *Tdense) -> sparse_indices: Nsparse*int64, "
    "sparse_values: *sparse_types, sparse_shapes: Nsparse*int64, dense_values: *Tdense",
    Nsparse=attr("int", minimum=0),
    Ndense=attr("int", minimum=0),
    sparse_types=attr("list(type)", allowed=FEATURE, minimum=0),
    Tdense=attr("list(type)", allowed=FEATURE, minimum=0),
    dense_shapes=attr("list(shape)", minimum=0),
)
ParseExampleV2 = op(
    "ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, "
    "ragged_keys: string, dense_defaults: *Tdense) -> sparse_indices: num_sparse*int64, "
    "sparse_values: *sparse_types, sparse_shapes: num_sparse*int64, dense_values: *Tdense, "
    "ragged_values: *ragged_value_types, ragged_row_splits: *ragged_split_types",
    Tdense=attr("list(type)", allowed=FEATURE, minimum=0),
    num_sparse=attr("int", minimum=0),
    sparse_types=attr("list(type)", allowed=FEATURE, minimum=0),
    ragged_value_types=attr("list(type)", allowed=FEATURE, minimum=0),
    ragged_split_types=attr("list(type)", allowed=INDEX, minimum=0),
    dense_shapes=attr("list(shape)", minimum=0),
)
ParseSingleExample = op(
    "ParseSingleExample(serialized: string, dense_defaults: *Tdense) "
    "-> sparse_indices: num_sparse*int64, sparse_values: *sparse_types, "
    "sparse_shapes: num_sparse*int64, dense_values: *Tdense",
    num_sparse=attr("int", minimum=0),
    sparse_keys=attr("list(string)", minimum=0),
    dense_keys=attr("list(string)", minimum=0),
    sparse_types=attr("list(type)", allowed=FEATURE, minimum=0),
    Tdense=attr("list(type)", allowed=FEATURE, minimum=0),
    dense_shapes=attr("list(shape)", minimum=0),
)


@ParseExample.shape
def _(op: Operation, serialized: Shape, names: Shape, *rest: Shape) -> list[Shape]:
    batch = with_rank(serialized, 1)
    with_rank(names, 1)
    sparse = len(op.attrs["sparse_types"])
    return [*sparse_shapes(batch, sparse), *dense_shapes(batch, op.attrs["dense_shapes"])]


@ParseExampleV2.shape
def _(op: Operation, serialized: Shape, *rest: Shape) -> list[Shape]:
    check_scalar_or_vector(serialized)
    attrs = op.attrs
    ragged = len(attrs["ragged_value_types"])
    return [
        *sparse_shapes(serialized, len(attrs["sparse_types"])),
        *dense_shapes(serialized, attrs["dense_shapes"]),
        *[(None,)] * ragged,
        *[splits_shape(serialized)] * ragged,
    ]


@ParseSingleExample.shape
def _(op: Operation, serialized: Shape, *defaults: Shape) -> list[Shape]:
    with_rank(serialized, 0)
    attrs = op.attrs
    return [
        *sparse_shapes((), len(attrs["sparse_types"])),
        *dense_shapes((), attrs["dense_shapes"]),
    ]


def check_scalar_or_vector(serialized: Shape) -> None:
    if serialized is not None and len(serialized) > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {len(serialized)}")


def sparse_shapes(batch: Shape, count: int, extra: int = 1) -> list[Shape]:
    """The shapes of the indices, the values and the shapes of `count` sparse features.

    A feature has `extra` dimensions beside those of the batch.
    """
    rank = None if batch is None else len(batch) + extra
    return [(None, rank)] * count + [(None,)] * count + [(rank,)] * count


def dense_shapes(batch: Shape, shapes: list[Shape]) -> list[Shape]:
    """The shapes of dense features: of one shape each, in the shape of the batch."""
    return [None if batch is None or shape is None else batch + shape for shape in shapes]


def splits_shape(batch: Shape) -> Shape:
    """The shape of a ragged feature's row splits; a single example has none."""
    if batch is None:
        return (None,)
    if not batch:
        return (0,)
    return (None if batch[0] is None else batch[0] + 1,)
