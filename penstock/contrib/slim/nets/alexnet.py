"""AlexNet in its second form (Krizhevsky, 2014)."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.slim.nets.fully_convolutional import (
    EndPoints,
    classifier,
    decayed_arg_scope,
    with_end_points,
)


def trunc_normal(stddev: float) -> Any:
    """An initializer with a truncated normal distribution around zero."""
    return tf.truncated_normal_initializer(0.0, stddev)


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The arguments with which AlexNet is trained."""
    with (
        arg_scope(decayed_arg_scope(weight_decay, tf.constant_initializer(0.1))),
        arg_scope([max_pool2d], padding="VALID") as scope,
    ):
        return scope


def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
) -> tuple[Any, EndPoints]:
    """Logits of images, and the outputs of all layers by name."""
    with tf.variable_scope(scope, "alexnet_v2", [inputs]) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[collection]):
            net = conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = conv2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            net = conv2d(net, 384, [3, 3], scope="conv3")
            net = conv2d(net, 384, [3, 3], scope="conv4")
            net = conv2d(net, 256, [3, 3], scope="conv5")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope(
                [conv2d],
                weights_initializer=trunc_normal(0.005),
                biases_initializer=tf.constant_initializer(0.1),
            ):
                net = classifier(
                    net,
                    (4096, 4096, num_classes),
                    [5, 5],
                    is_training,
                    dropout_keep_prob,
                    {"biases_initializer": tf.zeros_initializer()},
                )
            return with_end_points(net, collection, opened.name, spatial_squeeze)


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]
