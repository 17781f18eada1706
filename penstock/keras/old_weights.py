"""Weights of files as today's layers have them: of Keras 1, and of nested models."""

from __future__ import annotations

from typing import Any

import numpy as np

#: How many of a layer's first weights are kernels of convolutions.
_KERNELS = {"Conv1D": 1, "Conv2D": 1, "Conv3D": 1, "Conv2DTranspose": 1, "ConvLSTM2D": 2}

#: The axes of kernels in files of Keras 1, by layer and order of its data.
_AXES_OF_KERAS_1 = {
    ("Conv2D", "channels_first"): (2, 3, 1, 0),
    ("Conv2DTranspose", "channels_last"): (0, 1, 3, 2),
    ("Conv2DTranspose", "channels_first"): (2, 3, 0, 1),
    ("Conv3D", "channels_first"): (2, 3, 4, 1, 0),
}


def converted(layer: Any, values: list[Any], version: str, backend: str | None) -> list[Any]:
    """A layer's saved arrays in the order and form of its weights."""
    kind = type(layer).__name__
    if kind in ("Model", "Sequential"):
        return _of_nested(layer, values, version, backend)
    if kind in ("TimeDistributed",):
        return converted(layer.layer, values, version, backend)
    if kind == "Bidirectional":
        half = len(values) // 2
        forward = converted(layer.forward_layer, values[:half], version, backend)
        return forward + converted(layer.backward_layer, values[half:], version, backend)
    if version == "1" or version.startswith("1."):
        values = _of_keras_1(layer, kind, values)
    return _fitting_kernels(layer, kind, values, backend)


def _fitting_kernels(layer: Any, kind: str, values: list[Any], backend: str | None) -> list[Any]:
    """Values of a convolution, whose kernels Theano turns around, in the order of their axes."""
    kernels = _KERNELS.get(kind, 0)
    values = list(values)
    if backend == "theano":
        for index in range(kernels):
            axes = tuple(range(values[index].ndim - 2))
            values[index] = np.flip(values[index], axes)
    if kernels and tuple(layer.weights[0].shape.as_list()) != values[0].shape:
        values[:kernels] = [np.transpose(each, (3, 2, 0, 1)) for each in values[:kernels]]
    return values


def _of_nested(model: Any, values: list[Any], version: str, backend: str | None) -> list[Any]:
    """The arrays of a model inside a model: trained ones of all its layers, then the others."""
    count = len(model.trainable_weights)
    trained, others = list(values[:count]), list(values[count:])
    new_trained: list[Any] = []
    new_others: list[Any] = []
    for layer in model.layers:
        of_trained, of_others = len(layer.trainable_weights), len(layer.non_trainable_weights)
        if of_trained or of_others:
            part = trained[:of_trained] + others[:of_others]
            part = converted(layer, part, version, backend)
            new_trained += part[:of_trained]
            new_others += part[of_trained:]
            trained, others = trained[of_trained:], others[of_others:]
    return new_trained + new_others


def _of_keras_1(layer: Any, kind: str, values: list[Any]) -> list[Any]:
    if kind == "Conv1D" and values[0].ndim == 4:
        kernel = values[0]
        shape = (layer.kernel_size[0], 1)
        if kernel.shape[:2] != shape or kernel.shape[3] != layer.filters:
            kernel = np.transpose(kernel, (2, 3, 1, 0))
        return [kernel[:, 0, :, :], *values[1:]]
    axes = _AXES_OF_KERAS_1.get((kind, getattr(layer, "data_format", "")))
    if axes is not None:
        return [np.transpose(values[0], axes), *values[1:]]
    if kind == "GRU" and len(values) == 9:
        z, r, h = (values[start : start + 3] for start in (0, 3, 6))
        return [np.concatenate([z[i], r[i], h[i]], axis=-1) for i in range(3)]
    if kind in ("LSTM", "ConvLSTM2D") and len(values) == 12:
        i, c, f, o = (values[start : start + 3] for start in (0, 3, 6, 9))
        joined = [np.concatenate([i[k], f[k], c[k], o[k]], axis=-1) for k in range(3)]
        if kind == "ConvLSTM2D" and layer.data_format == "channels_first":
            joined[:2] = [np.transpose(each, (2, 3, 1, 0)) for each in joined[:2]]
        return joined
    return values
