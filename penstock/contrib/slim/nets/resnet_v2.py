"""Residual networks in their second form (He et al., 2016): units begin with a rectifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope, arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.known_values import last_dimension
from penstock.contrib.layers.named_outputs import collect_named_outputs
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.slim.nets import resnet_utils
from penstock.contrib.slim.nets.resnet_utils import EndPoints, resnet_arg_scope

__all__ = [
    "bottleneck",
    "resnet_arg_scope",
    "resnet_v2",
    "resnet_v2_50",
    "resnet_v2_101",
    "resnet_v2_152",
    "resnet_v2_200",
    "resnet_v2_block",
]


@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """A residual unit of three convolutions, of which the middle one has fewer channels."""
    with tf.variable_scope(scope, "bottleneck_v2", [inputs]) as opened:
        before = batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        plain = {"normalizer_fn": None, "activation_fn": None}
        if depth == last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(before, depth, [1, 1], stride=stride, scope="shortcut", **plain)
        residual = conv2d(before, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(
            residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2"
        )
        residual = conv2d(residual, depth, [1, 1], stride=1, scope="conv3", **plain)
        return collect_named_outputs(outputs_collections, opened.name, shortcut + residual)


def resnet_v2(
    inputs: Any,
    blocks: Sequence[resnet_utils.Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, EndPoints]:
    """The outputs of a residual network, and those of all its layers by name.

    Args:
      num_classes: for logits of classes; None for features.
      global_pool: whether to average over all places.
      output_stride: how many times smaller outputs are than images; the rest is dilated.
      include_root_block: whether to begin with a convolution and pooling.
    """
    with tf.variable_scope(scope, "resnet_v2", [inputs], reuse=reuse) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        with (
            arg_scope(
                [conv2d, bottleneck, resnet_utils.stack_blocks_dense],
                outputs_collections=collection,
            ),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            remaining: float | None = output_stride
            if include_root_block:
                remaining = resnet_utils.reduced_output_stride(output_stride)
                with arg_scope([conv2d], activation_fn=None, normalizer_fn=None):
                    net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = resnet_utils.stack_blocks_dense(net, blocks, remaining)
            net = batch_norm(net, activation_fn=tf.nn.relu, scope="postnorm")
            return resnet_utils.with_logits(net, num_classes, global_pool, collection)


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Any:
    """A block of bottleneck units, of which the last one strides."""
    return resnet_utils.bottlenecks(scope, bottleneck, base_depth, num_units, stride)


def _network(layers: int, units: tuple[int, int, int]) -> Callable[..., tuple[Any, EndPoints]]:
    """The network with so many units in its first three blocks, and three in the last."""
    name = f"resnet_v2_{layers}"

    def network(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: Any = None,
        scope: Any = name,
    ) -> tuple[Any, EndPoints]:
        blocks = [
            resnet_v2_block("block1", base_depth=64, num_units=units[0], stride=2),
            resnet_v2_block("block2", base_depth=128, num_units=units[1], stride=2),
            resnet_v2_block("block3", base_depth=256, num_units=units[2], stride=2),
            resnet_v2_block("block4", base_depth=512, num_units=3, stride=1),
        ]
        return resnet_v2(
            inputs,
            blocks,
            num_classes,
            is_training,
            global_pool,
            output_stride,
            include_root_block=True,
            reuse=reuse,
            scope=scope,
        )

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"The residual network of {layers} layers; see `resnet_v2`."
    network.default_image_size = 224  # type: ignore[attr-defined]
    return network


resnet_v2_50 = _network(50, (3, 4, 6))
resnet_v2_101 = _network(101, (3, 4, 23))
resnet_v2_152 = _network(152, (3, 8, 36))
resnet_v2_200 = _network(200, (3, 24, 36))
