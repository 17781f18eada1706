"""Bijectors of matrices, triangular ones most of all."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.bijector import Bijector
from penstock.distributions.plain_bijectors import AffineScalar, Chain, Softplus
from penstock.distributions.triangular import fill_triangular, fill_triangular_inverse
from penstock.shapes import TensorShape, dimension_value

__all__ = [
    "CholeskyOuterProduct",
    "FillTriangular",
    "MatrixInverseTriL",
    "ScaleTriL",
    "TransformDiagonal",
]


class _OfMatrices(Bijector):
    """A function of the last two axes."""

    def __init__(self, validate_args: bool, name: str):
        super().__init__(validate_args=validate_args, name=name, forward_min_event_ndims=2)

    def _checked(self, x: Any, checks: Any) -> Any:
        if not self.validate_args:
            return x
        with tf.control_dependencies(checks(x)):
            return tf.identity(x)


def _is_square(x: Any) -> list[Any]:
    sizes = tf.shape(x)
    return [
        tf.assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix."),
        tf.assert_equal(sizes[-2], sizes[-1], message="Input must be a (batch of) square matrix."),
    ]


class CholeskyOuterProduct(_OfMatrices):
    """Lower triangular matrices times their own transpose."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product"):
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        lower = tf.matrix_band_part(self._checked(x, _is_square), -1, 0)
        return tf.matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return tf.cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        """Of p rows, the entry i of the diagonal is in p - i + 1 entries of each column."""
        diagonal = tf.matrix_diag_part(self._checked(x, self._is_positive))
        count = dimension_value(x.shape[-1]) if x.shape.ndims is not None else None
        size: Any = tf.shape(x)[-1] if count is None else count
        real = tf.cast(size, x.dtype.base_dtype)
        exponents = real - tf.cast(tf.range(size), x.dtype.base_dtype)
        return real * np.log(2.0).astype(x.dtype.as_numpy_dtype) + tf.reduce_sum(
            exponents * tf.log(diagonal), axis=-1
        )

    @staticmethod
    def _is_positive(x: Any) -> list[Any]:
        message = "Input must be positive definite."
        return [*_is_square(x), tf.assert_positive(tf.matrix_diag_part(x), message=message)]


class MatrixInverseTriL(_OfMatrices):
    """The inverses of lower triangular matrices."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril"):
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        x = self._checked(x, self._is_invertible)
        sizes = tf.shape(x)
        identity = tf.eye(sizes[-1], batch_shape=sizes[:-2], dtype=x.dtype.base_dtype)
        return tf.matrix_triangular_solve(x, identity, lower=True)

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked(x, self._is_invertible)
        size = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
        logs = tf.log(tf.abs(tf.matrix_diag_part(x)))
        # TensorFlow's number, though triangular matrices have fewer entries than that.
        return -2.0 * size * tf.reduce_sum(logs, axis=-1)

    @staticmethod
    def _is_invertible(x: Any) -> list[Any]:
        sizes = tf.shape(x)
        zeros = tf.zeros(sizes[:-1], x.dtype.base_dtype)
        above = tf.matrix_band_part(tf.matrix_set_diag(x, zeros), 0, -1)
        diagonal = tf.matrix_diag_part(x)
        return [
            tf.assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
            tf.assert_equal(sizes[-2], sizes[-1], message="Input must be a square matrix."),
            tf.assert_equal(above, tf.zeros_like(above), message="Input must be lower triangular."),
            tf.assert_none_equal(
                diagonal,
                tf.zeros_like(diagonal),
                message="Input must have all diagonal entries nonzero.",
            ),
        ]


class TransformDiagonal(_OfMatrices):
    """Matrices with another bijector applied to their diagonals."""

    def __init__(
        self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal"
    ):
        self._diag_bijector = diag_bijector
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.matrix_set_diag(x, self._diag_bijector.forward(tf.matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return tf.matrix_set_diag(y, self._diag_bijector.inverse(tf.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        diagonal = tf.matrix_diag_part(x)
        return self._diag_bijector.forward_log_det_jacobian(diagonal, event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        diagonal = tf.matrix_diag_part(y)
        return self._diag_bijector.inverse_log_det_jacobian(diagonal, event_ndims=1)


def vector_size_to_square_matrix_size(
    d: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """The number of rows of the triangular matrix that a vector of d entries fills."""
    if isinstance(d, (float, int, np.generic, np.ndarray)):
        n = (-1 + np.sqrt(1 + 8 * float(d))) / 2.0
        if float(int(n)) != n:
            raise ValueError("Vector length is not a triangular number.")
        return int(n)
    with tf.name_scope(name, "vector_size_to_square_matrix_size", [d]):
        rows = (-1.0 + tf.sqrt(1 + 8.0 * tf.cast(d, tf.float32))) / 2.0
        if validate_args:
            message = "Vector length is not a triangular number"
            with tf.control_dependencies([tf.assert_equal(tf.floor(rows), rows, message=message)]):
                rows = tf.identity(rows)
        return tf.cast(rows, d.dtype)


class FillTriangular(Bijector):
    """Triangular matrices with the entries of vectors, in a clockwise spiral.

    Args:
      upper: whether they are upper triangular.
    """

    def __init__(
        self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"
    ):
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        size = dimension_value(input_shape[-1])
        rows = None
        if size is not None:
            rows = vector_size_to_square_matrix_size(size, self.validate_args)
        return input_shape[:-1].concatenate([rows, rows])

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        rows, columns = map(dimension_value, output_shape[-2:])
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        rows = vector_size_to_square_matrix_size(input_shape[-1], self.validate_args)
        return tf.concat([input_shape[:-1], [rows, rows]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        rows = output_shape[-1]
        if self.validate_args:
            square = tf.assert_equal(rows, output_shape[-2], message="Matrix must be square.")
            with tf.control_dependencies([square]):
                rows = tf.identity(rows)
        return tf.concat([output_shape[:-2], [rows * (rows + 1) // 2]], axis=0)


class ScaleTriL(Chain):
    """Lower triangular matrices with a positive diagonal, of free vectors.

    Args:
      diag_bijector: makes the diagonal positive; Softplus by default.
      diag_shift: is added to the diagonal.
    """

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: Any = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ):
        diagonal: Bijector = diag_bijector or Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(shift=diag_shift), diagonal])
        super().__init__(
            [TransformDiagonal(diagonal), FillTriangular()], validate_args=validate_args, name=name
        )
