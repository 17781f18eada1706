"""`tf.contrib.image`: boxes matched, images warped; the expected values are TensorFlow 1.15's."""

import numpy as np
import pytest

import penstock as tf
from penstock.ir.bounded_tensor_spec import BoundedTensorSpec

_DISTANCES = [[0.5, 0.1, 0.8], [0.2, 0.15, 0.9]]


def _matched(distances, *args, **kwargs):
    with tf.Graph().as_default(), tf.Session() as sess:
        match = tf.contrib.image.bipartite_match(np.float32(distances), *args, **kwargs)
        rows, columns = sess.run(match)
        assert match.row_to_col_match_indices.shape.as_list() == list(rows.shape)
        assert match.col_to_row_match_indices.dtype == tf.int32
        return rows.tolist(), columns.tolist()


def test_the_nearest_pair_is_matched_first():
    assert _matched(_DISTANCES, -1) == ([1, 0], [1, 0, -1])
    assert _matched(np.transpose(_DISTANCES), -1) == ([1, 0, -1], [1, 0])


@pytest.mark.parametrize(
    ("valid", "top_k", "expected"),
    [
        (1.0, -1, ([1, -1], [-1, 0, -1])),
        (0.0, -1, ([-1, -1], [-1, -1, -1])),
        (-1.0, 1, ([1, -1], [-1, 0, -1])),
        ([2.0], -1, ([1, 0], [1, 0, -1])),
    ],
)
def test_some_rows_and_some_pairs(valid, top_k, expected):
    assert _matched(_DISTANCES, valid, top_k=top_k) == expected


def test_matching_without_static_sizes():
    with tf.Graph().as_default(), tf.Session() as sess:
        distances = tf.placeholder(tf.float32, [None, None])
        rows, columns = tf.contrib.image.bipartite_match(distances, -1)
        assert sess.run(columns, {distances: _DISTANCES}).tolist() == [1, 0, -1]
        assert rows.shape.as_list() == [None]


def test_pixels_come_from_where_the_flow_points():
    image = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    flow = np.zeros((1, 3, 4, 2), np.float32)
    flow[..., 1] = 0.5  # half a pixel from the left; the first column stays at the border
    with tf.Graph().as_default(), tf.Session() as sess:
        warped = tf.contrib.image.dense_image_warp(image, flow)
        assert warped.shape.as_list() == [1, 3, 4, 1]
        value = sess.run(warped)[0, ..., 0]
    np.testing.assert_allclose(value, [[0, 0.5, 1.5, 2.5], [4, 4.5, 5.5, 6.5], [8, 8.5, 9.5, 10.5]])


def test_the_gradient_of_a_warp_reaches_image_and_flow():
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.constant(np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1))
        flow = tf.fill([1, 3, 3, 2], 0.25)
        warped = tf.contrib.image.dense_image_warp(image, flow)
        by_image, by_flow = sess.run(tf.gradients(warped, [image, flow]))
    assert by_image.sum() == pytest.approx(9.0)
    assert by_flow[0, 1, 1].tolist() == [-3.0, -1.0]


def test_images_of_one_row_are_refused():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="at least 2x2"):
        tf.contrib.image.dense_image_warp(tf.zeros([1, 1, 4, 1]), tf.zeros([1, 1, 4, 2]))


def test_bounded_tensor_specs():
    spec = BoundedTensorSpec([None, 2], tf.float32, 0, [1, 2], "box")
    assert spec == BoundedTensorSpec.from_spec(spec)
    assert spec != BoundedTensorSpec([None, 2], tf.float32, 0, 3, "box")
    assert BoundedTensorSpec.from_spec(tf.TensorSpec([], tf.uint8)).maximum == 255
    with pytest.raises(ValueError, match="maximum is not compatible with shape"):
        BoundedTensorSpec([2, 2], tf.float32, 0, [1, 2, 3])
    with pytest.raises(ValueError, match="must be provided"):
        BoundedTensorSpec([2, 2], tf.float32, None, 3)
