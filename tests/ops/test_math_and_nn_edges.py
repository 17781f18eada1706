"""Edges of mathematical and neural-network ops, where values and errors are TensorFlow 1.15's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import linalg, signal
from penstock.ops.convolution import conv1d_transpose, conv2d_backprop_filter
from penstock.ops.pool import MaxPoolGrad


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default(), tf.Session().as_default():
        yield


def _normalized(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor) -> tf.Tensor:
    mean = tf.reduce_mean(x, [0, 1, 2])
    variance = tf.reduce_mean((x - mean) ** 2, [0, 1, 2])
    return (x - mean) * tf.rsqrt(variance + 1e-3) * scale + offset


def test_second_derivative_of_batch_normalization_through_its_own_result() -> None:
    random = np.random.RandomState(1)
    x = tf.constant(random.rand(2, 2, 2, 3), tf.float32)
    scale, offset = tf.constant([1.5, 1.0, 0.5]), tf.constant([0.1, 0.2, 0.3])

    def second(y: tf.Tensor) -> Any:
        first = tf.gradients(y**3, x)[0]
        return tf.gradients(tf.sin(first), [x, scale])

    fused, _, _ = tf.nn.fused_batch_norm(x, scale, offset)
    got, expected = tf.get_default_session().run(
        [second(fused), second(_normalized(x, scale, offset))]
    )
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


def test_gradient_of_max_pooling_goes_to_a_nan_only_where_a_window_begins_with_it() -> None:
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    image[0, 0, 0, 0] = image[0, 2, 3, 0] = np.nan
    windows: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    pooled = tf.nn.max_pool(image, **windows)
    gradient = MaxPoolGrad(image, pooled, np.full([1, 2, 2, 1], 7.0, np.float32), **windows)
    expected = np.zeros([4, 4])
    expected[0, 0] = expected[1, 3] = expected[3, 1] = expected[3, 3] = 7.0
    np.testing.assert_array_equal(gradient.eval()[0, :, :, 0], expected)


def test_gradient_of_max_pooling_over_nans_alone_with_padding() -> None:
    x = tf.constant(np.full([1, 3, 3, 1], np.nan), tf.float32)
    pooled = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    got = tf.gradients(pooled, x)[0].eval()[0, :, :, 0]
    np.testing.assert_array_equal(got, [[1, 0, 1], [0, 0, 0], [1, 0, 1]])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dilations": [2, 1, 1, 1], "padding": "SAME"}, "dilations in the batch and depth"),
        ({"padding": [[0, 0], [-1, 0], [0, 0], [0, 0]]}, "nonnegative"),
    ],
)
def test_a_convolution_is_refused_before_its_placeholders_are_asked_for(
    options: dict[str, Any], told: str
) -> None:
    image = tf.placeholder(tf.float32, [8, 9, 9, 3])
    grad = tf.placeholder(tf.float32, [8, 9, 9, 2])
    result = conv2d_backprop_filter(image, [2, 2, 3, 2], grad, strides=[1, 1, 1, 1], **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        result.eval()


def test_formats_of_convolutions() -> None:
    samples, filters = tf.ones([1, 4, 3]), tf.ones([2, 5, 3])
    with pytest.raises(ValueError, match='must be "NWC" or "NCW"'):
        conv1d_transpose(samples, filters, [1, 8, 5], 2, data_format="NHWC")
    with pytest.raises(ValueError, match='must be "NHWC" or "NCHW"'):
        tf.nn.convolution(tf.ones([1, 5, 5, 2]), tf.ones([2, 2, 2, 1]), "SAME", data_format="NQ")
    with pytest.raises(ValueError, match=r"output_shape must have shape \(4,\)"):
        tf.nn.atrous_conv2d_transpose(
            tf.ones([1, 5, 5, 2]), tf.ones([2, 2, 1, 2]), [1, 5, 5], 2, "SAME"
        )


def test_one_stride_of_a_convolution_counts_for_all_dimensions() -> None:
    result = tf.nn.convolution(tf.ones([1, 6, 7, 1]), tf.ones([3, 2, 1, 2]), "VALID", strides=[2])
    assert result.shape.as_list() == [1, 2, 3, 2]


def test_gradient_of_frames_is_dense() -> None:
    x = tf.constant(np.arange(6.0), tf.float32)
    gradient = tf.gradients(signal.frame(x, 3, 2), x)[0]
    assert isinstance(gradient, tf.Tensor)
    np.testing.assert_array_equal(gradient.eval(), [1, 1, 2, 1, 1, 0])


def test_einsum_labels() -> None:
    square = tf.constant(np.arange(4.0).reshape(2, 2))
    assert tf.einsum("ii", square).eval() == 3.0
    with pytest.raises(ValueError, match="an axis appears more than once: ii"):
        tf.einsum("ii->", square)
    letters = "abcdefghijklmnopqrstuvwxyz"
    of_ones = tf.ones([1] * 27)
    with pytest.raises(ValueError, match="52 dimensions"):
        tf.einsum(f"...{letters},...{letters.upper()}", of_ones, of_ones)


def test_absolute_values_of_sparse_complex_numbers() -> None:
    found = tf.abs(tf.SparseTensor([[0, 1]], [3 + 4j], [2, 2]))
    assert found.values.dtype is tf.float64
    assert found.values.eval() == [5.0]


def test_sampled_losses_of_arrays() -> None:
    weights, inputs = np.ones([5, 3], np.float32), np.ones([2, 3], np.float32)
    sampled = tf.constant([1, 2], tf.int64), tf.constant([[0.5], [0.5]]), tf.constant([0.1, 0.2])
    labels, biases = np.array([[1], [2]]), np.zeros(5, np.float32)
    loss = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 2, 5, sampled_values=sampled)
    assert loss.eval().shape == (2,)


@pytest.mark.parametrize("shape", [[0, 2, 2], [2, 0, 0]])
def test_square_root_of_no_matrices(shape: list[int]) -> None:
    assert linalg.sqrtm(tf.zeros(shape)).eval().shape == tuple(shape)


@pytest.mark.parametrize("length", [5, [[5]]])
def test_the_length_of_a_fourier_transform_is_a_vector(length: Any) -> None:
    with pytest.raises(ValueError, match=r"Shape .* must have rank 1"):
        signal.rfft(tf.ones([5]), length)


def test_softmax_along_an_axis_that_a_tensor_tells() -> None:
    logits = tf.constant(np.random.RandomState(1).rand(2, 3, 4), tf.float32)
    expected = tf.nn.softmax(logits, axis=1).eval()
    for axis in (tf.constant(1), tf.placeholder_with_default(-2, [])):
        along = tf.nn.softmax(logits, axis=axis)
        assert along.shape.as_list() == [2, 3, 4]
        np.testing.assert_allclose(along.eval(), expected, rtol=1e-6)
    too_large = tf.nn.log_softmax(tf.ones([4]), axis=tf.placeholder_with_default(100, []))
    with pytest.raises(tf.errors.InvalidArgumentError):
        too_large.eval()
