"""What the functions of layers share: names of variables, collections, the end of a layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.known_values import get_variable_collections
from penstock.contrib.layers.named_outputs import collect_named_outputs
from penstock.ops.partitioned_variables import PartitionedVariable

#: What the variables of `tf.layers` are called here.
KERNEL_AND_BIAS = {"kernel": "weights", "bias": "biases"}

#: The arguments of `get_variable` that are handed on to `model_variable`.
_HANDED_ON = (
    "shape",
    "dtype",
    "initializer",
    "regularizer",
    "trainable",
    "collections",
    "caching_device",
    "partitioner",
    "use_resource",
    "synchronization",
    "aggregation",
)


def model_variable_getter(rename: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """A custom getter that makes variables of the model, under other last parts of names."""
    names = rename or {}

    def renaming(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        scope, slash, last = name.rpartition("/")
        settings = {key: kwargs[key] for key in _HANDED_ON if key in kwargs}
        return model_variable(
            f"{scope}{slash}{names.get(last, last)}", *args, custom_getter=getter, **settings
        )

    return renaming


def add_to_collections(variable: Any, collections: Any, name: str) -> None:
    """Adds a variable (the parts of a partitioned one) to the collections meant for its name."""
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in get_variable_collections(collections, name) or []:
        known = {id(member) for member in tf.get_collection(collection)}
        for part in parts:
            if id(part) not in known:
                tf.add_to_collection(collection, part)


def finished(
    outputs: Any,
    scope_name: str,
    activation_fn: Callable[[Any], Any] | None,
    outputs_collections: Any,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
) -> Any:
    """Outputs after normalization and activation, in the collections of outputs."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope_name, outputs)


def keras_data_format(data_format: str | None, *allowed: str) -> str:
    """The name that `tf.layers` has for a format such as NHWC."""
    if allowed and data_format not in allowed:
        raise ValueError(f"data_format has to be either {' or '.join(allowed)}.")
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"
