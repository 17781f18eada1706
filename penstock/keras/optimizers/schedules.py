"""`tf.keras.optimizers.schedules`: learning rates that depend on the step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.keras.utils.serialization import (
    deserialize_keras_object,
    serialize_keras_object,
)

__all__ = [
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "deserialize",
    "serialize",
]


class LearningRateSchedule:
    """A function of the step; a subclass keeps its arguments as attributes of their names."""

    _CONFIG: tuple[str, ...] = ()

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal schedule."""
        return {key: getattr(self, key) for key in self._CONFIG}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The schedule with the arguments that `get_config` gave."""
        return cls(**config)


class ExponentialDecay(LearningRateSchedule):
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`."""

    _CONFIG = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "ExponentialDecay") as scope:
            initial = tf.convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
            part = tf.cast(step, initial.dtype) / tf.cast(self.decay_steps, initial.dtype)
            if self.staircase:
                part = tf.floor(part)
            return tf.multiply(
                initial, tf.pow(tf.cast(self.decay_rate, initial.dtype), part), name=scope
            )


class PiecewiseConstantDecay(LearningRateSchedule):
    """`values[i]` up to `boundaries[i]`, then the last value."""

    _CONFIG = ("boundaries", "values", "name")

    def __init__(self, boundaries: Any, values: Any, name: str | None = None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "PiecewiseConstant"):
            values = tf.convert_to_tensor(self.values)
            step = tf.convert_to_tensor(step)
            passed = [step > tf.cast(boundary, step.dtype) for boundary in self.boundaries]
            return tf.gather(values, tf.reduce_sum(tf.cast(tf.stack(passed), tf.int32)))


class PolynomialDecay(LearningRateSchedule):
    """From the initial to the end learning rate, by a power of the steps that are left."""

    _CONFIG = (
        "initial_learning_rate",
        "decay_steps",
        "end_learning_rate",
        "power",
        "cycle",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: Any = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "PolynomialDecay"):
            initial = tf.convert_to_tensor(self.initial_learning_rate)
            end = tf.cast(self.end_learning_rate, initial.dtype)
            steps = tf.cast(self.decay_steps, initial.dtype)
            step = tf.cast(step, initial.dtype)
            if self.cycle:
                rounds = tf.where(tf.equal(step, 0), tf.ones_like(step), tf.ceil(step / steps))
                steps = steps * rounds
            else:
                step = tf.minimum(step, steps)
            left = tf.pow(1 - step / steps, tf.cast(self.power, initial.dtype))
            return (initial - end) * left + end


class InverseTimeDecay(LearningRateSchedule):
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`."""

    _CONFIG = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "InverseTimeDecay"):
            initial = tf.convert_to_tensor(self.initial_learning_rate)
            part = tf.cast(step, initial.dtype) / tf.cast(self.decay_steps, initial.dtype)
            if self.staircase:
                part = tf.floor(part)
            return initial / (1.0 + tf.cast(self.decay_rate, initial.dtype) * part)


class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial learning rate to `alpha` of it."""

    _CONFIG = ("initial_learning_rate", "decay_steps", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: float = 0.0,
        name: str | None = None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "CosineDecay"):
            initial = tf.convert_to_tensor(self.initial_learning_rate)
            steps = tf.cast(self.decay_steps, initial.dtype)
            part = tf.minimum(tf.cast(step, initial.dtype), steps) / steps
            cosine = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, initial.dtype) * part))
            return initial * ((1 - self.alpha) * cosine + self.alpha)


def decayed(decay: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A learning rate of `tf.train`'s functions, which in eager mode return a function of it."""
    rate = decay(*args, **kwargs)
    return rate() if tf.executing_eagerly() else rate


def serialize(learning_rate_schedule: Any) -> Any:
    """Class name and configuration of a schedule."""
    return serialize_keras_object(learning_rate_schedule)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The schedule that `serialize` described."""
    from penstock.keras import experimental

    known = {**globals(), **vars(experimental)}
    return deserialize_keras_object(config, known, custom_objects, "decay")
