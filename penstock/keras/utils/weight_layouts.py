"""Weights of models of other programs, whose kernels are turned or whose features are reordered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.layers.window_connections import convert_kernel

__all__ = ["convert_all_kernels_in_model"]

_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose")


def convert_all_kernels_in_model(model: Any) -> None:
    """Turns the kernels of all convolutions around, from Theano's order to TensorFlow's."""
    kernels = [each.kernel for each in model.layers if type(each).__name__ in _CONVOLUTIONS]
    K.batch_set_value([(kernel, convert_kernel(K.get_value(kernel))) for kernel in kernels])


def convert_dense_weights_data_format(
    dense: Any,
    previous_feature_map_shape: Sequence[int],
    target_data_format: str = "channels_first",
) -> None:
    """Reorders the rows of a dense layer behind flattened images of another data format.

    Args:
      previous_feature_map_shape: shape of the images, in the target's format.
    """
    if target_data_format not in ("channels_first", "channels_last"):
        raise AssertionError(f"no data format: {target_data_format}")
    kernel, bias = dense.get_weights()
    units = kernel.shape[1]
    if target_data_format == "channels_first":
        channels, height, width = previous_feature_map_shape
        images = kernel.reshape(height, width, channels, units).transpose(2, 0, 1, 3)
    else:
        height, width, channels = previous_feature_map_shape
        images = kernel.reshape(channels, height, width, units).transpose(1, 2, 0, 3)
    rows = int(np.prod(previous_feature_map_shape))
    dense.set_weights([images.reshape(rows, units), bias])


def gather_trainable_weights(
    trainable: bool, sub_layers: Sequence[Any], extra_variables: Sequence[Any]
) -> list[Any]:
    """The trained variables of something that has layers and variables of its own."""
    if not trainable:
        return []
    of_layers = [weight for layer in sub_layers for weight in layer.trainable_weights]
    return of_layers + [variable for variable in extra_variables if variable.trainable]


def gather_non_trainable_weights(
    trainable: bool, sub_layers: Sequence[Any], extra_variables: Sequence[Any]
) -> list[Any]:
    """Its other variables: all of them, if it is not trained."""
    fixed = [weight for layer in sub_layers for weight in layer.non_trainable_weights]
    fixed_extra = [variable for variable in extra_variables if not variable.trainable]
    trained = [] if trainable else gather_trainable_weights(True, sub_layers, extra_variables)
    return trained + fixed + fixed_extra
