"""Reductions of slices, periodic resampling, colours in YIQ, connected parts of images."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import image, periodic_resample, reduce_slice_ops

DATA = np.arange(24).reshape(2, 3, 4)


def _value(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def test_slices_along_an_axis():
    pairs = [[0, 2], [1, 9], [2, 2]]
    total = reduce_slice_ops.reduce_slice_sum(DATA, pairs, 1)
    assert total.shape.as_list() == [2, 3, 4]
    expected = np.stack([DATA[:, :2].sum(1), DATA[:, 1:].sum(1), np.zeros([2, 4])], axis=1)
    np.testing.assert_array_equal(_value(total), expected)
    product = _value(reduce_slice_ops.reduce_slice_prod(DATA, [0, 1, 3], 2))
    np.testing.assert_array_equal(product[..., 1], DATA[..., 1] * DATA[..., 2])
    floats = DATA.astype(np.float32)
    largest = _value(reduce_slice_ops.reduce_slice_max(floats, pairs, 1))
    np.testing.assert_array_equal(largest[:, 0], floats[:, 1])
    assert (largest[:, 2] == -np.inf).all()
    least = _value(reduce_slice_ops.reduce_slice_min(DATA, [[1, 1]], 0))
    assert (least == np.iinfo(np.int64).max).all()
    with pytest.raises(ValueError, match="at most rank 2"):
        reduce_slice_ops.reduce_slice_sum(DATA, [pairs], 1)


def test_periodic_resampling():
    x = tf.constant(np.arange(16.0).reshape(2, 2, 4))
    y = periodic_resample.periodic_resample(x, [4, 4, None])
    rows = [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]
    np.testing.assert_array_equal(_value(y)[..., 0], rows)
    assert y.shape.as_list() == [4, 4, 1]
    (gradient,) = tf.gradients(tf.reduce_sum(y * y), [x])
    np.testing.assert_array_equal(_value(gradient), 2 * np.arange(16.0).reshape(2, 2, 4))
    for shape, message in (
        ([4], "rank of the input tensor"),
        ([None, None, 4], "only one index"),
        ([1, 4, None], "at least as large"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            _value(periodic_resample.periodic_resample(x, shape))


def test_turned_colours():
    pixels = np.random.default_rng(0).random((2, 2, 3)).astype(np.float32)
    same, grey, turned, back = (
        image.adjust_hsv_in_yiq(pixels, *settings)
        for settings in ((0, 1, 1), (0, 0, 1), (1.0, 1, 1), (2 * np.pi, 1, 1))
    )
    np.testing.assert_allclose(_value(same), pixels, atol=2e-3)
    np.testing.assert_allclose(_value(back), pixels, atol=2e-3)
    brightness = pixels @ [0.299, 0.587, 0.114]
    np.testing.assert_allclose(_value(grey), np.repeat(brightness[..., None], 3, 2), rtol=1e-4)
    assert not np.allclose(_value(turned), pixels, atol=0.05)
    assert image.random_hsv_in_yiq(pixels, 0.5, 0.5, 2.0, seed=1).shape.as_list() == [2, 2, 3]
    with pytest.raises(ValueError, match="lower_saturation must be <"):
        image.random_hsv_in_yiq(pixels, 0, 2.0, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have 3 channels"):
        _value(image.adjust_hsv_in_yiq(np.ones([2, 2, 4], np.float32)))


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.float32, bytes])
def test_connected_parts(kind):
    pixels = np.array([[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 2, 2]])
    given = pixels.astype(kind)
    if kind is bytes:
        given = np.where(pixels == 0, b"", pixels.astype(bytes)).astype(object)
    np.testing.assert_array_equal(_value(image.connected_components(given)), pixels)
    batch = _value(image.connected_components(np.stack([given, given])))
    np.testing.assert_array_equal(batch[1], np.where(pixels, pixels + 3, 0))


def test_a_winding_part_is_one():
    pixels = np.zeros([9, 9], np.int32)
    pixels[::2] = 1
    pixels[1::4, -1] = 1
    pixels[3::4, 0] = 1
    np.testing.assert_array_equal(_value(image.connected_components(pixels)), pixels)
    with pytest.raises(TypeError, match="rank 2"):
        image.connected_components(pixels[0])
