"""Sparse tensors: a tenth of the elements of a matrix of n."""

from typing import Any

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import Made, array, f32, i64, strings


def _ix(*values: int) -> np.ndarray:
    return array(list(values), "int64")


def _shape(n: int) -> np.ndarray:
    return _ix(side(n), side(n))


def _where(n: int, seed: int = 0) -> np.ndarray:
    """The indices of n // 10 elements, in order."""
    edge = side(n)
    chosen = np.random.RandomState(seed).permutation(edge * edge)[: n // 10]
    return np.stack(np.unravel_index(np.sort(chosen), (edge, edge)), axis=1).astype("int64")


def _sparse(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    where = _where(n, seed)
    return where, f32(len(where), lo=0.5, hi=1.5), _shape(n)


def _integers(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that are sets: in each the columns themselves."""
    where, _, shape = _sparse(n, seed)
    return where, where[:, 1].copy(), shape


def _dense(n: int) -> np.ndarray:
    return f32(side(n), side(n), lo=0.5, hi=1.5)


def _shuffled(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    where, values, shape = _sparse(n)
    return np.random.RandomState(1).permutation(where), values, shape


def _union(n: int) -> np.ndarray:
    return np.unique(np.concatenate([_where(n), _where(n, 1)]), axis=0)


def _features(n: int) -> tuple[Any, ...]:
    rows = n // 10
    where = np.stack([np.arange(rows), np.zeros(rows, int)], axis=1).astype("int64")
    return [where, where], [i64(0, 99, rows), i64(0, 99, rows)], [_ix(rows, 1), _ix(rows, 1)], []


def _packed(n: int, op_type: str) -> Made:
    """Sparse rows as strings; few of them, since each row becomes strings of its own."""
    return Made(op_type, _sparse(n))


_HASHED = {
    "hashed_output": True,
    "num_buckets": 1000,
    "hash_key": 956888297470,
    "out_type": "int64",
    "internal_type": "int64",
}

FAMILY: Family = {
    "SparseAdd": lambda n: takes(*_sparse(n), *_sparse(n, 1), array(0, "float32")),
    "SparseAddGrad": lambda n: takes(f32(len(_union(n))), _where(n), _where(n, 1), _union(n)),
    **alike(
        "SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseTensorDenseAdd",
        lambda n: takes(*_sparse(n), _dense(n)),
    ),
    "SparseTensorDenseMatMul": lambda n: takes(*_sparse(n), f32(side(n), 32)),
    **alike(
        "SparseReduceMax SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse",
        lambda n: takes(*_sparse(n), array([1], "int32")),
    ),
    "SparseSoftmax": lambda n: takes(*_sparse(n)),
    **alike(
        "SparseSparseMaximum SparseSparseMinimum", lambda n: takes(*_sparse(n), *_sparse(n, 1))
    ),
    "SparseConcat": lambda n: takes(
        [_where(n), _where(n, 1)],
        [f32(n // 10), f32(n // 10)],
        [_shape(n), _shape(n)],
        concat_dim=1,
    ),
    "SparseFillEmptyRows": lambda n: takes(*_sparse(n), array(0, "float32")),
    "SparseFillEmptyRowsGrad": lambda n: takes(np.arange(n // 10, dtype="int64"), f32(n // 10 + 5)),
    "SparseReorder": lambda n: takes(*_shuffled(n)),
    "SparseReshape": lambda n: takes(_where(n), _shape(n), _ix(side(n) ** 2)),
    "SparseSlice": lambda n: takes(*_sparse(n), _ix(1, 1), _ix(side(n) // 2, side(n) // 2)),
    "SparseSliceGrad": lambda n: takes(f32(len(_where(n))), _where(n), _ix(0, 0), _where(n)),
    "SparseSplit": lambda n: takes(_ix(1).reshape(()), *_sparse(n), num_split=4),
    "SparseToDense": lambda n: takes(_where(n), _shape(n), f32(n // 10), array(0, "float32")),
    "SparseCross": lambda n: takes(*_features(n), **_HASHED),
    "SparseCrossV2": lambda n: takes(*_features(n), strings("_X_").reshape(())),
    "SerializeSparse": lambda n: takes(*_sparse(n)),
    "SerializeManySparse": lambda n: takes(*_sparse(n)),
    "DeserializeSparse": lambda n: takes(_packed(n, "SerializeSparse"), dtype="float32"),
    "DeserializeManySparse": lambda n: takes(_packed(n, "SerializeManySparse"), dtype="float32"),
    "SetSize": lambda n: takes(*_integers(n)),
    "DenseToSparseSetOperation": lambda n: takes(
        i64(0, side(n), side(n), 20), *_integers(n), set_operation="intersection"
    ),
    "SparseToSparseSetOperation": lambda n: takes(
        *_integers(n), *_integers(n, 1), set_operation="union"
    ),
    "EditDistance": lambda n: takes(*_integers(n), *_integers(n, 1)),
}
