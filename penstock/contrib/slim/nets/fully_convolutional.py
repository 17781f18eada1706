"""What the older networks share: the end that classifies, made of convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import Scope, arg_scope
from penstock.contrib.layers.convolutions import conv2d
from penstock.contrib.layers.dense import fully_connected
from penstock.contrib.layers.named_outputs import convert_collection_to_dict
from penstock.contrib.layers.regularizers import l2_regularizer
from penstock.contrib.layers.reshaping import dropout

EndPoints = dict[str, Any]


def decayed_arg_scope(weight_decay: float, biases_initializer: Any) -> Scope:
    """Rectified layers with decaying weights and padded convolutions."""
    with (
        arg_scope(
            [conv2d, fully_connected],
            activation_fn=tf.nn.relu,
            weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=biases_initializer,
        ),
        arg_scope([conv2d], padding="SAME") as scope,
    ):
        return scope


def classifier(
    net: Any,
    widths: tuple[int, int, int],
    kernel_size: list[int],
    is_training: Any,
    dropout_keep_prob: float,
    last: Mapping[str, Any] | None = None,
) -> Any:
    """Three convolutions that act as fully connected layers, with dropout between them.

    Args:
      widths: units of the layers, the last being the number of classes.
      kernel_size: window of the first, which sees all of an image.
      last: arguments of the last layer.
    """
    first, second, classes = widths
    net = conv2d(net, first, kernel_size, padding="VALID", scope="fc6")
    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
    net = conv2d(net, second, [1, 1], scope="fc7")
    net = dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
    return conv2d(
        net, classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **(last or {})
    )


def with_end_points(
    net: Any, collection: str, scope_name: str, spatial_squeeze: bool
) -> tuple[Any, EndPoints]:
    """The logits, as one row for each image if so wished, and the outputs of all layers."""
    end_points: EndPoints = convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = tf.squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[f"{scope_name}/fc8"] = net
    return net, end_points
