"""Inception v2, with batch normalization (Ioffe and Szegedy, 2015)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.pooling import avg_pool2d
from penstock.contrib.layers.reshaping import dropout, softmax
from penstock.contrib.slim.nets.inception_parts import (
    Branches,
    EndPoints,
    Layer,
    Stage,
    avg_pool,
    conv,
    depth_function,
    end_points_of,
    inception_arg_scope,
    max_pool,
    padded,
    separable_conv2d,
    squeezed,
    trunc_normal,
    window_within,
)

_AVERAGE = avg_pool("AvgPool_0a_3x3")


def _module(*channels: int, pool: Layer = _AVERAGE) -> Branches:
    """A module, by the channels of its branches (those of two equal layers given once)."""
    alone, before_1, in_1, before_2, in_2, after_pool = channels
    return (
        [conv("Conv2d_0a_1x1", alone)],
        [conv("Conv2d_0a_1x1", before_1, 0.09), conv("Conv2d_0b_3x3", in_1)],
        [
            conv("Conv2d_0a_1x1", before_2, 0.09),
            conv("Conv2d_0b_3x3", in_2),
            conv("Conv2d_0c_3x3", in_2),
        ],
        [pool, conv("Conv2d_0b_1x1", after_pool, 0.1)],
    )


def _reduction(before_0: int, in_0: int, before_1: int, in_1: int) -> Branches:
    """A module that halves the size of images."""
    return (
        [conv("Conv2d_0a_1x1", before_0, 0.09), conv("Conv2d_1a_3x3", in_0, stride=2)],
        [
            conv("Conv2d_0a_1x1", before_1, 0.09),
            conv("Conv2d_0b_3x3", in_1),
            conv("Conv2d_1a_3x3", in_1, stride=2),
        ],
        [max_pool("MaxPool_1a_3x3", stride=2)],
    )


_STAGES: tuple[Stage, ...] = (
    ("MaxPool_2a_3x3", max_pool("MaxPool_2a_3x3", stride=2)),
    ("Conv2d_2b_1x1", conv("Conv2d_2b_1x1", 64, 0.1)),
    ("Conv2d_2c_3x3", conv("Conv2d_2c_3x3", 192)),
    ("MaxPool_3a_3x3", max_pool("MaxPool_3a_3x3", stride=2)),
    ("Mixed_3b", _module(64, 64, 64, 64, 96, 32)),
    ("Mixed_3c", _module(64, 64, 96, 64, 96, 64)),
    ("Mixed_4a", _reduction(128, 160, 64, 96)),
    ("Mixed_4b", _module(224, 64, 96, 96, 128, 128)),
    ("Mixed_4c", _module(192, 96, 128, 96, 128, 128)),
    ("Mixed_4d", _module(160, 128, 160, 128, 160, 96)),
    ("Mixed_4e", _module(96, 128, 192, 160, 192, 96)),
    ("Mixed_5a", _reduction(128, 192, 192, 256)),
    ("Mixed_5b", _module(352, 192, 320, 160, 224, 128)),
    ("Mixed_5c", _module(352, 192, 320, 192, 224, 128, pool=max_pool("MaxPool_0a_3x3"))),
)


def _stages(first_depth: int) -> Sequence[Stage]:
    """All stages; the first convolution's multiplier depends on the width of the network."""
    first = Layer(
        separable_conv2d,
        "Conv2d_1a_7x7",
        64,
        {
            "depth_multiplier": min(int(first_depth / 3), 8),
            "stride": 2,
            "weights_initializer": trunc_normal(1.0),
        },
    )
    return (("Conv2d_1a_7x7", first), *_STAGES)


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, EndPoints]:
    """The network up to an end point: its outputs, and those of all end points by name."""
    end_points: EndPoints = {}
    depth = depth_function(depth_multiplier, min_depth)
    with (
        tf.variable_scope(scope, "InceptionV2", [inputs]),
        padded("SAME", avg_pool2d, separable_conv2d),
    ):
        for name, net in end_points_of(inputs, _stages(depth(64)), depth):
            end_points[name] = net
            if name == final_endpoint:
                return net, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Any] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV2",
) -> tuple[Any, EndPoints]:
    """Logits of images, and the outputs of all end points by name.

    Args:
      depth_multiplier: factor of the channels of all layers.
      min_depth: least number of channels.
    """
    depth_function(depth_multiplier, min_depth)
    with (
        tf.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(
            inputs, scope=opened, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with tf.variable_scope("Logits"):
            window = window_within(net, [7, 7])
            name = f"AvgPool_1a_{window[0]}x{window[1]}"
            net = avg_pool2d(net, window, padding="VALID", scope=name)
            net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
            logits = conv2d(
                net,
                num_classes,
                [1, 1],
                activation_fn=None,
                normalizer_fn=None,
                scope="Conv2d_1c_1x1",
            )
            logits = squeezed(logits, spatial_squeeze)
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Scope:
    """The arguments with which Inception v2 is trained."""
    return inception_arg_scope(weight_decay, batch_norm_var_collection)
