"""Pooling: the maximum or the average of windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.layers.building import keras_data_format
from penstock.contrib.layers.known_values import n_positive_integers
from penstock.contrib.layers.named_outputs import collect_named_outputs

__all__ = ["avg_pool2d", "avg_pool3d", "max_pool2d", "max_pool3d", "pool"]


def _pooling(
    name: str, layer_class: type, default_scope: str, formats: tuple[str, str], doc: str
) -> Callable[..., Any]:
    def pooled(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = formats[1],
        outputs_collections: Any = None,
        scope: Any = None,
    ) -> Any:
        channels = keras_data_format(data_format, *formats)
        with tf.name_scope(scope, default_scope, [inputs]) as opened:
            layer = layer_class(
                pool_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=channels,
                _scope=opened,
            )
            outputs = layer.apply(tf.convert_to_tensor(inputs))
            return collect_named_outputs(outputs_collections, opened, outputs)

    # The name is part of what users see: `repeat` and `stack` make scopes of it.
    pooled.__name__ = pooled.__qualname__ = name
    pooled.__doc__ = doc
    return add_arg_scope(pooled)


avg_pool2d = _pooling(
    "avg_pool2d",
    tf.layers.AveragePooling2D,
    "AvgPool2D",
    ("NCHW", "NHWC"),
    "The average of each window of images.",
)
avg_pool3d = _pooling(
    "avg_pool3d",
    tf.layers.AveragePooling3D,
    "AvgPool3D",
    ("NCDHW", "NDHWC"),
    "The average of each window of volumes.",
)
max_pool2d = _pooling(
    "max_pool2d",
    tf.layers.MaxPooling2D,
    "MaxPool2D",
    ("NCHW", "NHWC"),
    "The maximum of each window of images.",
)
max_pool3d = _pooling(
    "max_pool3d",
    tf.layers.MaxPooling3D,
    "MaxPool3D",
    ("NCDHW", "NDHWC"),
    "The maximum of each window of volumes.",
)


@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Pooling over all spatial dimensions.

    Args:
      pooling_type: `AVG` or `MAX`.
    """
    with tf.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        outputs = tf.nn.pool(
            input=inputs,
            window_shape=n_positive_integers(rank - 2, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=n_positive_integers(rank - 2, dilation_rate),
            strides=n_positive_integers(rank - 2, stride),
            name=opened,
        )
        return collect_named_outputs(outputs_collections, opened, outputs)
