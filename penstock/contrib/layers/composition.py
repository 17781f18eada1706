"""Layers made of layers: `repeat` and `stack`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = ["repeat", "stack"]


def _scope_of(layer: Any, default: str) -> str:
    """The name of a layer's function, also of one in a `functools.partial`."""
    function = layer if hasattr(layer, "__name__") else getattr(layer, "func", None)
    return str(getattr(function, "__name__", default))


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Applies a layer several times with the same arguments, in scopes that are counted from 1."""
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Repeat", [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        prefix = scope if scope is not None else _scope_of(layer, "repeat")
        for index in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{prefix}_{index + 1}"})
        return outputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Applies a layer once for each element of `stack_args`, its own positional arguments."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with tf.variable_scope(scope, "Stack", [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        prefix = scope if scope is not None else _scope_of(layer, "stack")
        for index, each in enumerate(stack_args):
            args = each if isinstance(each, (list, tuple)) else [each]
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{prefix}_{index + 1}"})
        return outputs
