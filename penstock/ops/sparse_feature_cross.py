"""Crosses of features as the columns of `tf.contrib.layers` make them; see `sparse_cross`."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ops.sparse_cross import features_of, parts_of
from penstock.shapes import Shape

__all__ = ["SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY", "sparse_feature_cross"]

#: The key that a hash starts from, where columns are told to use one.
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE

_FEATURE = (dtypes.int64, dtypes.string)
_RESULTS = "output_indices: int64, output_values: out_type, output_shape: int64"
_INPUTS = "indices: N*int64, values: *sparse_types, shapes: N*int64, dense: *dense_types"
_ATTRS: dict[str, Any] = {
    "N": attr("int", minimum=0),
    "hashed_output": attr("bool"),
    "num_buckets": attr("int", minimum=0),
    "sparse_types": attr("list(type)", allowed=_FEATURE, minimum=0),
    "dense_types": attr("list(type)", allowed=_FEATURE, minimum=0),
    "out_type": types(*_FEATURE),
    "internal_type": types(*_FEATURE),
}

SparseFeatureCross = op(f"SparseFeatureCross({_INPUTS}) -> {_RESULTS}", **_ATTRS)
SparseFeatureCrossV2 = op(
    f"SparseFeatureCrossV2({_INPUTS}) -> {_RESULTS}", hash_key=attr("int"), **_ATTRS
)
not_differentiable(SparseFeatureCross, SparseFeatureCrossV2)


@SparseFeatureCross.shape
@SparseFeatureCrossV2.shape
def _(op: Any, *inputs: Shape) -> list[Shape]:
    return [(None, 2), (None,), (2,)]


def sparse_feature_cross(
    inputs: Any,
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """The features of each row of all inputs in every combination, as strings or hashes.

    Args:
      inputs: a list of matrices, sparse or dense, of strings or integers.
      hashed_output: whether a combination is a number, its hash.
      num_buckets: the hash is less than this; 0 for any number.
      hash_key: the start of the hash, which is then another function than without it.
    """
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    sparse, dense = features_of(inputs, "All inputs must be SparseTensors")
    columns = [*[values for _, values, _ in sparse], *dense]
    has_numbers = any(column.dtype.base_dtype is not dtypes.string for column in columns)
    attrs: dict[str, Any] = {
        "hashed_output": hashed_output,
        "num_buckets": num_buckets,
        "out_type": dtypes.int64 if hashed_output else dtypes.string,
        "internal_type": dtypes.int64 if has_numbers else dtypes.string,
        "name": name,
    }
    if hash_key:
        return SparseTensor(
            *SparseFeatureCrossV2(*parts_of(sparse), dense, hash_key=hash_key, **attrs)
        )
    return SparseTensor(*SparseFeatureCross(*parts_of(sparse), dense, **attrs))
