"""Inception v3 (Szegedy et al., 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.pooling import avg_pool2d
from penstock.contrib.layers.reshaping import dropout, softmax
from penstock.contrib.slim.nets.inception_parts import (
    Branches,
    Depth,
    EndPoints,
    Fork,
    Stage,
    avg_pool,
    conv,
    depth_function,
    end_points_of,
    inception_arg_scope,
    max_pool,
    padded,
    squeezed,
    trunc_normal,
    window_within,
)

#: A layer that halves the size of images.
_HALVING: dict[str, Any] = {"stride": 2, "padding": "VALID"}

_FIRST_STAGES: tuple[Stage, ...] = (
    ("Conv2d_1a_3x3", conv("Conv2d_1a_3x3", 32, stride=2)),
    ("Conv2d_2a_3x3", conv("Conv2d_2a_3x3", 32)),
    ("Conv2d_2b_3x3", conv("Conv2d_2b_3x3", 64, padding="SAME")),
    ("MaxPool_3a_3x3", max_pool("MaxPool_3a_3x3", stride=2)),
    ("Conv2d_3b_1x1", conv("Conv2d_3b_1x1", 80)),
    ("Conv2d_4a_3x3", conv("Conv2d_4a_3x3", 192)),
    ("MaxPool_5a_3x3", max_pool("MaxPool_5a_3x3", stride=2)),
)


def _module_5(
    after_pool: int, branch_1: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")
) -> Branches:
    """A module of images of 35 x 35."""
    return (
        [conv("Conv2d_0a_1x1", 64)],
        [conv(branch_1[0], 48), conv(branch_1[1], 64)],
        [conv("Conv2d_0a_1x1", 64), conv("Conv2d_0b_3x3", 96), conv("Conv2d_0c_3x3", 96)],
        [avg_pool("AvgPool_0a_3x3"), conv("Conv2d_0b_1x1", after_pool)],
    )


def _module_6(channels: int) -> Branches:
    """A module of images of 17 x 17, with windows of one row or column."""
    return (
        [conv("Conv2d_0a_1x1", 192)],
        [
            conv("Conv2d_0a_1x1", channels),
            conv("Conv2d_0b_1x7", channels),
            conv("Conv2d_0c_7x1", 192),
        ],
        [
            conv("Conv2d_0a_1x1", channels),
            conv("Conv2d_0b_7x1", channels),
            conv("Conv2d_0c_1x7", channels),
            conv("Conv2d_0d_7x1", channels),
            conv("Conv2d_0e_1x7", 192),
        ],
        [avg_pool("AvgPool_0a_3x3"), conv("Conv2d_0b_1x1", 192)],
    )


def _module_7(second_of_branch_1: str) -> Branches:
    """A module of images of 8 x 8, whose branches fork."""
    return (
        [conv("Conv2d_0a_1x1", 320)],
        [
            conv("Conv2d_0a_1x1", 384),
            Fork((conv("Conv2d_0b_1x3", 384), conv(second_of_branch_1, 384))),
        ],
        [
            conv("Conv2d_0a_1x1", 448),
            conv("Conv2d_0b_3x3", 384),
            Fork((conv("Conv2d_0c_1x3", 384), conv("Conv2d_0d_3x1", 384))),
        ],
        [avg_pool("AvgPool_0a_3x3"), conv("Conv2d_0b_1x1", 192)],
    )


# Some scopes are named unlike their layers; public checkpoints have these names.
_MODULES: tuple[Stage, ...] = (
    ("Mixed_5b", _module_5(32)),
    ("Mixed_5c", _module_5(64, branch_1=("Conv2d_0b_1x1", "Conv_1_0c_5x5"))),
    ("Mixed_5d", _module_5(64)),
    (
        "Mixed_6a",
        (
            [conv("Conv2d_1a_1x1", 384, window=[3, 3], **_HALVING)],
            [
                conv("Conv2d_0a_1x1", 64),
                conv("Conv2d_0b_3x3", 96),
                conv("Conv2d_1a_1x1", 96, window=[3, 3], **_HALVING),
            ],
            [max_pool("MaxPool_1a_3x3", **_HALVING)],
        ),
    ),
    ("Mixed_6b", _module_6(128)),
    ("Mixed_6c", _module_6(160)),
    ("Mixed_6d", _module_6(160)),
    ("Mixed_6e", _module_6(192)),
    (
        "Mixed_7a",
        (
            [conv("Conv2d_0a_1x1", 192), conv("Conv2d_1a_3x3", 320, **_HALVING)],
            [
                conv("Conv2d_0a_1x1", 192),
                conv("Conv2d_0b_1x7", 192),
                conv("Conv2d_0c_7x1", 192),
                conv("Conv2d_1a_3x3", 192, **_HALVING),
            ],
            [max_pool("MaxPool_1a_3x3", **_HALVING)],
        ),
    ),
    ("Mixed_7b", _module_7("Conv2d_0b_3x1")),
    ("Mixed_7c", _module_7("Conv2d_0c_3x1")),
)


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, EndPoints]:
    """The network up to an end point: its outputs, and those of all end points by name."""
    end_points: EndPoints = {}
    depth = depth_function(depth_multiplier, min_depth)
    net = inputs
    with tf.variable_scope(scope, "InceptionV3", [inputs]):
        for padding, stages in (("VALID", _FIRST_STAGES), ("SAME", _MODULES)):
            with padded(padding, avg_pool2d):
                for name, outputs in end_points_of(net, stages, depth):
                    net = end_points[name] = outputs
                    if name == final_endpoint:
                        return net, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Any] = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> tuple[Any, EndPoints]:
    """Logits of images, and the outputs of all end points by name, `AuxLogits` among them.

    Args:
      depth_multiplier: factor of the channels of all layers.
      min_depth: least number of channels.
    """
    depth = depth_function(depth_multiplier, min_depth)
    with (
        tf.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(
            inputs, scope=opened, min_depth=min_depth, depth_multiplier=depth_multiplier
        )
        with padded("SAME", avg_pool2d), tf.variable_scope("AuxLogits"):
            auxiliary = _auxiliary_logits(end_points["Mixed_6e"], num_classes, depth)
            end_points["AuxLogits"] = squeezed(auxiliary, spatial_squeeze)
        with tf.variable_scope("Logits"):
            window = window_within(net, [8, 8])
            name = f"AvgPool_1a_{window[0]}x{window[1]}"
            net = avg_pool2d(net, window, padding="VALID", scope=name)
            net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
            end_points["PreLogits"] = net
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


def _auxiliary_logits(net: Any, num_classes: int, depth: Depth) -> Any:
    """The logits of a second classifier, which sees the middle of the network."""
    net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
    net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
    window = window_within(net, [5, 5])
    net = conv2d(
        net,
        depth(768),
        window,
        weights_initializer=trunc_normal(0.01),
        padding="VALID",
        scope=f"Conv2d_2a_{window[0]}x{window[1]}",
    )
    return conv2d(
        net,
        num_classes,
        [1, 1],
        activation_fn=None,
        normalizer_fn=None,
        weights_initializer=trunc_normal(0.001),
        scope="Conv2d_2b_1x1",
    )


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Scope:
    """The arguments with which Inception v3 is trained."""
    return inception_arg_scope(
        weight_decay,
        batch_norm_var_collection,
        decay=batch_norm_decay,
        epsilon=batch_norm_epsilon,
        updates_collections=updates_collections,
        fused=use_fused_batchnorm,
    )
