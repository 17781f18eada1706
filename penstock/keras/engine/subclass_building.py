"""Building of subclassed models: their `call` on placeholders of given shapes."""

from __future__ import annotations

import inspect
from typing import Any

import penstock as tf
from penstock.keras import backend as K


def built_by_call(model: Any, input_shape: Any) -> None:
    """Calls a model on placeholders, so that its layers make their variables.

    Args:
      input_shape: the shape of its inputs, or a list of shapes.
    """
    if input_shape is None:
        raise ValueError(
            "Input shape must be defined when calling build on a model subclass network."
        )
    if not isinstance(input_shape, (tuple, list, tf.TensorShape)):
        raise ValueError(
            "Specified input shape is not one of the valid types. Please specify a batch input "
            "shape of type tuple or list of input shapes. User provided input type: "
            f"{type(input_shape)}"
        )
    inputs = tf.nest.map_structure(lambda shape: K.placeholder(shape=shape), _shapes(input_shape))
    arguments = _further_arguments(model)
    try:
        model.call(inputs, **arguments)  # the variables have no prefix of the model's name
    except (tf.errors.InvalidArgumentError, TypeError) as error:
        raise ValueError(
            "You cannot build your model by calling `build` if your layers do not support float "
            "type inputs. Instead, in order to instantiate and build your model, `call` your model "
            f"on real tensor data (of the correct dtype). {error}"
        ) from error


def _further_arguments(model: Any) -> dict[str, Any]:
    """What `call` needs beside its inputs, which may be `training` alone."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [
        each for each in inspect.signature(model.call).parameters.values() if each.kind in kinds
    ]
    if not given:
        raise ValueError(
            "You can only call `build` on a model if its `call` method accepts an `inputs` "
            "argument."
        )
    needed = [each.name for each in given[1:] if each.default is inspect.Parameter.empty]
    if set(needed) - {"training"}:
        raise ValueError(
            "Currently, you cannot build your model if it has positional or keyword arguments that "
            "are not inputs to the model, but are required for its `call` method. Instead, in "
            "order to instantiate and build your model, `call` your model on real tensor data with "
            "all expected call arguments."
        )
    return dict.fromkeys(needed, False)


def _shapes(input_shape: Any) -> Any:
    if isinstance(input_shape, tf.TensorShape):
        return input_shape
    is_several = (
        isinstance(input_shape, list)
        and input_shape
        and isinstance(input_shape[0], (list, tuple, tf.TensorShape))
    )
    if is_several:
        return [tf.TensorShape(shape) for shape in input_shape]
    return tf.TensorShape(input_shape)
