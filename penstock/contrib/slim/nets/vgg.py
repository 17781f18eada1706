"""The networks of the Visual Geometry Group (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.composition import repeat
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.pooling import max_pool2d
from penstock.contrib.slim.nets.fully_convolutional import (
    EndPoints,
    classifier,
    decayed_arg_scope,
    with_end_points,
)

#: Channels of the five groups of convolutions.
_CHANNELS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The arguments with which these networks are trained."""
    return decayed_arg_scope(weight_decay, tf.zeros_initializer())


def _network(name: str, repetitions: tuple[int, ...]) -> Callable[..., tuple[Any, EndPoints]]:
    """The network with so many convolutions in each group."""

    def network(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
    ) -> tuple[Any, EndPoints]:
        """Logits of images, and the outputs of all layers by name."""
        with tf.variable_scope(scope, name, [inputs]) as opened:
            # Which name the collection has is seen by those who ask for it in a name scope.
            prefix = opened.name if name == "vgg_19" else opened.original_name_scope
            collection = f"{prefix}_end_points"
            with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=collection):
                net = inputs
                groups = zip(repetitions, _CHANNELS, strict=True)
                for number, (times, channels) in enumerate(groups, start=1):
                    net = repeat(net, times, conv2d, channels, [3, 3], scope=f"conv{number}")
                    net = max_pool2d(net, [2, 2], scope=f"pool{number}")
                net = classifier(
                    net, (4096, 4096, num_classes), [7, 7], is_training, dropout_keep_prob
                )
                return with_end_points(net, collection, opened.name, spatial_squeeze)

    network.__name__ = network.__qualname__ = name
    network.default_image_size = 224  # type: ignore[attr-defined]
    return network


vgg_a = _network("vgg_a", (1, 1, 2, 2, 2))
vgg_16 = _network("vgg_16", (2, 2, 3, 3, 3))
vgg_19 = _network("vgg_19", (2, 2, 4, 4, 4))

vgg_d = vgg_16
vgg_e = vgg_19
