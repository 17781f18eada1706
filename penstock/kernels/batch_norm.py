"""Kernels of fused batch normalization, on channels-first views.

The reserved outputs carry the batch's mean and its variance over n, which is what the gradient
reads; the public variance is the one over n - 1.
"""

from __future__ import annotations

import torch

from penstock.kernels.registry import kernel
from penstock.kernels.values import torch_type
from penstock.ops import window

_backward = torch.ops.aten.native_batch_norm_backward.default
_ALL = (True, True, True)


def _views(node):
    """Functions to a channels-first view of an image and back."""
    data_format = node.attrs["data_format"]
    if window.channel_axis(data_format) == 1:
        return (lambda image: image), (lambda image: image)
    rank = len(data_format)
    to_first, to_last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
    return (lambda image: image.permute(to_first)), (lambda image: image.permute(to_last))


@kernel("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", fresh=True)
def _(node):
    first, last = _views(node)
    axis = window.channel_axis(node.attrs["data_format"])
    normalize = _training(node) if node.attrs["is_training"] else _inference(node)
    statistics_type = torch_type(node.dtypes[1])
    has_third_reserve = node.type == "FusedBatchNormV3"

    def run(x, scale, offset, mean, variance):
        if scale.dtype != torch.float32:
            scale, offset, mean, variance = (
                entry.float() for entry in (scale, offset, mean, variance)
            )
        if not x.shape[axis] == len(scale) == len(offset):
            raise ValueError("scale and offset must have one entry per channel")
        y, *statistics = normalize(first(x), scale, offset, mean, variance)
        if statistics_type != torch.float32:
            statistics = [entry.to(statistics_type) for entry in statistics]
        if has_third_reserve:
            statistics.append(x.new_empty(0, dtype=statistics_type))
        return (last(y), *statistics)

    return run


def _training(node):
    epsilon, factor = node.attrs["epsilon"], node.attrs["exponential_avg_factor"]

    def normalize(x, scale, offset, mean, variance):
        channels = x.shape[1]
        count = x.numel() // channels if channels else 0
        if count == 0:
            nan = scale.new_full((channels,), float("nan"))
            nothing = scale.new_zeros(channels)
            return x.clone(), nan, nan.clone(), nothing, nothing.clone()
        # ATen's running statistics, started anew, are the batch's own.
        if factor == 1.0:
            running_mean, running_variance = scale.new_zeros(2, channels)
        else:
            running_mean, running_variance = mean.clone(), variance.clone()
        y, batch_mean, _ = torch.native_batch_norm(
            x, scale, offset, running_mean, running_variance, True, factor, epsilon
        )
        if count == 1:  # ATen divides by n - 1 = 0
            running_variance = variance * (1 - factor) if factor != 1.0 else torch.zeros_like(scale)
        if factor == 1.0:
            batch_variance = running_variance * ((count - 1) / count)
        else:
            axes = [i for i in range(x.dim()) if i != 1]
            batch_variance = torch.var(x.float(), axes, correction=0)
        return y, running_mean, running_variance, batch_mean, batch_variance

    return normalize


def _inference(node):
    epsilon = node.attrs["epsilon"]

    def normalize(x, scale, offset, mean, variance):
        y = torch.native_batch_norm(x, scale, offset, mean, variance, False, 0.0, epsilon)[0]
        return y, *torch.cat((mean, variance, mean, variance)).view(4, -1)

    return normalize


@kernel("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", fresh=True)
def _(node):
    first, last = _views(node)
    epsilon, training = node.attrs["epsilon"], node.attrs["is_training"]

    def run(grad, x, scale, mean, variance, *_):
        grad, x = first(grad), first(x)
        if x.numel() == 0:
            by_scale, by_offset = scale.new_zeros(2, scale.shape[0])
            by_x = torch.zeros_like(x)
            return last(by_x), by_scale, by_offset, mean.new_empty(0), mean.new_empty(0)
        if training:
            deviation = torch.rsqrt(variance + epsilon)
            args = None, None, mean, deviation, True
        else:
            # The GPU's kernel demands what a forward pass would have saved.
            saved = (mean, torch.rsqrt(variance + epsilon)) if x.is_cuda else (None, None)
            args = mean, variance, *saved, False
        by_x, by_scale, by_offset = _backward(grad, x, scale, *args, epsilon, _ALL)
        return last(by_x), by_scale, by_offset, mean.new_empty(0), mean.new_empty(0)

    return run
