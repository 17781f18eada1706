"""A picture that is resized in kept memory has the values of one that is not."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.kernels import image_workspace

SIZES = [(24, 32), (30, 41), (24, 32)]  # one returns


def _batch(size: tuple[int, int], dtype: Any, channels: int = 3) -> np.ndarray:
    values = np.random.default_rng(size[0]).integers(0, 256, (2, *size, channels))
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("settings", [{}, {"align_corners": True}, {"half_pixel_centers": True}])
def test_one_picture_is_resized_as_in_a_batch(dtype: Any, settings: dict[str, bool]) -> None:
    images = tf.placeholder(dtype, [None, None, None, 3])
    resized = tf.raw_ops.ResizeBilinear(images=images, size=[13, 17], **settings)
    with tf.Session() as sess:
        found = []
        for size in SIZES:
            batch = _batch(size, dtype)
            alone = [sess.run(resized, {images: batch[i : i + 1]}) for i in range(2)]
            together = sess.run(resized, {images: batch})
            np.testing.assert_allclose(np.concatenate(alone), together, rtol=0, atol=4e-5)
            found.append(alone[0])
        np.testing.assert_array_equal(found[0], found[2])  # nothing wrote into the first result


@pytest.mark.parametrize("settings", [{}, {"align_corners": True}, {"half_pixel_centers": True}])
@pytest.mark.parametrize("size", [(13, 17), (224, 7), (299, 300)])
def test_between_equal_pixels_lies_the_same_pixel(
    size: tuple[int, int], settings: dict[str, bool]
) -> None:
    """A cast to whole numbers would make 254 of what is almost 255."""
    levels = np.arange(256, dtype=np.uint8)
    picture = np.broadcast_to(levels, (1, 333, 40, 256))[..., 1::2]
    resized = tf.raw_ops.ResizeBilinear(
        images=tf.placeholder(tf.uint8, [1, 333, 40, 1]), size=size, **settings
    )
    with tf.Session() as sess:
        for channel in range(0, picture.shape[-1], 9):
            given = picture[..., channel : channel + 1]
            found = sess.run(resized, {resized.op.inputs[0]: given})
            np.testing.assert_array_equal(found, np.full((1, *size, 1), given.max(), np.float32))


def test_rows_of_bytes_without_a_function_that_adds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    images = tf.placeholder(tf.uint8, [1, 24, 32, 3])
    resized = tf.image.resize_bilinear(images, [13, 17])
    feed = {images: _batch((24, 32), np.uint8)[:1]}
    with tf.Session() as sess:
        expected = sess.run(resized, feed)
        monkeypatch.setattr(image_workspace, "_sum_of_byte_rows", lambda: None)
        monkeypatch.setattr(image_workspace, "_kept", image_workspace._Kept())
        np.testing.assert_allclose(sess.run(resized, feed), expected, rtol=0, atol=4e-5)


def test_threads_have_memory_of_their_own() -> None:
    images = tf.placeholder(tf.uint8, [1, 24, 32, 3])
    resized = tf.image.resize_bilinear(images, [13, 17])
    batch = _batch((24, 32), np.uint8)
    with tf.Session() as sess:
        expected = [sess.run(resized, {images: batch[i : i + 1]}) for i in range(2)]
        wrong: list[int] = []

        def work(which: int) -> None:
            for _ in range(100):
                found = sess.run(resized, {images: batch[which : which + 1]})
                if not np.array_equal(found, expected[which]):
                    wrong.append(which)

        threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
