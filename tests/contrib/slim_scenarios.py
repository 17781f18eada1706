"""Models whose variables, outputs and losses are compared with those that TensorFlow made.

Each scenario gets a module `tf` and a namespace `slim`, and gives tensors by name. The same code
runs here and, by `record_slim.py`, on TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Scenario = Callable[[Any, Any], dict[str, Any]]

SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def images(tf: Any, size: int = 8, channels: int = 3) -> Any:
    values = np.random.RandomState(0).rand(2, size, size, channels)
    return tf.constant(values.astype(np.float32))


@scenario
def convolutions(tf: Any, slim: Any) -> dict[str, Any]:
    x = images(tf)
    return {
        "plain": slim.conv2d(x, 4, 3, scope="plain"),
        "strided": slim.conv2d(x, 4, [3, 5], stride=2, padding="VALID", activation_fn=None),
        "dilated": slim.conv2d(x, 4, 3, rate=2),
        "in_plane": slim.conv2d_in_plane(x, 3),
        "separable": slim.separable_conv2d(x, 5, 3, depth_multiplier=2),
        "depthwise": slim.separable_conv2d(x, None, 3, depth_multiplier=2),
        "transposed": slim.conv2d_transpose(x, 4, 3, stride=2),
        "one_dimension": slim.convolution(x[:, :, 0], 4, 3),
    }


@scenario
def normalizations(tf: Any, slim: Any) -> dict[str, Any]:
    x = images(tf)
    return {
        "fused": slim.batch_norm(x, scale=True),
        "in_place": slim.batch_norm(x, updates_collections=None),
        "debiased": slim.batch_norm(x, zero_debias_moving_mean=True, fused=False),
        "weighted": slim.batch_norm(x, batch_weights=tf.constant([0.25, 0.75])),
        "rows": slim.batch_norm(slim.flatten(x), center=False, scale=True),
        "inference": slim.batch_norm(x, is_training=False),
        "layer": slim.layer_norm(x, begin_norm_axis=2),
        "unit": slim.unit_norm(x, 3),
    }


@scenario
def pooling_and_shapes(tf: Any, slim: Any) -> dict[str, Any]:
    x = images(tf)
    return {
        "max": slim.max_pool2d(x, [2, 2], scope="max"),
        "average": slim.avg_pool2d(x, 3, stride=1, padding="SAME"),
        "flat": slim.flatten(x),
        "one_hot": slim.one_hot_encoding(tf.constant([2, 0]), 4),
        "softmax": slim.softmax(x),
        "dropout": slim.dropout(x, 0.8, is_training=False),
        "maxout": slim.maxout(slim.flatten(x), 4),
        "spatial_softmax": slim.spatial_softmax(x),
    }


@scenario
def scopes_and_collections(tf: Any, slim: Any) -> dict[str, Any]:
    x = images(tf)
    regularized = slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(0.01),
        variables_collections={"weights": ["all_weights"]},
        outputs_collections=["outputs"],
    )
    with regularized, slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm):
        net = slim.repeat(x, 2, slim.conv2d, 4, [3, 3], scope="block")
        net = slim.repeat(net, 1, slim.conv2d, 2, 1)
        net = slim.stack(slim.flatten(net), slim.fully_connected, [5, 3], scope="fc")
    weights = tf.get_collection("all_weights")
    return {"net": net, "weights": tf.add_n([tf.reduce_sum(each) for each in weights])}


@scenario
def training(tf: Any, slim: Any) -> dict[str, Any]:
    x = images(tf)
    net = slim.conv2d(x, 8, 3, normalizer_fn=slim.batch_norm, normalizer_params={"decay": 0.9})
    net = slim.fully_connected(slim.flatten(net), 3, activation_fn=None)
    labels = slim.one_hot_encoding([0, 2], 3)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=net))
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    train_op = slim.learning.create_train_op(
        loss,
        optimizer,
        clip_gradient_norm=0.5,
        gradient_multipliers={"fully_connected/weights": 2.0},
    )
    return {"train": train_op}
