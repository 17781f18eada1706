"""The inputs of exported models, in the older form."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import penstock as tf

#: Features, labels, and the tensors to feed.
InputFnOps = namedtuple("InputFnOps", ["features", "labels", "default_inputs"])


def build_parsing_serving_input_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function for export whose model is fed serialized Examples."""

    def input_fn() -> InputFnOps:
        examples = tf.placeholder(
            dtype=tf.string, shape=[default_batch_size], name="input_example_tensor"
        )
        features = tf.parse_example(examples, feature_spec)
        return InputFnOps(features, None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function for export whose model is fed features as they are."""

    def input_fn() -> InputFnOps:
        placeholders = {}
        for name, tensor in features.items():
            shape = [default_batch_size, *tensor.get_shape().as_list()[1:]]
            placeholders[name] = tf.placeholder(tensor.dtype, shape=shape, name=tensor.op.name)
        return InputFnOps(placeholders, None, placeholders)

    return input_fn
