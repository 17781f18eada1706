"""Weights of files as today's layers have them: of Keras 1, and of nested models."""

from __future__ import annotations

from typing import Any

import numpy as np


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
    if kind in ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose") and backend == "theano":
        # Theano's convolutions turn their kernels around.
        axes = tuple(range(values[0].ndim - 2))
        values = [np.flip(values[0], axes), *values[1:]]
    return values


def _of_nested(model: Any, values: list[Any], version: str, backend: str | None) -> list[Any]:
    """The arrays of a model inside a model: trained ones of all its layers, then the others."""
    values = list(values)
    trained: list[Any] = []
    others: list[Any] = []
    for kind, found in (("trainable_weights", trained), ("non_trainable_weights", others)):
        for layer in model.layers:
            count = len(getattr(layer, kind))
            if count:
                part, values = values[:count], values[count:]
                found += (
                    part
                    if kind != "trainable_weights"
                    else converted(layer, part, version, backend)
                )
    return trained + others


def _of_keras_1(layer: Any, kind: str, values: list[Any]) -> list[Any]:
    if kind == "Conv1D" and values[0].ndim == 4:
        kernel = values[0]
        shape = (layer.kernel_size[0], 1)
        if kernel.shape[:2] != shape or kernel.shape[3] != layer.filters:
            kernel = np.transpose(kernel, (2, 3, 1, 0))
        return [kernel[:, 0, :, :], *values[1:]]
    if kind == "Conv2D" and layer.data_format == "channels_first":
        return [np.transpose(values[0], (2, 3, 1, 0)), *values[1:]]
    if kind == "GRU" and len(values) == 9:
        z, r, h = (values[start : start + 3] for start in (0, 3, 6))
        return [np.concatenate([z[i], r[i], h[i]], axis=-1) for i in range(3)]
    if kind == "LSTM" and len(values) == 12:
        i, c, f, o = (values[start : start + 3] for start in (0, 3, 6, 9))
        return [np.concatenate([i[k], f[k], c[k], o[k]], axis=-1) for k in range(3)]
    return values
