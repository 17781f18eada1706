"""Making tensors and variables, and looking at them."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras.backend.config import floatx
from penstock.keras.backend.session import get_graph, track_variable
from penstock.ragged.tensor import RaggedTensor

__all__ = [
    "constant",
    "count_params",
    "dtype",
    "eye",
    "int_shape",
    "is_keras_tensor",
    "is_placeholder",
    "is_sparse",
    "is_tensor",
    "ndim",
    "ones",
    "ones_like",
    "placeholder",
    "random_normal_variable",
    "random_uniform_variable",
    "shape",
    "to_dense",
    "variable",
    "zeros",
    "zeros_like",
]


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is sparse."""
    return isinstance(tensor, (tf.SparseTensor, tf.SparseTensorValue))


def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one; dense ones stay as they are."""
    return tf.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor or variable."""
    return isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor))


def is_keras_tensor(x: Any) -> bool:
    """Whether a tensor is the output of a layer or an `Input`."""
    if not is_tensor(x):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor "
            "instance."
        )
    return hasattr(x, "_keras_history")


def is_placeholder(x: Any) -> bool:
    """Whether a tensor is a placeholder."""
    if isinstance(x, tf.SparseTensor):
        return is_placeholder(x.values)
    if isinstance(x, RaggedTensor):
        return is_placeholder(x.flat_values)
    return isinstance(x, tf.Tensor) and x._op.type in ("Placeholder", "PlaceholderWithDefault")


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A variable with an initial value, which Keras initializes by itself."""
    dtype = dtype or floatx()
    if hasattr(value, "tocoo"):
        matrix = value.tocoo()
        indices = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
        return tf.SparseTensor(indices, matrix.data, matrix.shape)
    made = tf.Variable(
        value,
        dtype=tf.as_dtype(dtype),
        name=name,
        constraint=constraint,
        use_resource=True,
    )
    track_variable(made)
    return made


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant tensor."""
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """A tensor to feed, of a shape or of a rank."""
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    if shape is None and ndim:  # as in TensorFlow, no dimensions are an unknown number of them
        shape = (None,) * ndim
    if ragged:
        return _ragged_placeholder(dtype or floatx(), shape, name)
    make = tf.sparse_placeholder if sparse else tf.placeholder
    with get_graph().as_default():
        return make(dtype or floatx(), shape=shape, name=name)


def _ragged_placeholder(dtype: Any, shape: Any, name: str | None) -> Any:
    """Sizes behind the batch's are ragged as far as they are unknown."""
    rank = next((i for i, size in enumerate(shape[1:]) if size is not None), len(shape) - 1)
    with get_graph().as_default():
        return tf.ragged.placeholder(dtype, rank, tuple(shape[rank + 1 :]), name)


def shape(x: Any) -> Any:
    """The shape of a tensor, as a tensor."""
    return tf.shape(x)


def int_shape(x: Any) -> Any:
    """The static shape as a tuple with None for unknown sizes; None for an unknown rank."""
    try:
        sizes = x.shape
        return tuple(sizes if isinstance(sizes, tuple) else sizes.as_list())
    except ValueError:
        return None


def ndim(x: Any) -> Any:
    """The rank of a tensor, or None if it isn't known."""
    return x.shape.ndims


def dtype(x: Any) -> str:
    """The name of a tensor's type."""
    return x.dtype.base_dtype.name


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return _filled(tf.zeros, shape, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return _filled(tf.ones, shape, dtype, name)


def _filled(fill: Any, shape: Any, dtype: Any, name: str | None) -> Any:
    dtype = dtype or floatx()
    with tf.init_scope():
        value = fill(shape=shape, dtype=tf.as_dtype(dtype), name=name)
        if value.shape.is_fully_defined():
            return variable(value, dtype=dtype, name=name)
        return value


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """A variable that is an identity matrix."""
    dtype = dtype or floatx()
    return variable(tf.eye(size, dtype=tf.as_dtype(dtype)), dtype, name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros of a tensor's shape."""
    return tf.zeros_like(x, dtype=dtype, name=name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones of a tensor's shape."""
    return tf.ones_like(x, dtype=dtype, name=name)


def random_uniform_variable(
    shape: Any,
    low: float,
    high: float,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable of uniform random numbers."""
    dtype = dtype or floatx()
    seed = np.random.randint(10**9) if seed is None else seed  # noqa: NPY002 the program seeds it
    value = tf.random_uniform_initializer(low, high, dtype=dtype, seed=seed)(shape)
    return variable(value, dtype=dtype, name=name)


def random_normal_variable(
    shape: Any,
    mean: float,
    scale: float,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable of normal random numbers."""
    dtype = dtype or floatx()
    seed = np.random.randint(10**9) if seed is None else seed  # noqa: NPY002 the program seeds it
    value = tf.random_normal_initializer(mean, scale, dtype=dtype, seed=seed)(shape)
    return variable(value, dtype=dtype, name=name)


def count_params(x: Any) -> int:
    """How many numbers a variable holds."""
    return int(np.prod(x.shape.as_list()))
