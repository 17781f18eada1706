"""Shapes of inputs and outputs: one, or a structure of lists, tuples and dictionaries of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf


def is_shape(value: Any) -> bool:
    """Whether a value is one shape, not a structure of several."""
    if isinstance(value, tf.TensorShape):
        return True
    if not isinstance(value, (list, tuple)):
        return False
    return all(size is None or isinstance(size, (int, np.integer, tf.Dimension)) for size in value)


def map_shapes(function: Callable[[Any], Any], shapes: Any) -> Any:
    """The same structure with the function's result for each shape."""
    if is_shape(shapes):
        return function(shapes)
    if isinstance(shapes, dict):
        return {key: map_shapes(function, each) for key, each in shapes.items()}
    mapped = [map_shapes(function, each) for each in shapes]
    return shapes._make(mapped) if hasattr(shapes, "_make") else type(shapes)(mapped)


def first_shape(shapes: Any) -> Any:
    """The first shape of a structure."""
    while not is_shape(shapes):
        shapes = next(iter(shapes.values())) if isinstance(shapes, dict) else shapes[0]
    return shapes


def tried_shape(layer: Any, input_shape: Any) -> Any:
    """The shape of the outputs of a layer of eager mode: it is built, and called in a graph."""
    from penstock.keras import backend as K
    from penstock.ops.concrete_functions import FuncGraph

    if not layer.built:
        layer.build(map_shapes(tf.TensorShape, input_shape))
        layer.built = True
    graph: Any = FuncGraph("graph")
    graph.takes_eager_ops = True
    with graph.as_default():
        dtype = layer.dtype or K.floatx()
        trial = map_shapes(lambda shape: tf.placeholder(dtype, shape=shape), input_shape)
        given = {"training": False} if layer._expects_training_arg else {}
        try:
            outputs = layer(trial, **given)
        except TypeError:
            raise NotImplementedError(
                "could not automatically infer the static shape of the layer's output: "
                f"{type(layer).__name__} needs a method `compute_output_shape`"
            ) from None
    return tf.nest.map_structure(lambda each: each.shape, outputs)
