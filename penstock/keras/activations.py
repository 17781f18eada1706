"""`tf.keras.activations`."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.utils.serialization import deserialize_keras_object
from penstock.layers import identifiers
from penstock.layers.identifiers import linear

__all__ = [
    "deserialize",
    "elu",
    "exponential",
    "get",
    "hard_sigmoid",
    "linear",
    "relu",
    "selu",
    "serialize",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
]


def softmax(x: Any, axis: int = -1) -> Any:
    """Exponentials that add up to one along an axis."""
    rank = K.ndim(x)
    if rank == 2:
        return tf.nn.softmax(x)
    if rank > 2:
        exponentials = tf.exp(x - tf.reduce_max(x, axis=axis, keepdims=True))
        return exponentials / tf.reduce_sum(exponentials, axis=axis, keepdims=True)
    raise ValueError("Cannot apply softmax to a tensor that is 1D. Received input: " + str(x))


def elu(x: Any, alpha: float = 1.0) -> Any:
    """`x` where positive, else `alpha * (exp(x) - 1)`."""
    return K.elu(x, alpha)


def selu(x: Any) -> Any:
    """The exponential unit that keeps mean and variance."""
    return tf.nn.selu(x)


def softplus(x: Any) -> Any:
    """`log(exp(x) + 1)`."""
    return tf.nn.softplus(x)


def softsign(x: Any) -> Any:
    """`x / (abs(x) + 1)`."""
    return tf.nn.softsign(x)


def relu(x: Any, alpha: float = 0.0, max_value: Any = None, threshold: float = 0) -> Any:
    """`x` above the threshold (at most `max_value`), `alpha * (x - threshold)` below it."""
    return K.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return tf.nn.tanh(x)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return tf.nn.sigmoid(x)


def exponential(x: Any) -> Any:
    """`exp(x)`."""
    return tf.exp(x)


def hard_sigmoid(x: Any) -> Any:
    """`0.2 x + 0.5` between 0 and 1."""
    return K.hard_sigmoid(x)


_ACTIVATIONS: dict[str, Any] = {
    made.__name__: made
    for made in (
        elu,
        exponential,
        hard_sigmoid,
        linear,
        relu,
        selu,
        sigmoid,
        softmax,
        softplus,
        softsign,
        tanh,
    )
}

# Layers of both APIs look here: `layer.activation is tf.keras.activations.relu`.
identifiers.ACTIVATIONS.update(_ACTIVATIONS)

_NAMES_OF_OPS = {"softmax_v2": "softmax", "exp": "exponential", "identity": "linear"}


def serialize(activation: Any) -> Any:
    """The name of an activation function."""
    name = activation.__name__
    return _NAMES_OF_OPS.get(name, name)


def deserialize(name: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """The activation function of a name."""
    return deserialize_keras_object(name, _ACTIVATIONS, custom_objects, "activation function")


def get(identifier: Any) -> Any:
    """The activation function that a name or function stands for; None is `linear`."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier, printable_module_name="activation function")
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
