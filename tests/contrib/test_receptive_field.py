"""`tf.contrib.receptive_field`; numbers are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import receptive_field, slim


def _two_paths(stride, padding):
    image = tf.placeholder(tf.float32, (None, None, None, 1), "image")
    wide = slim.conv2d(image, 1, [3, 3], stride=stride, padding=padding, scope="wide")
    narrow = slim.conv2d(image, 1, [1, 1], stride=stride, scope="narrow")
    narrow = slim.max_pool2d(narrow, [3, 3], stride=1, padding=padding)
    return image, tf.nn.relu(wide + narrow)


@pytest.mark.parametrize(
    ("stride", "padding", "resolution", "expected"),
    [
        (1, "SAME", None, [3, 3, 1, 1, 1, 1]),
        (2, "SAME", None, [5, 5, 2, 2, None, None]),
        (2, "SAME", [17, 17], [5, 5, 2, 2, 2, 2]),
    ],
)
def test_the_field_of_two_paths(stride, padding, resolution, expected):
    image, result = _two_paths(stride, padding)
    field = receptive_field.compute_receptive_field_from_graph_def(
        tf.get_default_graph(), image, result, input_resolution=resolution
    )
    assert list(field) == expected


def test_paths_that_are_not_aligned():
    image, result = _two_paths(2, "VALID")
    with pytest.raises(ValueError, match="center shift from different paths is different in hor"):
        receptive_field.compute_receptive_field_from_graph_def(
            tf.get_default_graph(), image, result
        )


def test_places_of_features_and_of_their_fields():
    image, result = _two_paths(2, "SAME")
    field = receptive_field.compute_receptive_field_from_graph_def(
        tf.get_default_graph(), image, result, input_resolution=[17, 17]
    )
    places = np.array([[0, 1], [2, 3]])
    centers = field.compute_input_center_coordinates(places)
    np.testing.assert_array_equal(centers, [[0, 2], [4, 6]])
    np.testing.assert_array_equal(field.compute_feature_coordinates(centers), places)
    with pytest.raises(ValueError, match="does not match dimensionality of `axis`"):
        field.compute_feature_coordinates([1.0], axis=[0, 1])


def _padded_network():
    image = tf.placeholder(tf.float32, (None, 64, 64, 1), "image")
    padded = tf.pad(image, [[0, 0], [1, 2], [3, 0], [0, 0]])
    net = slim.conv2d(padded, 2, [3, 3], stride=2, padding="VALID", scope="conv")
    return tf.identity(slim.avg_pool2d(net, [2, 2], stride=2), "result")


def test_sizes_between_nodes():
    _padded_network()
    graph_def = tf.get_default_graph().as_graph_def()
    infos, nodes = receptive_field.get_compute_order(graph_def, "image", [64, 64])
    assert infos["Pad"].output_size == [67, 67]
    assert infos["conv/Conv2D"].output_size == [33, 33]
    assert infos["result"].order > infos["conv/Conv2D"].order
    assert nodes["Pad"].op == "Pad"
    found = receptive_field.compute_receptive_field_from_graph_def(graph_def, "image", "result")
    assert list(found) == [5, 5, 4, 4, 3, 1]


@pytest.mark.parametrize(
    ("ends", "problem"),
    [
        (("image", "other"), "Output node was not found"),
        (("other", "result"), "Unknown layer for operation 'image': Placeholder"),
        (("image", "unknown"), "Unknown layer for operation 'unknown': Elu"),
    ],
)
def test_nodes_that_are_not_there_or_unknown(ends, problem):
    tf.nn.elu(_padded_network(), name="unknown")
    with pytest.raises(ValueError, match=problem):
        receptive_field.compute_receptive_field_from_graph_def(tf.get_default_graph(), *ends)
