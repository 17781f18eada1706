"""Orthogonal convolution filters keep the length of what they are applied to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import penstock as tf
from penstock.ops import convolution_initializers as initializers

KINDS = {
    initializers.convolutional_orthogonal_1d: [4, 3, 4],
    initializers.convolutional_orthogonal_2d: [3, 3, 3, 4],
    initializers.convolutional_orthogonal_3d: [2, 2, 2, 3, 4],
}


@pytest.mark.parametrize("kind", KINDS)
def test_filters_are_isometries(kind: type[initializers.ConvolutionOrthogonal]) -> None:
    sizes = KINDS[kind]
    with tf.Graph().as_default(), tf.Session() as session:
        kernel = session.run(kind(gain=2.0, seed=1)(sizes)).astype(np.float64)
    assert list(kernel.shape) == sizes
    axes = len(sizes) - 2
    x = np.random.RandomState(0).randn(*[5] * axes, 3)
    y = np.zeros([5] * axes + [4])
    for position in itertools.product(*map(range, sizes[:axes])):
        moved = np.roll(x, [-i for i in position], axis=tuple(range(axes)))
        y += moved @ kernel[position]
    assert np.linalg.norm(y) == pytest.approx(2.0 * np.linalg.norm(x), rel=1e-5)


def test_shapes_that_cannot_be_orthogonal() -> None:
    one, two = initializers.ConvolutionOrthogonal1D(), initializers.ConvolutionOrthogonal2D()
    with pytest.raises(ValueError, match="must be three-dimensional"):
        one([1, 2, 3, 4])
    with pytest.raises(ValueError, match="In_filters cannot be greater"):
        one([3, 4, 2])
    with pytest.raises(ValueError, match="Kernel sizes must be equal"):
        two([3, 2, 2, 2])
    assert one([1, 2, 4]).shape == [1, 2, 4]
    assert one.get_config() == {"gain": 1.0, "seed": None, "dtype": "float32"}
