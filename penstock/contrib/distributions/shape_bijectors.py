"""Bijectors that change the shape of events, or apply a linear operator to them."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.distributions.scales import singularity_checks
from penstock.distributions.bijector import Bijector
from penstock.ir.constants import constant_value
from penstock.linear_operators.operator import LinearOperator
from penstock.shapes import TensorShape, dimension_value

__all__ = ["AbsoluteValue", "AffineLinearOperator", "Reshape"]


class AbsoluteValue(Bijector):
    """`y = |x|`, whose inverse is a pair: `-y` and `y`."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value"):
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    def _checked(self, y: Any, value: Any) -> Any:
        if not self.validate_args:
            return value
        message = "Argument y was negative"
        with tf.control_dependencies([tf.assert_non_negative(y, message=message)]):
            return tf.identity(value)

    def _forward(self, x: Any) -> Any:
        return tf.abs(x)

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y, y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zeros = self._checked(y, tf.constant(0.0, dtype=y.dtype))
        return zeros, zeros

    @property
    def _is_injective(self) -> bool:
        return False


class AffineLinearOperator(Bijector):
    """`y = scale @ x + shift`.

    Args:
      shift: a vector to add.
      scale: a `tf.linalg.LinearOperator`.
    """

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ):
        with tf.name_scope(name, values=[shift]):
            dtype: Any = tf.float32
            parents = []
            if shift is not None:
                shift = tf.convert_to_tensor(shift, name="shift")
                parents.append(shift)
                dtype = shift.dtype.base_dtype
            if scale is not None:
                _check_scale(scale, shift, validate_args)
                parents += list(scale.graph_parents or ())
                dtype = scale.dtype.base_dtype if scale.dtype is not None else dtype
        self._shift, self._scale = shift, scale
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> Any:
        return self._shift

    @property
    def scale(self) -> Any:
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = x
        if self.scale is not None:
            with tf.control_dependencies(singularity_checks(self.scale, self.validate_args)):
                y = self.scale.matvec(y)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        with tf.control_dependencies(singularity_checks(self.scale, self.validate_args)):
            return self.scale.log_abs_determinant()


def _check_scale(scale: Any, shift: Any, validate_args: bool) -> None:
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(
            f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype})."
        )
    if not isinstance(scale, LinearOperator):
        raise TypeError("scale is not an instance of tf.LinearOperator")
    if validate_args and not scale.is_non_singular:
        raise ValueError("Scale matrix must be non-singular.")


class Reshape(Bijector):
    """Events of another shape.

    Args:
      event_shape_out: the shape of results; one size may be -1.
      event_shape_in: the shape of arguments.
    """

    def __init__(
        self,
        event_shape_out: Any,
        event_shape_in: Any = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ):
        with tf.name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            given = {"event_shape_out": event_shape_out, "event_shape_in": event_shape_in}
            shapes = [
                tf.convert_to_tensor(value, name=key, preferred_dtype=tf.int32)
                for key, value in given.items()
            ]
            self._checks = [
                check for shape in shapes for check in _shape_checks(shape, validate_args)
            ]
        self._event_shape_out, self._event_shape_in = shapes
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _reshaped(self, x: Any, before: Any, after: Any) -> Any:
        count = dimension_value(before.shape.with_rank_at_least(1)[0])
        x = self._with_event_shape(x, before, count)
        if count is not None and x.shape.ndims == count:
            return tf.reshape(x, after)
        rank = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
        size = tf.shape(before)[0] if count is None else count
        return tf.reshape(x, tf.concat([tf.shape(x)[: rank - size], after], axis=0))

    def _with_event_shape(self, x: Any, wanted: Any, count: int | None) -> Any:
        """`x`, whose last sizes must be the wanted ones, where those are given."""
        known = constant_value(wanted)
        sizes = None
        if count is not None and x.shape.ndims is not None:
            event = x.shape.with_rank_at_least(count)[x.shape.ndims - count :]
            sizes = np.array(event.as_list(), np.int32) if event.is_fully_defined() else None
        if sizes is not None and known is not None:
            if not np.equal(sizes[known >= 0], known[known >= 0]).all():
                raise ValueError(
                    f"Input `event_shape` does not match `event_shape_in` ({sizes} vs {known})."
                )
            return x
        if not self.validate_args:
            return x
        given = tf.reshape(wanted >= 0, [-1])
        actual = tf.shape(x)[tf.rank(x) - tf.shape(wanted)[0] :]
        same = tf.assert_equal(
            tf.boolean_mask(actual, given),
            tf.boolean_mask(wanted, given),
            message="Input `event_shape` does not match `event_shape_in`.",
        )
        with tf.control_dependencies([same]):
            return tf.identity(x)

    def _forward(self, x: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return self._reshaped(x, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return self._reshaped(y, self._event_shape_out, self._event_shape_in)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        with tf.control_dependencies(self._checks):
            return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._inverse_log_det_jacobian(x)

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return self.forward(tf.zeros(input_shape, tf.float32)).shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return self.inverse(tf.zeros(output_shape, tf.float32)).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return tf.shape(self.forward(tf.zeros(input_shape, tf.float32)))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return tf.shape(self.inverse(tf.zeros(output_shape, tf.float32)))


def _shape_checks(shape: Any, validate_args: bool) -> list[Any]:
    """Checks for when the graph runs; of what is known already only the rank is checked at once."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    checks = []
    if shape.shape.ndims is not None and shape.shape.ndims > 1:
        raise ValueError(f"`{shape}` rank ({shape.shape.ndims}) should be <= 1.")
    if shape.shape.ndims is None and validate_args:
        message = f"`{shape}` rank should be <= 1."
        checks.append(tf.assert_less_equal(tf.rank(shape), 1, message=message))
    known = constant_value(shape)
    if validate_args and (known is None or np.any(known < 0)):
        open_sizes = tf.reduce_sum(tf.cast(tf.equal(shape, -1), tf.int32))
        checks += [
            tf.assert_less_equal(
                open_sizes, 1, message=f"`{shape}` elements must have at most one `-1`."
            ),
            tf.assert_greater_equal(
                shape,
                -1,
                message=f"`{shape}` elements must be either positive integers or `-1`.",
            ),
        ]
    return checks
