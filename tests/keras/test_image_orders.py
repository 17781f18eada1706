"""Images between pixels: the nearest one, or a mean of four."""

import numpy as np
import pytest

import penstock as tf

image = tf.keras.preprocessing.image
PIXELS = np.arange(16.0).reshape(4, 4, 1)


def test_the_order_decides():
    half = image.apply_affine_transform(PIXELS, tx=0.25, order=1)
    nearest = image.apply_affine_transform(PIXELS, tx=0.25, order=0)
    np.testing.assert_allclose(half[:3], PIXELS[:3] + 1.0)
    np.testing.assert_array_equal(nearest, PIXELS)
    with pytest.raises(ValueError, match="order must be 0"):
        image.apply_affine_transform(PIXELS, tx=0.25, order=3)


def test_random_transforms_hand_it_on():
    options = {"row_axis": 0, "col_axis": 1, "channel_axis": 2, "interpolation_order": 0}
    for call in (
        lambda: image.random_rotation(PIXELS, 20, **options),
        lambda: image.random_shift(PIXELS, 0.2, 0.2, **options),
        lambda: image.random_shear(PIXELS, 20, **options),
        lambda: image.random_zoom(PIXELS, (0.5, 1.5), **options),
    ):
        assert set(call().ravel()) <= set(PIXELS.ravel())  # none between two
