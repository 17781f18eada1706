"""`tf.keras.regularizers`: losses of weights and outputs."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.utils.serialization import scope_of, serialize_keras_object
from penstock.layers import identifiers

__all__ = ["L1L2", "Regularizer", "deserialize", "get", "l1", "l1_l2", "l2", "serialize"]


class Regularizer:
    """A function of a tensor whose value is added to the loss."""

    def __call__(self, x: Any) -> Any:
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The regularizer with the arguments that `get_config` gave."""
        return cls(**config)


class L1L2(Regularizer):
    """`l1 * sum(abs(x)) + l2 * sum(x ** 2)`."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1 = K.cast_to_floatx(l1)
        self.l2 = K.cast_to_floatx(l2)

    def __call__(self, x: Any) -> Any:
        if not self.l1 and not self.l2:
            return K.constant(0.0)
        loss: Any = 0.0
        if self.l1:
            loss += tf.reduce_sum(self.l1 * tf.abs(x))
        if self.l2:
            loss += tf.reduce_sum(self.l2 * tf.square(x))
        return loss

    def get_config(self) -> dict[str, float]:
        """The arguments that make an equal regularizer."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741 the argument's name is Keras'
    """`l * sum(abs(x))`."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741 the argument's name is Keras'
    """`l * sum(x ** 2)`."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """`l1 * sum(abs(x)) + l2 * sum(x ** 2)`."""
    return L1L2(l1=l1, l2=l2)


identifiers.REGULARIZERS.update(L1L2=L1L2, l1=l1, l2=l2, l1_l2=l1_l2)


def serialize(regularizer: Any) -> Any:
    """Class name and configuration of a regularizer."""
    return serialize_keras_object(regularizer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The regularizer that `serialize` described."""
    with scope_of(custom_objects):
        return identifiers.regularizer(config)


def get(identifier: Any) -> Any:
    """The regularizer that a name, configuration or function stands for."""
    return identifiers.regularizer(identifier)
