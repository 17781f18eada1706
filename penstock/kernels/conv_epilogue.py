"""The kernel of a convolution with its bias and ReLU, which `passes/conv_epilogue.py` makes.

On a GPU cuDNN's fused convolution is not the fastest for every size: the first time that it meets
one it is measured against the plain convolution with a bias and a ReLU behind.
"""

from __future__ import annotations

import torch

from penstock.kernels.conv import Geometry
from penstock.kernels.registry import kernel

_TRIALS = 3
_MOST_SIZES = 1000  # inputs of ever new sizes must not fill the memory


def _plain(geometry, image, kernel, bias, padding, groups):
    result = torch.convolution(
        image,
        kernel,
        bias,
        geometry.strides,
        padding,
        geometry.rates,
        False,
        geometry.zeros,
        groups,
    )
    return result.relu_()


def _by_cudnn(geometry, image, kernel, bias, padding, groups):
    return torch.cudnn_convolution_relu(
        image, kernel, bias, geometry.strides, padding, geometry.rates, groups
    )


def _by_onednn(geometry, image, kernel, bias, padding, groups):
    return torch.ops.mkldnn._convolution_pointwise.default(
        image, kernel, bias, padding, geometry.strides, geometry.rates, groups, "relu", [], ""
    )


class _Measured:
    """The faster of two ways on a GPU, found out once for each size."""

    def __init__(self, geometry):
        self.geometry = geometry
        self.chosen = {}

    def __call__(self, *args):
        image, kernel = args[0], args[1]
        if not image.is_cuda or not torch.cuda.is_available():
            return _plain(self.geometry, *args)
        key = image.shape, kernel.shape, image.stride(), image.device
        way = self.chosen.get(key)
        if way is None:
            if torch.cuda.is_current_stream_capturing():  # what waits for the GPU can't be recorded
                return _plain(self.geometry, *args)
            if len(self.chosen) > _MOST_SIZES:
                self.chosen.clear()
            way = self.chosen[key] = self._faster(args)
        return way(self.geometry, *args)

    def _faster(self, args):
        if not torch.backends.cudnn.benchmark:
            return _by_cudnn if self._seconds(_by_cudnn, args, trials=0) is not None else _plain
        fused = self._seconds(_by_cudnn, args)
        plain = self._seconds(_plain, args)
        return _by_cudnn if fused is not None and plain is not None and fused < plain else _plain

    def _seconds(self, way, args, trials=_TRIALS):
        """How long a way takes; None where it can't be gone."""
        try:
            way(self.geometry, *args)  # cuDNN chooses its algorithm
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            return None
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(trials):
            way(self.geometry, *args)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)


def _way(geometry, device):
    if device.type == "cuda":
        return _Measured(geometry)
    way = _by_onednn if torch.backends.mkldnn.is_available() else _plain
    return lambda *args: way(geometry, *args)


@kernel("_RectifiedConv2D", fresh=True)
def _(node, env):
    geometry = Geometry(node, 4)
    convolve = _way(geometry, env.torch_device)

    def run(image, kernel, bias):
        kernel = kernel.permute(geometry.filter_to_first)
        image = geometry.first(image)
        groups = image.shape[1] // kernel.shape[1]
        padding, pad, outputs = geometry.fit(image.shape[2:], kernel.shape[2:])
        if image.shape[0] == 0 or 0 in outputs:
            return geometry.last(image.new_empty((image.shape[0], kernel.shape[0], *outputs)))
        if pad is not None:
            image = torch.constant_pad_nd(image, pad)
        return geometry.last(convolve(image, kernel, bias, padding, groups))

    return run
