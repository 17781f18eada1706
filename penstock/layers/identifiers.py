"""Activations, initializers, regularizers and constraints that are given by name.

Each table maps a name to what makes the thing: `tf.keras` adds its own to them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.ops import initializers
from penstock.ops.activations import elu, relu, selu, softplus, softsign
from penstock.ops.elementwise import exp, sigmoid, tanh
from penstock.ops.orthogonal_initializers import Orthogonal
from penstock.ops.softmax import softmax


def linear(x: Any) -> Any:
    """The activation that changes nothing."""
    return x


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "elu": elu,
    "exponential": exp,
    "linear": linear,
    "relu": relu,
    "selu": selu,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "softplus": softplus,
    "softsign": softsign,
    "tanh": tanh,
}

_NORMAL = partial(initializers.RandomNormal, stddev=0.05)
_UNIFORM = partial(initializers.RandomUniform, minval=-0.05, maxval=0.05)
_TRUNCATED = partial(initializers.TruncatedNormal, stddev=0.05)

INITIALIZERS: dict[str, Callable[..., Any]] = {
    "Constant": initializers.Constant,
    "GlorotNormal": initializers.GlorotNormal,
    "GlorotUniform": initializers.GlorotUniform,
    "Identity": initializers.Identity,
    "Ones": initializers.Ones,
    "Orthogonal": Orthogonal,
    "RandomNormal": _NORMAL,
    "RandomUniform": _UNIFORM,
    "TruncatedNormal": _TRUNCATED,
    "VarianceScaling": initializers.VarianceScaling,
    "Zeros": initializers.Zeros,
    "constant": initializers.Constant,
    "glorot_normal": initializers.GlorotNormal,
    "glorot_uniform": initializers.GlorotUniform,
    "he_normal": initializers.he_normal,
    "he_uniform": initializers.he_uniform,
    "identity": initializers.Identity,
    "lecun_normal": initializers.lecun_normal,
    "lecun_uniform": initializers.lecun_uniform,
    "normal": _NORMAL,
    "one": initializers.Ones,
    "ones": initializers.Ones,
    "orthogonal": Orthogonal,
    "random_normal": _NORMAL,
    "random_uniform": _UNIFORM,
    "truncated_normal": _TRUNCATED,
    "uniform": _UNIFORM,
    "zero": initializers.Zeros,
    "zeros": initializers.Zeros,
}

# Arguments' defaults.
ZEROS = initializers.Zeros()
ONES = initializers.Ones()

REGULARIZERS: dict[str, Callable[..., Any]] = {}
CONSTRAINTS: dict[str, Callable[..., Any]] = {}

#: What a program registered under names of its own (`tf.keras.utils.custom_object_scope`).
CUSTOM_OBJECTS: dict[str, Any] = {}


def activation(identifier: Any) -> Callable[..., Any]:
    """The activation function that a name or function stands for; None is `linear`."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return _found(identifier, ACTIVATIONS, "activation function")
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")


def initializer(identifier: Any) -> Any:
    """The initializer that a name, configuration or function stands for."""
    return _object(identifier, INITIALIZERS, "initializer")


def regularizer(identifier: Any) -> Any:
    """The regularizer that a name, configuration or function stands for."""
    return _object(identifier, REGULARIZERS, "regularizer")


def constraint(identifier: Any) -> Any:
    """The constraint that a name, configuration or function stands for."""
    return _object(identifier, CONSTRAINTS, "constraint")


def _object(identifier: Any, table: dict[str, Callable[..., Any]], kind: str) -> Any:
    if identifier is None:
        return None
    if isinstance(identifier, str):
        found = _found(identifier, table, kind)
        is_function = identifier in CUSTOM_OBJECTS and not inspect.isclass(found)
        return found if is_function else found()
    if isinstance(identifier, dict):
        make = _found(identifier["class_name"], table, kind)
        return make(**identifier.get("config", {}))
    if inspect.isclass(identifier) and kind == "initializer":
        return identifier()
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret {kind} identifier: {identifier}")


def _found(name: str, table: dict[str, Callable[..., Any]], kind: str) -> Callable[..., Any]:
    found = CUSTOM_OBJECTS.get(name, table.get(name))
    if found is None:
        raise ValueError(f"Unknown {kind}:{name}")
    return found
