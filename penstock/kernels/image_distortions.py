"""Kernels of colours turned in YIQ space, and of the connected parts of images."""

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import HOST, kernel

_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_FROM_YIQ = np.array(
    [
        [1.0, 0.95617069, 0.62143257],
        [1.0, -0.2726886, -0.64681324],
        [1.0, -1.103744, 1.70062309],
    ]
)


def _refuse(message):
    raise InvalidArgumentError(None, None, message)


@kernel("AdjustHsvInYiq", fresh=True)
def _(node):
    def run(images, hue, saturation, value):
        if images.dim() < 3:
            sizes = ",".join(map(str, images.shape))
            _refuse(f"input must be at least 3-D, got shape[{sizes}]")
        if images.shape[-1] != 3:
            _refuse(f"input must have 3 channels but instead has {images.shape[-1]} channels.")
        angle, factor = float(hue), float(value)
        turned = factor * float(saturation) * np.array([np.cos(angle), np.sin(angle)])
        change = np.array([[factor, 0, 0], [0, turned[0], -turned[1]], [0, turned[1], turned[0]]])
        matrix = torch.from_numpy((_FROM_YIQ @ change @ _TO_YIQ).T.copy())
        work = images.dtype if images.dtype.is_floating_point else torch.float32
        return (images.to(work) @ matrix.to(images.device, work)).to(images.dtype)

    return run


@kernel("ImageConnectedComponents", devices=HOST, fresh=True)
def _(node):
    def run(images):
        pixels = images.numpy() if isinstance(images, torch.Tensor) else images
        if pixels.ndim != 3:
            _refuse("image must be batched: [batch, height, width]")
        empty = b"" if pixels.dtype == object else 0
        return torch.from_numpy(_components(pixels, pixels != empty))

    return run


def _components(pixels, is_set):
    """For each pixel the first place of its part, counted from 1 over all images; 0 for none.

    Labels go to neighbours of the same value, and each pixel takes its label's label, until
    nothing changes: the way to the first pixel halves each time.
    """
    labels = np.where(is_set, np.arange(1, pixels.size + 1).reshape(pixels.shape), 0)
    pairs = []
    for axis in (1, 2):
        size = pixels.shape[axis]
        before = tuple(slice(0, max(size - 1, 0)) if i == axis else slice(None) for i in range(3))
        after = tuple(slice(1, None) if i == axis else slice(None) for i in range(3))
        same = (pixels[before] == pixels[after]) & is_set[before] & is_set[after]
        pairs.append((before, after, same.astype(bool)))
    while True:
        old = labels.copy()
        for before, after, same in pairs:
            least = np.minimum(labels[before], labels[after])
            labels[before] = np.where(same, least, labels[before])
            labels[after] = np.where(same, np.minimum(least, labels[after]), labels[after])
        flat = np.concatenate([[0], labels.ravel()])
        labels = flat[labels]
        if (labels == old).all():
            return labels
