"""Functions of images where they follow TensorFlow 1.15 rather than its successors, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.image_resizing import resize_images_v2

IMAGE = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)
TRANSFORMED = [
    tf.image.flip_left_right,
    tf.image.flip_up_down,
    tf.image.random_flip_left_right,
    tf.image.random_flip_up_down,
    tf.image.transpose_image,
    tf.image.rot90,
]


def _run(tensor: Any, feeds: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as session:
        return session.run(tensor, feeds)


@pytest.mark.parametrize("function", TRANSFORMED)
def test_what_has_no_rank_is_one_image(function: Any) -> None:
    assert function(tf.placeholder(tf.uint8)).shape.ndims == 3
    assert function(tf.placeholder(tf.uint8, [None] * 4)).shape.ndims == 4


@pytest.mark.parametrize("function", TRANSFORMED)
def test_what_is_no_image(function: Any) -> None:
    with pytest.raises(ValueError, match="must be at least three-dimensional"):
        function(tf.placeholder(tf.uint8, [None, None]))
    with pytest.raises(ValueError, match="all dims of 'image.shape' must be > 0"):
        function(tf.placeholder(tf.uint8, [64, 0, 3]))
    with pytest.raises(ValueError, match="'image' must have either 3 or 4 dimensions."):
        function(tf.placeholder(tf.uint8, [1, 1, 64, 64, 3]))


@pytest.mark.parametrize("k", range(-1, 5))
def test_turned_as_numpy_does(k: int) -> None:
    turns = tf.placeholder(tf.int32, [])
    assert np.array_equal(_run(tf.image.rot90(IMAGE, turns), {turns: k}), np.rot90(IMAGE, k))
    batch = np.stack([IMAGE, IMAGE + 1])
    turned = _run(tf.image.rot90(batch, turns), {turns: k})
    assert np.array_equal(turned, np.rot90(batch, k, axes=(1, 2)))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64"])
def test_standardization_keeps_the_type(dtype: str) -> None:
    image = tf.constant(IMAGE.astype(dtype))
    assert tf.image.per_image_standardization(image).dtype.name == dtype


def test_standardization() -> None:
    standard = _run(tf.image.per_image_standardization(IMAGE))
    assert standard.mean() == pytest.approx(0, abs=1e-6)
    assert standard.std() == pytest.approx(1, abs=1e-5)
    even = np.full((5, 5, 3), 249, np.float32)
    assert not _run(tf.image.per_image_standardization(even)).any()


def test_flips_of_a_batch_are_drawn_for_each_image() -> None:
    batch = np.tile(np.arange(4, dtype=np.float32)[:, None], (64, 1, 1, 1)).reshape(64, 1, 4, 1)
    flipped = _run(tf.image.random_flip_left_right(batch, seed=7))
    kept = (flipped == batch).all((1, 2, 3))
    assert 16 < kept.sum() < 48
    assert np.array_equal(flipped[~kept], batch[~kept][:, :, ::-1])


def test_errors_at_run_time_say_what_is_wrong() -> None:
    image, offset = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [])
    cropped = tf.image.crop_to_bounding_box(image, offset, 0, 1, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="offset_height must be >= 0"):
        _run(cropped, {image: IMAGE, offset: -1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="height must be >= target"):
        _run(cropped, {image: IMAGE, offset: 2})
    padded = tf.image.pad_to_bounding_box(image, 0, 0, 5, 5)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        _run(padded, {image: IMAGE[:0]})
    assert r"all dims of \'image.shape\' must be > 0" in str(error.value)


def test_an_image_of_the_size_is_left_alone() -> None:
    image = tf.constant(IMAGE.astype(np.uint8)[None])
    assert tf.image.resize_images(image, [2, 4]) is image
    assert resize_images_v2(image, [2, 4]).dtype == tf.float32


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian"])
@pytest.mark.parametrize("antialias", [False, True])
def test_even_images_stay_even(method: str, antialias: bool) -> None:
    even = np.full((1, 12, 9, 3), 5, np.float32)
    resized = _run(resize_images_v2(even, [5, 14], method, antialias=antialias))
    np.testing.assert_allclose(resized, np.full((1, 5, 14, 3), 5), rtol=1e-5)


def test_the_ratio_of_an_image_is_kept() -> None:
    image = tf.placeholder(tf.float32, [None, None, 3])
    kept = tf.image.resize_images(image, [10, 10], preserve_aspect_ratio=True)
    assert _run(kept, {image: np.zeros((20, 40, 3))}).shape == (5, 10, 3)
    padded = tf.image.resize_image_with_pad(image, 10, 10)
    result = _run(padded, {image: np.ones((20, 40, 3))})
    assert result[:, 0, 0].tolist() == [0, 0, 1, 1, 1, 1, 1, 0, 0, 0]


def test_old_names() -> None:
    assert tf.image.per_image_whitening is tf.image.per_image_standardization
    assert tf.image.resize is tf.image.resize_images
    assert tf.image.transpose is tf.image.transpose_image
    assert tf.image.resize_with_crop_or_pad is tf.image.resize_image_with_crop_or_pad
    assert tf.extract_image_patches is tf.image.extract_image_patches


def test_old_random_crop() -> None:
    from penstock.ops.image_patches import RandomCrop

    image = tf.constant(np.arange(300, dtype=np.int32).reshape(10, 30, 1))
    crop = RandomCrop(image, [3, 7], seed=3, seed2=4)
    with tf.Session() as session:
        assert session.run(crop)[0, 0, 0] == 34  # as in TensorFlow
        session.run(crop)
    with pytest.raises(tf.errors.FailedPreconditionError):
        _run(RandomCrop(image, [11, 2], seed=3))


def test_contributed_transforms() -> None:
    image = tf.constant(IMAGE)
    shifted = _run(tf.contrib.image.translate(image, [1, 0]))
    assert np.array_equal(shifted[:, 1:], IMAGE[:, :-1])
    assert not shifted[:, 0].any()
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    turned = _run(tf.contrib.image.rotate(tf.constant(square), np.pi / 2))
    np.testing.assert_allclose(turned, np.rot90(square), atol=1e-5)
    shifts = [[1.0, 0, -dx, 0, 1, 0, 0, 0] for dx in (1, 2)]
    twice = tf.contrib.image.compose_transforms(*shifts)
    assert _run(twice).tolist() == [[1, 0, -3, 0, 1, 0, 0, 0]]


def test_similarity_of_an_image_with_itself() -> None:
    image = tf.constant(np.random.RandomState(0).rand(1, 180, 180, 3).astype(np.float32))
    assert _run(tf.image.ssim(image, image, 1.0))[0] == pytest.approx(1)
    assert _run(tf.image.ssim_multiscale(image, image, 1.0))[0] == pytest.approx(1)
    assert _run(tf.image.psnr(image, image, 1.0))[0] == np.inf


def _suppressed(boxes: Any, scores: Any, threshold: float) -> list[int]:
    boxes, scores = np.asarray(boxes, np.float32), np.asarray(scores, np.float32)
    kept = tf.image.non_max_suppression(boxes, scores, len(scores), threshold)
    return [int(number) for number in _run(kept)]


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        ([1] * 5, [0, 2, 4, 1, 3]),
        ([1] * 8, [0, 2, 6, 7, 5, 4, 3, 1]),
        ([1] * 12, [0, 2, 6, 11, 10, 9, 8, 7, 5, 4, 3, 1]),
        ([1, 3, 2, 1, 3, 2], [1, 4, 2, 5, 3, 0]),
        ([0.1, 0.4, 0.3, 0.2], [1, 2, 3, 0]),
    ],
)
def test_boxes_of_equal_scores_come_in_the_order_of_tensorflows_heap(
    scores: list[float], order: list[int]
) -> None:
    apart = [[2 * i, 0, 2 * i + 1, 1] for i in range(len(scores))]
    assert _suppressed(apart, scores, 0.3) == order


def test_boxes_that_overlap_by_the_threshold_are_suppressed() -> None:
    boxes = [[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, 1, 0.25]]
    assert _suppressed(boxes, [0.9, 0.8, 0.7], 0.5) == [0, 2]
    assert _suppressed(boxes, [0.9, 0.8, 0.7], 0.51) == [0, 1, 2]
    assert _suppressed(boxes, [0.9, 0.9, 0.9], 0.5) == [0, 2]
    assert _suppressed([boxes[0], boxes[0]], [0.9, 0.8], 1.0) == [0]
