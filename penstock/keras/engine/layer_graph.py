"""Where models are built and trained in eager mode: in the graph of Keras' own layers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.composite_data import as_data

Method = Callable[..., Any]


def in_layer_graph(method: Method) -> Method:
    """Lets a method of a model work on the graph of its layers, in eager mode, too."""

    @functools.wraps(method)
    def inside(*args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            return method(*args, **kwargs)
        given = [_with_arrays(each) for each in args]
        named = {key: _with_arrays(each) for key, each in kwargs.items()}
        with K.get_graph().as_default():
            return method(*given, **named)

    return inside


def is_eager_outside() -> bool:
    """Whether this is eager mode, or work on the graph of its layers."""
    return tf.executing_eagerly() or is_layer_graph()


def outside_layer_graph() -> AbstractContextManager[Any]:
    """The mode in which a program called a model's method: for what the program gave it to call."""
    return tf.init_scope() if is_layer_graph() else nullcontext()


def is_layer_graph() -> bool:
    """Whether the default graph is that of Keras' layers in eager mode."""
    return bool(getattr(tf.get_default_graph(), "takes_eager_ops", False))


def _with_arrays(value: Any) -> Any:
    """A value, or plain structure of values, with arrays in the place of eager mode's tensors."""
    if type(value) in (list, tuple):
        return type(value)(_with_arrays(each) for each in value)
    if type(value) is dict:
        return {key: _with_arrays(each) for key, each in value.items()}
    return as_array(value)


def has_symbols(values: Any) -> bool:
    """Whether there are tensors of a graph among values."""
    return any(
        isinstance(each, tf.Tensor) and not each._op.graph.is_eager
        for each in tf.nest.flatten(values, expand_composites=True)
    )


def as_array(value: Any) -> Any:
    """A tensor of eager mode as an array or as data like one; other things stay as they are."""
    is_eager = isinstance(value, tf.Tensor) and value._op.graph.is_eager
    return value.numpy() if is_eager else as_data(value)
