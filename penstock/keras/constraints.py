"""`tf.keras.constraints`: projections of weights after an update."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.utils.serialization import scope_of, serialize_keras_object
from penstock.layers import identifiers

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "RadialConstraint",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "min_max_norm",
    "non_neg",
    "radial_constraint",
    "serialize",
    "unit_norm",
]


class Constraint:
    """A function of a weight that gives its value after an update."""

    def __call__(self, w: Any) -> Any:
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal constraint."""
        return {}


def _norms(w: Any, axis: Any) -> Any:
    return K.sqrt(tf.reduce_sum(tf.square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Shortens vectors along an axis to a norm of at most `max_value`."""

    def __init__(self, max_value: float = 2, axis: Any = 0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        return w * (K.clip(norms, 0, self.max_value) / (K.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Makes negative weights zero."""

    def __call__(self, w: Any) -> Any:
        return w * tf.cast(tf.greater_equal(w, 0.0), K.floatx())


class UnitNorm(Constraint):
    """Gives vectors along an axis the norm 1."""

    def __init__(self, axis: Any = 0):
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        return w / (K.epsilon() + _norms(w, self.axis))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Moves norms along an axis between two limits, by a part `rate` of the way."""

    def __init__(
        self,
        min_value: float = 0.0,
        max_value: float = 1.0,
        rate: float = 1.0,
        axis: Any = 0,
    ):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        clipped = K.clip(norms, self.min_value, self.max_value)
        wanted = self.rate * clipped + (1 - self.rate) * norms
        return w * (wanted / (K.epsilon() + norms))

    def get_config(self) -> dict[str, Any]:
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


class RadialConstraint(Constraint):
    """Makes square filters (height, width, …) equal at equal distance from their centre."""

    def __call__(self, w: Any) -> Any:
        shape = w.shape.as_list()
        if len(shape) != 4 or shape[0] != shape[1]:
            raise ValueError(
                "The weight tensor must be of shape (rows, cols, channels, filters), with square "
                f"filters; got {shape}"
            )
        # From the inside out: a core of one or four taps, then frames with values of the diagonal.
        height, is_odd = shape[0], shape[0] % 2
        start, count = height // 2, shape[2] * shape[3]
        kernels = tf.reshape(w, (height, height, count))
        made = tf.ones((2 - is_odd, 2 - is_odd, 1)) * kernels[start - 1, start - 1]
        for index in range(1 - is_odd, start):
            side = made.shape.as_list()[0]
            frame = tf.pad(tf.zeros([side, side, 1]), [[1, 1], [1, 1], [0, 0]], constant_values=1.0)
            inside = tf.pad(made, [[1, 1], [1, 1], [0, 0]])
            made = inside + frame * kernels[start + index, start + index]
        return tf.reshape(made, shape)


max_norm = maxnorm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = nonneg = NonNeg
radial_constraint = RadialConstraint
unit_norm = unitnorm = UnitNorm

identifiers.CONSTRAINTS.update(
    MaxNorm=MaxNorm,
    MinMaxNorm=MinMaxNorm,
    NonNeg=NonNeg,
    RadialConstraint=RadialConstraint,
    UnitNorm=UnitNorm,
    max_norm=MaxNorm,
    maxnorm=MaxNorm,
    min_max_norm=MinMaxNorm,
    non_neg=NonNeg,
    nonneg=NonNeg,
    radial_constraint=RadialConstraint,
    unit_norm=UnitNorm,
    unitnorm=UnitNorm,
)


def serialize(constraint: Any) -> Any:
    """Class name and configuration of a constraint."""
    return serialize_keras_object(constraint)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The constraint that `serialize` described."""
    with scope_of(custom_objects):
        return identifiers.constraint(config)


def get(identifier: Any) -> Any:
    """The constraint that a name, configuration or function stands for."""
    return identifiers.constraint(identifier)
