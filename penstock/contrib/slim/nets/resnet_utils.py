"""What residual networks of both forms are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, add_arg_scope, arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.initializers import variance_scaling_initializer
from penstock.contrib.layers.named_outputs import (
    collect_named_outputs,
    convert_collection_to_dict,
)
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.layers.regularizers import l2_regularizer
from penstock.contrib.layers.reshaping import softmax

EndPoints = dict[str, Any]


class Block(NamedTuple):
    """A group of residual units: its scope, the function of a unit, the arguments of each."""

    scope: str
    unit_fn: Callable[..., Any]
    args: Sequence[dict[str, Any]]


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every so many-th element of images in both directions."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Any:
    """A padded convolution whose padding does not depend on the size of images."""
    if stride == 1:
        return conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    total = (kernel_size - 1) * rate
    before = total // 2
    sides = [before, total - before]
    padded = tf.pad(inputs, [[0, 0], sides, sides, [0, 0]])
    return conv2d(
        padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope
    )


@add_arg_scope
def stack_blocks_dense(
    net: Any,
    blocks: Sequence[Block],
    output_stride: float | None = None,
    outputs_collections: Any = None,
) -> Any:
    """Applies blocks of units one after the other.

    Args:
      output_stride: how many times smaller the outputs are to be; once that is reached, units
        dilate their convolutions where they would stride.
    """
    unreachable = ValueError("The target output_stride cannot be reached.")
    current_stride = rate = 1
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as opened:
            for number, unit in enumerate(block.args, start=1):
                if output_stride is not None and current_stride > output_stride:
                    raise unreachable
                with tf.variable_scope(f"unit_{number}", values=[net]):
                    if output_stride is not None and current_stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current_stride *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, opened.name, net)
    if output_stride is not None and current_stride != output_stride:
        raise unreachable
    return net


def bottlenecks(
    scope: str, unit_fn: Callable[..., Any], base_depth: int, num_units: int, stride: int
) -> Block:
    """A block of bottleneck units, of which the last one strides."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    strides = [1] * (num_units - 1) + [stride]
    return Block(scope, unit_fn, [{**unit, "stride": each} for each in strides])


def reduced_output_stride(output_stride: int | None) -> float | None:
    """What is left of the stride for the blocks after the root, which takes four."""
    if output_stride is None:
        return None
    if output_stride % 4:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    return output_stride / 4


def with_logits(
    net: Any, num_classes: int | None, global_pool: bool, collection: str
) -> tuple[Any, EndPoints]:
    """The pooled outputs, or logits of classes, and the outputs of all layers by name."""
    if global_pool:
        net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
    if num_classes is not None:
        net = conv2d(
            net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits"
        )
    end_points: EndPoints = convert_collection_to_dict(collection)
    if num_classes is not None:
        end_points["predictions"] = softmax(net, scope="predictions")
    return net, end_points


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Scope:
    """The arguments with which residual networks are trained."""
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [conv2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=tf.nn.relu,
            normalizer_fn=batch_norm,
            normalizer_params=normalization,
        ),
        arg_scope([batch_norm], **normalization),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope
