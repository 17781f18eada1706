"""The digits that come with Penstock, brought to MNIST's form.

The package stores 1,797 digits of 8x8 pixels (data/README.md says where they come from). Here they
are enlarged to 20x20 and set into 28x28 with their centre of mass in the middle, as MNIST's are.
"""

from importlib import resources

import numpy as np

from penstock.examples.tutorials.mnist.idx import Array, read_idx

TEST_SIZE = 300

_STORED_SIZE = 8
_STORED_WHITE = 16
_BOX_SIZE = 20
_IMAGE_SIZE = 28


def load_digits() -> tuple[Array, Array, Array, Array]:
    """Return train images, train labels, test images and test labels.

    Images are uint8 of shape [n, 28, 28, 1], labels uint8 of shape [n].
    """
    images = _as_mnist(_read("digits-images-idx3-ubyte.gz", rank=3))
    labels = _read("digits-labels-idx1-ubyte.gz", rank=1)
    train = len(images) - TEST_SIZE
    return images[:train], labels[:train], images[train:], labels[train:]


def _read(filename: str, rank: int) -> Array:
    path = resources.files("penstock.examples.tutorials.mnist") / "data" / filename
    with path.open("rb") as file:
        return read_idx(file, rank)


def _as_mnist(stored: Array) -> Array:
    enlarge = _cubic_interpolation(_STORED_SIZE, _BOX_SIZE)
    boxes = np.einsum("ir,nrc,jc->nij", enlarge, stored / _STORED_WHITE, enlarge)
    boxes = np.rint(255 * np.clip(boxes, 0, 1)).astype(np.uint8)
    return _centred(boxes)[..., np.newaxis]


def _cubic_interpolation(source: int, target: int) -> Array:
    """Return the [target, source] matrix of Catmull-Rom weights; beyond the edge it is black."""
    positions = (np.arange(target) + 0.5) * source / target - 0.5
    x = np.abs(positions[:, np.newaxis] - np.arange(source))
    near = 1.5 * x**3 - 2.5 * x**2 + 1
    far = -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _centred(boxes: Array) -> Array:
    margin = _IMAGE_SIZE - _BOX_SIZE
    weights = boxes.astype(np.float64)
    total = weights.sum(axis=(1, 2))
    steps = np.arange(_BOX_SIZE)

    def offset(profile: Array) -> Array:
        centre_of_mass = profile @ steps / total
        shift = np.rint((_IMAGE_SIZE - 1) / 2 - centre_of_mass)
        return np.clip(shift, 0, margin).astype(np.intp)[:, np.newaxis, np.newaxis]

    top, left = offset(weights.sum(axis=2)), offset(weights.sum(axis=1))
    images = np.zeros((len(boxes), _IMAGE_SIZE, _IMAGE_SIZE), np.uint8)
    which = np.arange(len(boxes))[:, np.newaxis, np.newaxis]
    images[which, top + steps[:, np.newaxis], left + steps] = boxes
    return images
