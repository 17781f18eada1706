"""Crosses of features: for each row every combination of one feature of each input."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import convert_to_tensor
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.shapes import Shape

_DEFAULT_HASH_KEY = 0xDECAFCAFFE
_FEATURE = (dtypes.int64, dtypes.string)
_INPUTS: dict[str, Any] = {
    "N": attr("int", minimum=0),
    "sparse_types": attr("list(type)", allowed=_FEATURE, minimum=0),
    "dense_types": attr("list(type)", allowed=_FEATURE, minimum=0),
}

SparseCross = op(
    "SparseCross(indices: N*int64, values: *sparse_types, shapes: N*int64, "
    "dense_inputs: *dense_types) -> output_indices: int64, output_values: out_type, "
    "output_shape: int64",
    N=attr("int", minimum=0),
    hashed_output=attr("bool"),
    num_buckets=attr("int", minimum=0),
    hash_key=attr("int"),
    sparse_types=attr("list(type)", allowed=_FEATURE, minimum=0),
    dense_types=attr("list(type)", allowed=_FEATURE, minimum=0),
    out_type=types(*_FEATURE),
    internal_type=types(*_FEATURE),
)
SparseCrossV2 = op(
    "SparseCrossV2(indices: N*int64, values: *sparse_types, shapes: N*int64, "
    "dense_inputs: *dense_types, sep: string) -> output_indices: int64, output_values: string, "
    "output_shape: int64",
    **_INPUTS,
)
not_differentiable(SparseCross, SparseCrossV2)


@SparseCross.shape
@SparseCrossV2.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [(None, 2), (None,), (2,)]


def sparse_cross(
    inputs: Any, name: str | None = None, separator: str | None = None
) -> SparseTensor:
    """The features of each row of all inputs in every combination, joined by `separator` ("_X_").

    Inputs are matrices, sparse or dense, of strings or integers; sparse ones come first.
    """
    if separator is None:
        return _crossed(inputs, dtypes.string, name=name)
    sep = convert_to_tensor(separator, dtypes.string)
    sparse, dense = features_of(inputs, "All inputs must be Tensor or SparseTensor.")
    return SparseTensor(*SparseCrossV2(*parts_of(sparse), dense, sep, name=name))


def sparse_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Like `sparse_cross`, with a hash of each combination in place of a string.

    Args:
      num_buckets: The hash is less than this number; 0 for any non-negative number.
      hash_key: The start of the hash, so that several crosses differ in their collisions.
    """
    return _crossed(inputs, dtypes.int64, num_buckets, hash_key, name)


def _crossed(
    inputs: Any,
    out_type: dtypes.DType,
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    sparse, dense = features_of(inputs, "All inputs must be SparseTensors")
    columns = [*[values for _, values, _ in sparse], *dense]
    has_numbers = any(column.dtype.base_dtype is not dtypes.string for column in columns)
    return SparseTensor(
        *SparseCross(
            *parts_of(sparse),
            dense,
            hashed_output=out_type is dtypes.int64,
            num_buckets=num_buckets,
            hash_key=hash_key or _DEFAULT_HASH_KEY,
            out_type=out_type,
            internal_type=dtypes.int64 if has_numbers else dtypes.string,
            name=name,
        )
    )


def features_of(inputs: Any, message: str) -> tuple[list[tuple[Any, Any, Any]], list[Any]]:
    """The parts of sparse inputs, and the dense inputs, with all numbers as int64."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(entry, (SparseTensor, Tensor)) for entry in inputs):
        raise TypeError(message)
    sparse = [entry for entry in inputs if isinstance(entry, SparseTensor)]
    dense = [entry for entry in inputs if not isinstance(entry, SparseTensor)]
    parts = [(entry.indices, _as_feature(entry.values), entry.dense_shape) for entry in sparse]
    return parts, [_as_feature(entry) for entry in dense]


def _as_feature(values: Tensor) -> Tensor:
    return values if values.dtype.base_dtype is dtypes.string else cast(values, dtypes.int64)


def parts_of(sparse: list[tuple[Any, Any, Any]]) -> tuple[list[Any], list[Any], list[Any]]:
    return [part[0] for part in sparse], [part[1] for part in sparse], [part[2] for part in sparse]
