"""Classes that layers have in common, and functions, under TensorFlow's names of them."""

from __future__ import annotations

from typing import Any

from penstock.keras.layers.locally_connected import LocallyConnected1D, LocallyConnected2D
from penstock.keras.layers.pooling import _GlobalPooling
from penstock.keras.layers.recurrent import parted, zero_states
from penstock.keras.layers.recurrent_layers import _CuDNNLayer
from penstock.layers.kinds.batch_normalization import BatchNormalization
from penstock.layers.kinds.convolution import Convolution
from penstock.layers.kinds.pooling import Pooling1D, Pooling2D, Pooling3D
from penstock.layers.kinds.separable import SeparableConvolution

__all__ = [
    "BatchNormalizationBase",
    "Conv",
    "GlobalPooling1D",
    "GlobalPooling2D",
    "GlobalPooling3D",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "Pooling1D",
    "Pooling2D",
    "Pooling3D",
    "SeparableConv",
    "_CuDNNRNN",
    "_generate_zero_filled_state",
    "_generate_zero_filled_state_for_cell",
    "_standardize_args",
]

BatchNormalizationBase = BatchNormalization
Conv = Convolution
GlobalPooling1D = GlobalPooling2D = GlobalPooling3D = _GlobalPooling
SeparableConv = SeparableConvolution
_CuDNNRNN = _CuDNNLayer
_generate_zero_filled_state = zero_states
_standardize_args = parted


def _generate_zero_filled_state_for_cell(
    cell: Any, inputs: Any, batch_size: Any, dtype: Any
) -> Any:
    import penstock as tf

    if inputs is not None:
        batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
    return zero_states(batch_size, cell.state_size, dtype)
