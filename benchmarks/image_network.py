"""Image networks as data: layers, the shapes of their weights, initial values and a batch.

`session_network.py`, `torch_network.py` and `jax_network.py` build them in the frameworks. Layers
may not carry state beyond weights and biases, so that a training step is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

Image = tuple[int, int, int]  # height, width, channels


@dataclass(frozen=True)
class Convolution:
    """A square convolution with bias and ReLU, zeros padded on each side."""

    name: str
    window: int
    channels: int
    stride: int = 1
    pad: int = 0


@dataclass(frozen=True)
class Pool:
    """The largest value of each window, or the mean; `same` pads as TensorFlow's "SAME" does."""

    window: int
    stride: int
    same: bool = False
    mean: bool = False


@dataclass(frozen=True)
class Connection:
    """A fully connected layer with bias, and a ReLU unless it is the last."""

    name: str
    units: int
    rectified: bool = True


@dataclass(frozen=True)
class Branches:
    """Layers side by side, their outputs joined along the channels."""

    branches: tuple[tuple[Layer, ...], ...]


Layer = Convolution | Pool | Connection | Branches


@dataclass(frozen=True)
class ImageNetwork:
    """A classifier of square images of three channels, trained by gradient descent."""

    title: str
    size: int
    batch: int
    layers: tuple[Layer, ...]
    classes: int = 1000
    # Where the loss soon climbs again, rounding is magnified until losses differ.
    rate: float = 1e-4

    def tiny(self) -> ImageNetwork:
        """The same network with few channels and a small batch: for a test of the builders."""
        layers = _narrowed(self.layers, self.classes)
        return replace(self, batch=2, layers=layers)

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """By layer: convolutions HWIO, connections [inputs, outputs]."""
        return {name: shape for name, shape, _ in _weights(self.layers, self._image)}

    def flattened(self) -> dict[str, Image]:
        """The connections whose input is a flattened image, with its height, width, channels."""
        found = _weights(self.layers, self._image)
        return {name: image for name, shape, image in found if len(shape) == 2 and image[0] > 0}

    def initial_values(self) -> dict[str, np.ndarray]:
        """Weights `name_w` and biases `name_b`."""
        rng = np.random.default_rng(1)
        values = {}
        for name, shape in self.weight_shapes().items():
            weights = rng.standard_normal(shape, np.float32)
            weights *= np.sqrt(2.0 / np.prod(shape[:-1]), dtype=np.float32)
            values[name + "_w"] = weights
            values[name + "_b"] = np.zeros(shape[-1], np.float32)
        return values

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """A batch of NHWC images and class numbers."""
        rng = np.random.default_rng(2)
        images = rng.standard_normal((self.batch, *self._image), np.float32)
        return images, rng.integers(self.classes, size=self.batch)

    @property
    def _image(self) -> Image:
        return self.size, self.size, 3


def _narrowed(layers: Sequence[Layer], classes: int) -> tuple[Layer, ...]:
    made: list[Layer] = []
    for layer in layers:
        if isinstance(layer, Convolution):
            layer = replace(layer, channels=max(2, layer.channels // 16))
        elif isinstance(layer, Connection) and layer.units != classes:
            layer = replace(layer, units=layer.units // 32)
        elif isinstance(layer, Branches):
            layer = Branches(tuple(_narrowed(branch, classes) for branch in layer.branches))
        made.append(layer)
    return tuple(made)


Weight = tuple[str, tuple[int, ...], Image]  # the layer's name, its weights' shape, its input


def _weights(layers: Sequence[Layer], image: Image) -> Iterator[Weight]:
    for layer in layers:
        if isinstance(layer, Convolution):
            yield layer.name, (layer.window, layer.window, image[2], layer.channels), image
        elif isinstance(layer, Connection):
            yield layer.name, (int(np.prod(np.abs(image))), layer.units), image
        elif isinstance(layer, Branches):
            for branch in layer.branches:
                yield from _weights(branch, image)
        image = _output(layer, image)


def _output(layer: Layer, image: Image) -> Image:
    """What a layer makes of an image; a vector counts as an image of negative height."""
    height, width, channels = image
    if isinstance(layer, Convolution):
        height, width = (
            (n + 2 * layer.pad - layer.window) // layer.stride + 1 for n in (height, width)
        )
        return height, width, layer.channels
    if isinstance(layer, Pool):
        return _pooled(height, layer), _pooled(width, layer), channels
    if isinstance(layer, Connection):
        return -1, 1, layer.units
    outputs = [image_after(branch, image) for branch in layer.branches]
    return *outputs[0][:2], sum(output[2] for output in outputs)


def _pooled(size: int, pool: Pool) -> int:
    if pool.same:
        return -(-size // pool.stride)
    return (size - pool.window) // pool.stride + 1


def image_after(layers: Sequence[Layer], image: Image) -> Image:
    """The height, width and channels that layers make of an image."""
    for layer in layers:
        image = _output(layer, image)
    return image
