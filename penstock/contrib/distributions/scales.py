"""Scales of vectors as linear operators, and shapes that distributions of vectors need."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import linalg
from penstock.distributions.distribution import FULLY_REPARAMETERIZED
from penstock.distributions.static_shapes import (
    maybe_get_static_value,
    prefer_static_broadcast_shape,
    prefer_static_rank,
    prefer_static_value,
)
from penstock.layers.smart_cond import smart_cond
from penstock.ops.tensor_values import get_static_value
from penstock.shapes import dimension_value


def optional_tensor(value: Any, name: str) -> Any:
    """An argument as a tensor, None where it is not given."""
    return None if value is None else tf.convert_to_tensor(value, name=name)


def checked_diagonal(diagonal: Any, positive: bool) -> Any:
    """A diagonal; a step fails where it has zeros, or numbers that are not positive."""
    if positive:
        check = tf.assert_positive(diagonal, message="diagonal part must be positive")
    else:
        zero = tf.zeros([], diagonal.dtype)
        check = tf.assert_none_equal(diagonal, zero, message="diagonal part must be non-zero")
    with tf.control_dependencies([check]):
        return tf.identity(diagonal)


def singularity_checks(scale: Any, validate_args: bool) -> list[Any]:
    """Assertions that a linear operator can be inverted, where it knows how to tell."""
    if not validate_args:
        return []
    try:
        return [scale.assert_non_singular()]
    except NotImplementedError:
        return []


def batch_ndims(distribution: Any) -> Any:
    """The rank of a distribution's batch: a number where it is known, else a tensor."""
    known = distribution.batch_shape.ndims
    return tf.shape(distribution.batch_shape_tensor())[0] if known is None else known


def mixture_stddev(mixture_weight_vector: Any, mean_vector: Any, stddev_vector: Any) -> Any:
    """The standard deviation of mixtures, from [batch, components] of weights and moments."""
    mixture_weight_vector.shape.assert_has_rank(2)
    for what, given in (("means", mean_vector), ("stddevs", stddev_vector)):
        if not given.shape.is_compatible_with(mixture_weight_vector.shape):
            raise ValueError(f"Expecting {what} to have same shape as mixture weights.")
    weights = tf.expand_dims(mixture_weight_vector, axis=1)

    def averaged(values: Any) -> Any:
        return tf.reshape(tf.matmul(weights, tf.expand_dims(values, axis=2)), (-1,))

    mean = averaged(mean_vector)
    squares = averaged(tf.square(stddev_vector)) + averaged(tf.square(mean_vector))
    return tf.sqrt(squares - tf.square(mean))


def make_tril_scale(
    loc: Any = None,
    scale_tril: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """The operator of a triangular matrix plus a diagonal plus a multiple of the identity."""
    given = [loc, scale_diag, scale_identity_multiplier]
    with tf.name_scope(name, "make_tril_scale", values=given):
        loc = optional_tensor(loc, "loc")
        scale_tril = optional_tensor(scale_tril, "scale_tril")
        scale_diag = optional_tensor(scale_diag, "scale_diag")
        scale_identity_multiplier = optional_tensor(
            scale_identity_multiplier, "scale_identity_multiplier"
        )
    if scale_tril is None:
        return make_diag_scale(
            loc=loc,
            scale_diag=scale_diag,
            scale_identity_multiplier=scale_identity_multiplier,
            shape_hint=shape_hint,
            validate_args=validate_args,
            assert_positive=assert_positive,
            name=name,
        )
    lower = tf.matrix_band_part(scale_tril, -1, 0)
    diagonal = tf.matrix_diag_part(lower)
    if scale_diag is not None:
        diagonal += scale_diag
    if scale_identity_multiplier is not None:
        diagonal += scale_identity_multiplier[..., tf.newaxis]
    if validate_args:
        diagonal = checked_diagonal(diagonal, assert_positive)
    return linalg.LinearOperatorLowerTriangular(
        tril=tf.matrix_set_diag(lower, diagonal),
        is_non_singular=True,
        is_self_adjoint=False,
        is_positive_definite=assert_positive,
    )


def make_diag_scale(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """The operator of a diagonal plus a multiple of the identity.

    Args:
      loc: a tensor whose last dimension is the operator's, if nothing else tells it.
      shape_hint: that dimension.
    """
    with tf.name_scope(
        name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]
    ):
        loc = optional_tensor(loc, "loc")
        diagonal = optional_tensor(scale_diag, "scale_diag")
        multiplier = optional_tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if diagonal is not None:
            if multiplier is not None:
                diagonal += multiplier[..., tf.newaxis]
            return linalg.LinearOperatorDiag(
                diag=checked_diagonal(diagonal, assert_positive) if validate_args else diagonal,
                is_non_singular=True,
                is_self_adjoint=True,
                is_positive_definite=assert_positive,
            )
        if loc is None and shape_hint is None:
            raise ValueError(
                "Cannot infer `event_shape` unless `loc` or `shape_hint` is specified."
            )
        rows = loc.shape[-1] if shape_hint is None else shape_hint
        if multiplier is None:
            return linalg.LinearOperatorIdentity(
                num_rows=rows,
                dtype=loc.dtype.base_dtype,
                is_self_adjoint=True,
                is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )
        return linalg.LinearOperatorScaledIdentity(
            num_rows=rows,
            multiplier=checked_diagonal(multiplier, assert_positive)
            if validate_args
            else multiplier,
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=assert_positive,
            assert_proper_shapes=validate_args,
        )


def shapes_from_loc_and_scale(
    loc: Any, scale: Any, name: str = "shapes_from_loc_and_scale"
) -> tuple[Any, Any]:
    """The shapes of a batch and of an event of `scale @ x + loc`, as far as known as arrays."""
    with tf.name_scope(name, values=[loc, *scale.graph_parents]):
        size = scale.range_dimension_tensor()
        known = get_static_value(size)
        event = size[tf.newaxis] if known is None else known.reshape([1])
        batch = scale.batch_shape_tensor()
        if loc is None:
            return prefer_static_value(batch), event
        of_loc = dimension_value(loc.get_shape()[-1])
        if None not in (of_loc, known) and of_loc not in (1, known):
            raise ValueError(
                f"Event size of 'scale' ({of_loc}) could not be broadcast up to that of 'loc' "
                f"({known})."
            )
        loc_batch = loc.get_shape().with_rank_at_least(1)[:-1]
        if loc.get_shape().ndims is None or not loc_batch.is_fully_defined():
            outer = tf.shape(loc)[:-1]
        else:
            outer = tf.convert_to_tensor(loc_batch, name="loc_batch_shape")
        return prefer_static_broadcast_shape(batch, outer), event


def get_broadcast_shape(*tensors: Any) -> Any:
    """The shape that tensors broadcast to: a list if it is known, else a tensor."""
    static = tensors[0].shape
    for each in tensors[1:]:
        static = tf.broadcast_static_shape(static, each.shape)
    if static.is_fully_defined():
        return static.as_list()
    dynamic = tf.shape(tensors[0])
    for each in tensors[1:]:
        dynamic = tf.broadcast_dynamic_shape(dynamic, tf.shape(each))
    return dynamic


def is_diagonal_scale(scale: Any) -> bool:
    """Whether an operator is a diagonal matrix."""
    if not isinstance(scale, linalg.LinearOperator):
        raise TypeError(
            f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}"
        )
    diagonal = (
        linalg.LinearOperatorIdentity,
        linalg.LinearOperatorScaledIdentity,
        linalg.LinearOperatorDiag,
    )
    return isinstance(scale, diagonal)


def maybe_check_scalar_distribution(
    distribution: Any, expected_base_dtype: Any, validate_args: bool
) -> list[Any]:
    """Refuses a distribution that is no scalar of a type; checks for the step where unknown."""
    if distribution.dtype != expected_base_dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not '
            f'"{expected_base_dtype.name}"'
        )
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable "
            f'variables; distribution.reparameterization_type = "{kind}" != '
            '"FULLY_REPARAMETERIZED".'
        )
    checks = []
    with tf.name_scope("check_distribution"):
        for method in ("is_scalar_event", "is_scalar_batch"):
            is_scalar = getattr(distribution, method)()
            known = static_value(is_scalar)
            message = f"distribution must be scalar; distribution.{method}=False is not True"
            if known is None:
                if validate_args:
                    checks.append(tf.assert_equal(is_scalar, True, message=message))
            elif not known:
                raise ValueError(message)
    return checks


def pad_mixture_dimensions(
    x: Any, mixture_distribution: Any, categorical_distribution: Any, event_ndims: int
) -> Any:
    """Weights with dimensions of one for those of the mixture's batch and events."""
    with tf.name_scope("pad_mix_dims", values=[x]):
        all_ndims = batch_ndims(mixture_distribution)
        rest = all_ndims - batch_ndims(categorical_distribution)
        pad_ndims = tf.where(categorical_distribution.is_scalar_batch(), all_ndims, rest)
        shape = tf.shape(x)
        ones = [tf.ones([count], dtype=tf.int32) for count in (pad_ndims, event_ndims)]
        return tf.reshape(x, tf.concat([shape[:-1], ones[0], shape[-1:], ones[1]], axis=0))


def static_value(x: Any) -> Any:
    """The value of a tensor as an array, or None where it is not known yet."""
    return maybe_get_static_value(x)


def move_dimension(x: Any, source_idx: Any, dest_idx: Any) -> Any:
    """A tensor with one of its dimensions at another place."""
    ndims = prefer_static_rank(x)
    dtype = tf.int32 if isinstance(source_idx, int) else tf.as_dtype(source_idx.dtype)
    source = ndims + source_idx if source_idx < 0 else source_idx
    place = ndims + dest_idx if dest_idx < 0 else dest_idx

    def moved_left() -> Any:
        return [(0, place), source, (place, source), (source + 1, ndims)]

    def moved_right() -> Any:
        return [(0, source), (source + 1, place + 1), source, (place + 1, ndims)]

    def joined(parts: Any) -> Any:
        ranges = [
            tf.range(part[0], part[1], dtype=dtype) if isinstance(part, tuple) else [part]
            for part in parts
        ]
        return prefer_static_value(tf.concat(ranges, axis=0))

    def permuted() -> Any:
        order = smart_cond(
            tf.convert_to_tensor(source < place),
            lambda: joined(moved_right()),
            lambda: joined(moved_left()),
        )
        return tf.transpose(x, perm=order)

    return smart_cond(tf.equal(source, place), lambda: x, permuted)
