"""The bijector `Affine`, whose scale is put together from parts."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import linalg
from penstock.contrib.distributions.scales import (
    make_tril_scale,
    optional_tensor,
    singularity_checks,
)
from penstock.distributions.bijector import Bijector
from penstock.distributions.static_shapes import dimension_size

__all__ = ["Affine"]


class Affine(Bijector):
    """`y = scale @ x + shift`, with a scale that is the sum of the parts that are given.

    Args:
      shift: a vector to add.
      scale_identity_multiplier: a number on the diagonal.
      scale_diag: the diagonal.
      scale_tril: a lower triangular matrix; what is above its diagonal does not count.
      scale_perturb_factor: a matrix U of few columns; U @ V @ Uᵀ is added.
      scale_perturb_diag: the diagonal of V; ones by default.
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("scale_perturb_diag needs a scale_perturb_factor beside it")
        matrices = (scale_diag, scale_tril, scale_perturb_factor)
        self._is_only_identity_multiplier = all(each is None for each in matrices)
        given = [shift, scale_identity_multiplier, *matrices, scale_perturb_diag]
        with tf.name_scope(f"{name}/init", values=[each for each in given if each is not None]):
            self._shift = optional_tensor(shift, "shift")
            if self._is_only_identity_multiplier:
                dtype = tf.float32 if shift is None else self._shift.dtype.base_dtype
                self._scale = _multiplier(scale_identity_multiplier, dtype, validate_args)
            else:
                self._scale = _operator(
                    self._shift,
                    optional_tensor(scale_identity_multiplier, "identity_multiplier"),
                    optional_tensor(scale_diag, "diag"),
                    optional_tensor(scale_tril, "tril"),
                    optional_tensor(scale_perturb_factor, "perturb_factor"),
                    optional_tensor(scale_perturb_diag, "perturb_diag"),
                    validate_args,
                )
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=[*self._parents_of_scale(), *([] if shift is None else [self._shift])],
            is_constant_jacobian=True,
            dtype=self._scale.dtype.base_dtype,
            validate_args=validate_args,
            name=name,
        )

    def _parents_of_scale(self) -> list[Any]:
        if self._is_only_identity_multiplier:
            return [self._scale]
        return list(self._scale.graph_parents or ())

    @property
    def shift(self) -> Any:
        return self._shift

    @property
    def scale(self) -> Any:
        """The scale: a linear operator, or a number that multiplies all elements."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        if self._is_only_identity_multiplier:
            y = x * self.scale
        else:
            with tf.control_dependencies(singularity_checks(self.scale, self.validate_args)):
                y = self.scale.matvec(x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x / self.scale if self._is_only_identity_multiplier else self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if not self._is_only_identity_multiplier:
            return self.scale.log_abs_determinant()
        size = tf.cast(tf.shape(x)[-1], self.scale.dtype)
        return tf.log(tf.abs(self.scale)) * size


def _multiplier(given: Any, dtype: Any, validate_args: bool) -> Any:
    factor = optional_tensor(given, "identity_multiplier")
    if factor is None:
        factor = tf.constant(1.0, dtype)
    if not validate_args:
        return factor
    zero = tf.zeros([], factor.dtype)
    check = tf.assert_none_equal(factor, zero, ["identity_multiplier should be non-zero."])
    with tf.control_dependencies([check]):
        return tf.identity(factor)


def _operator(
    shift: Any,
    multiplier: Any,
    diag: Any,
    tril: Any,
    perturb_factor: Any,
    perturb_diag: Any,
    validate_args: bool,
) -> Any:
    scale = make_tril_scale(
        loc=shift,
        scale_tril=tril,
        scale_diag=diag,
        scale_identity_multiplier=multiplier,
        shape_hint=None if perturb_factor is None else dimension_size(perturb_factor, -2),
        validate_args=validate_args,
    )
    if perturb_factor is not None:
        scale = linalg.LinearOperatorLowRankUpdate(
            scale,
            u=perturb_factor,
            diag_update=perturb_diag,
            is_diag_update_positive=perturb_diag is None,
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
        )
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(f"shift and scale have different types: {shift.dtype}, {scale.dtype}")
    return scale
