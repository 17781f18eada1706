"""Where tensors come from and where code runs: what is asked of `base_layer_utils`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import penstock as tf
from penstock.ir.auto_casts import reading_as
from penstock.keras import backend as K
from penstock.keras.engine.layer_graph import is_layer_graph
from penstock.keras.engine.op_layers import add_history
from penstock.layers.call_context import CallContext, is_of_values
from penstock.layers.call_context import call_context as _innermost

__all__ = [
    "CallContext",
    "autocast_context_manager",
    "call_context",
    "collect_previous_mask",
    "create_keras_history",
    "create_mean_metric",
    "default",
    "from_saved_model",
    "generate_placeholders_from_shape",
    "have_all_keras_metadata",
    "is_in_eager_or_tf_function",
    "is_in_keras_graph",
    "is_in_tf_function",
    "is_subclassed",
    "mark_checked",
    "needs_keras_history",
    "uses_keras_history",
]


def call_context() -> CallContext:
    """The innermost call of a layer in this thread."""
    return _innermost


def collect_previous_mask(input_tensors: Any) -> Any:
    """The masks of tensors, in their structure."""
    return tf.nest.map_structure(lambda each: getattr(each, "_keras_mask", None), input_tensors)


def have_all_keras_metadata(tensors: Any) -> bool:
    """Whether layers made all of the tensors."""
    return all(hasattr(each, "_keras_history") for each in tf.nest.flatten(tensors))


def generate_placeholders_from_shape(shape: Any) -> Any:
    """A placeholder of Keras' own type."""
    return tf.placeholder(shape=shape, dtype=K.floatx())


def create_mean_metric(value: Any, name: str | None = None) -> tuple[Any, Any]:
    """A new mean of a value, and its result."""
    from penstock.keras.metrics import Mean

    metric = Mean(name=name)
    return metric, metric(value)


def uses_keras_history(tensors: Any) -> bool:
    """Whether one of the tensors was computed from what a layer made."""
    seen: set[int] = set()
    pending = tf.nest.flatten(tensors)
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen or hasattr(tensor, "_keras_history_checked"):
            continue
        seen.add(id(tensor))
        if getattr(tensor, "_keras_history", None) is not None:
            return True
        if isinstance(tensor, tf.Tensor) and not tensor._op.graph.is_eager:
            pending += tensor.op.inputs
    mark_checked(tensors)
    return False


def mark_checked(tensors: Any) -> None:
    """Notes that tensors come from no layer."""
    for each in tf.nest.flatten(tensors):
        each._keras_history_checked = True


def needs_keras_history(tensors: Any, ignore_call_context: bool = False) -> bool:
    """Whether plain operations led from layers to one of the tensors."""
    if _innermost.in_call and not ignore_call_context:
        return False
    if have_all_keras_metadata(tensors):
        return False
    return uses_keras_history(tensors)


def create_keras_history(tensors: Any) -> list[Any]:
    """Makes layers of the plain operations that led from layers to tensors; the new layers."""
    return add_history(tensors)


def is_in_keras_graph() -> bool:
    """Whether nodes are added to the graph of layers of eager mode."""
    return is_layer_graph()


def is_in_eager_or_tf_function() -> bool:
    """Whether layers are called in eager mode, or in a `tf.function` of it."""
    return is_of_values()


def is_in_tf_function() -> bool:
    """Whether a `tf.function` of eager mode is being traced."""
    return is_of_values() and not tf.executing_eagerly()


def autocast_context_manager(dtype: Any) -> AbstractContextManager[Any]:
    """A block in which weights of mixed precision are read in a type, if that is a real one."""
    is_real = dtype and tf.as_dtype(dtype).is_floating
    return reading_as(tf.as_dtype(dtype) if is_real else None)


def is_subclassed(layer: Any) -> bool:
    """Whether a layer is of a program's own class."""
    return all(part not in layer.__module__ for part in ("keras.engine", "keras.layers"))


def from_saved_model(layer: Any) -> bool:
    """Whether a layer was made from a SavedModel."""
    return "keras.revived_layers" in layer.__module__


def default(method: Any) -> Any:
    """Marks a method, to see where a subclass has another."""
    method._is_default = True
    return method
