"""Inception v1, known as GoogLeNet (Szegedy et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.pooling import avg_pool2d
from penstock.contrib.layers.reshaping import dropout, softmax
from penstock.contrib.slim.nets.inception_parts import (
    Branches,
    EndPoints,
    Stage,
    conv,
    end_points_of,
    inception_arg_scope,
    max_pool,
    padded,
    squeezed,
    trunc_normal,
)


def _module(*channels: int, last_of_branch_2: str = "Conv2d_0b_3x3") -> Branches:
    """A module, by the channels of its six convolutions."""
    alone, before_1, in_1, before_2, in_2, after_pool = channels
    return (
        [conv("Conv2d_0a_1x1", alone)],
        [conv("Conv2d_0a_1x1", before_1), conv("Conv2d_0b_3x3", in_1)],
        [conv("Conv2d_0a_1x1", before_2), conv(last_of_branch_2, in_2)],
        [max_pool("MaxPool_0a_3x3"), conv("Conv2d_0b_1x1", after_pool)],
    )


_STAGES: tuple[Stage, ...] = (
    ("Conv2d_1a_7x7", conv("Conv2d_1a_7x7", 64, stride=2)),
    ("MaxPool_2a_3x3", max_pool("MaxPool_2a_3x3", stride=2)),
    ("Conv2d_2b_1x1", conv("Conv2d_2b_1x1", 64)),
    ("Conv2d_2c_3x3", conv("Conv2d_2c_3x3", 192)),
    ("MaxPool_3a_3x3", max_pool("MaxPool_3a_3x3", stride=2)),
    ("Mixed_3b", _module(64, 96, 128, 16, 32, 32)),
    ("Mixed_3c", _module(128, 128, 192, 32, 96, 64)),
    ("MaxPool_4a_3x3", max_pool("MaxPool_4a_3x3", stride=2)),
    ("Mixed_4b", _module(192, 96, 208, 16, 48, 64)),
    ("Mixed_4c", _module(160, 112, 224, 24, 64, 64)),
    ("Mixed_4d", _module(128, 128, 256, 24, 64, 64)),
    ("Mixed_4e", _module(112, 144, 288, 32, 64, 64)),
    ("Mixed_4f", _module(256, 160, 320, 32, 128, 128)),
    ("MaxPool_5a_2x2", max_pool("MaxPool_5a_2x2", stride=2)),
    # The public checkpoint has this name for the layer.
    ("Mixed_5b", _module(256, 160, 320, 32, 128, 128, last_of_branch_2="Conv2d_0a_3x3")),
    ("Mixed_5c", _module(384, 192, 384, 48, 128, 128)),
)


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Any, EndPoints]:
    """The network up to an end point: its outputs, and those of all end points by name."""
    end_points: EndPoints = {}
    with (
        tf.variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([conv2d, fully_connected], weights_initializer=trunc_normal(0.01)),
        padded("SAME"),
    ):
        for name, net in end_points_of(inputs, _STAGES, depth=lambda channels: channels):
            end_points[name] = net
            if name == final_endpoint:
                return net, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., Any] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV1",
) -> tuple[Any, EndPoints]:
    """Logits of images, and the outputs of all end points by name."""
    with (
        tf.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=opened)
        with tf.variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = conv2d(
                net,
                num_classes,
                [1, 1],
                activation_fn=None,
                normalizer_fn=None,
                scope="Conv2d_0c_1x1",
            )
            logits = squeezed(logits, spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Scope:
    """The arguments with which Inception v1 is trained."""
    return inception_arg_scope(weight_decay, batch_norm_var_collection, use_batch_norm)
