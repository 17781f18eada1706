"""Inception networks as tables: end points, the branches of modules, the layers of branches.

A layer is named by its scope, whose end tells the size of its window: `Conv2d_0b_3x3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.batch_normalization import batch_norm
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.depthwise import separable_conv2d
from penstock.contrib.layers.initializers import variance_scaling_initializer
from penstock.contrib.layers.pooling import avg_pool2d, max_pool2d
from penstock.contrib.layers.regularizers import l2_regularizer

EndPoints = dict[str, Any]
Depth = Callable[[int], int]


def trunc_normal(stddev: float) -> Any:
    """An initializer with a truncated normal distribution around zero."""
    return tf.truncated_normal_initializer(0.0, stddev)


def _window(scope: str) -> list[int]:
    return [int(size) for size in scope.rpartition("_")[2].split("x")]


@dataclass(frozen=True)
class Layer:
    """One layer: the function, its scope, the channels of a convolution, and other arguments."""

    function: Callable[..., Any]
    scope: str
    channels: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def apply(self, net: Any, depth: Depth) -> Any:
        """The outputs of the layer."""
        settings = dict(self.settings)
        window = settings.pop("window", None) or _window(self.scope)
        if self.channels is None:
            return self.function(net, window, scope=self.scope, **settings)
        return self.function(net, depth(self.channels), window, scope=self.scope, **settings)


@dataclass(frozen=True)
class Fork:
    """Layers that all see the same inputs, and whose outputs are put side by side."""

    layers: tuple[Layer, ...]

    def apply(self, net: Any, depth: Depth) -> Any:
        """The outputs of all layers, by channel."""
        return tf.concat([layer.apply(net, depth) for layer in self.layers], 3)


def conv(scope: str, channels: int, stddev: float | None = None, **settings: Any) -> Layer:
    """A convolution; `stddev` is that of its first weights."""
    if stddev is not None:
        settings["weights_initializer"] = trunc_normal(stddev)
    return Layer(conv2d, scope, channels, settings)


def max_pool(scope: str, **settings: Any) -> Layer:
    """Pooling by maximum."""
    return Layer(max_pool2d, scope, settings=settings)


def avg_pool(scope: str, **settings: Any) -> Layer:
    """Pooling by average."""
    return Layer(avg_pool2d, scope, settings=settings)


#: The layers of each branch of a module, or the one layer of an end point.
Branches = Sequence[Sequence[Layer | Fork]]
Stage = tuple[str, Layer | Branches]


def end_points_of(net: Any, stages: Sequence[Stage], depth: Depth) -> Iterator[tuple[str, Any]]:
    """Builds stage after stage, and gives the name and the outputs of each."""
    for name, stage in stages:
        if isinstance(stage, Layer):
            net = stage.apply(net, depth)
        else:
            with tf.variable_scope(name):
                net = tf.concat(list(_branches(net, stage, depth)), 3)
        yield name, net


def _branches(net: Any, branches: Branches, depth: Depth) -> Iterator[Any]:
    for number, layers in enumerate(branches):
        with tf.variable_scope(f"Branch_{number}"):
            outputs = net
            for layer in layers:
                outputs = layer.apply(outputs, depth)
            yield outputs


def padded(padding: str, *functions: Callable[..., Any]) -> Any:
    """A scope in which layers do not stride and are padded so."""
    return arg_scope([conv2d, max_pool2d, *functions], stride=1, padding=padding)


def depth_function(depth_multiplier: float, min_depth: int) -> Depth:
    """How many channels a layer has in a network of another width."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda channels: max(int(channels * depth_multiplier), min_depth)


def window_within(net: Any, window: list[int]) -> list[int]:
    """The window, cut to the size of small images."""
    sizes = net.get_shape().as_list()[1:3]
    if None in sizes:
        return window
    return [min(size, side) for size, side in zip(sizes, window, strict=True)]


def squeezed(logits: Any, spatial_squeeze: bool) -> Any:
    """Logits as one row for each image, if so wished."""
    return tf.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def inception_arg_scope(
    weight_decay: float,
    batch_norm_var_collection: str,
    use_batch_norm: bool = True,
    **normalization: Any,
) -> Scope:
    """The arguments with which these networks are trained."""
    moving = [batch_norm_var_collection]
    params = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
        "variables_collections": {
            "beta": None,
            "gamma": None,
            "moving_mean": moving,
            "moving_variance": moving,
        },
        **normalization,
    }
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [conv2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=tf.nn.relu,
            normalizer_fn=batch_norm if use_batch_norm else None,
            normalizer_params=params if use_batch_norm else {},
        ) as scope,
    ):
        return scope


__all__ = [
    "Branches",
    "Depth",
    "EndPoints",
    "Fork",
    "Layer",
    "Stage",
    "avg_pool",
    "conv",
    "depth_function",
    "end_points_of",
    "inception_arg_scope",
    "max_pool",
    "padded",
    "separable_conv2d",
    "squeezed",
    "trunc_normal",
    "window_within",
]
