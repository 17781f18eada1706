"""What convolutions, poolings and their like refuse, in the words of TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf
from penstock.ops.convolution import conv_transpose
from penstock.ops.pooling import avg_pool_v2


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _images(*shape: int) -> Any:
    return tf.zeros(shape or [1, 5, 5, 2])


def _blocks(rate: Any, padding: str = "VALID", **options: Any) -> Any:
    images = options.pop("images", _images())
    return tf.nn.with_space_to_batch(images, rate, padding, lambda x, **_: x, **options)


def _transposed(filters: list[int], output: list[int], rate: int = 2, padding: str = "SAME") -> Any:
    return tf.nn.atrous_conv2d_transpose(_images(), tf.zeros(filters), output, rate, padding)


def _convolved(padding: Any) -> Any:
    return tf.nn.conv2d(_images(), tf.zeros([3, 3, 2, 4]), [1, 1, 1, 1], padding)


CASES: dict[str, Callable[[], Any]] = {
    "rank of input or filter must be known": lambda: tf.nn.convolution(
        tf.placeholder(tf.float32), tf.placeholder(tf.float32), "SAME"
    ),
    "Input tensor must be of rank 3, 4 or 5 but was 7.": lambda: tf.nn.convolution(
        _images(1, 2, 3, 4, 5, 6, 7), _images(1, 2, 3, 4, 5, 6, 7), "SAME"
    ),
    "dilation_rate must be positive": lambda: _blocks([0, 1]),
    "filter_shape must be specified for SAME padding": lambda: _blocks([2, 1], "SAME"),
    "Invalid padding method 'FULL'": lambda: _blocks([2, 1], "FULL"),
    "rate must be rank 1": lambda: _blocks([[2, 1]]),
    "rate must have known shape": lambda: _blocks(tf.placeholder(tf.int32)),
    "montonically increasing sequence of positive integers": lambda: _blocks(
        [2, 1], spatial_dims=[0, 1]
    ),
    "input tensor must have rank 3 at least": lambda: _blocks([2, 1], images=_images(3)),
    "value's input channels does not match filters' input channels, 2 != 3": lambda: _transposed(
        [3, 3, 4, 3], [1, 5, 5, 4]
    ),
    "output_shape does not match filter's output channels, 3 != 4": lambda: _transposed(
        [3, 3, 4, 2], [1, 5, 5, 3]
    ),
    "rate 0 cannot be less than one": lambda: _transposed([3, 3, 4, 2], [1, 5, 5, 4], rate=0),
    "padding must be either VALID or SAME": lambda: _transposed(
        [3, 3, 4, 2], [1, 5, 5, 4], padding="FULL"
    ),
    "1 <= num_spatial_dims <= 3": lambda: tf.nn.pool(
        _images(1, 2, 2, 2, 2, 2), [2, 2, 2, 2], "MAX", "SAME"
    ),
    "due to inconsistency between CPU and GPU": lambda: tf.nn.pool(
        _images(), [2, 2], "MAX", "SAME", strides=[3, 1]
    ),
    "ksize cannot be zero.": lambda: tf.nn.max_pool(_images(), [1, 0, 2, 1], 1, "SAME"),
    "Data formats other than 'NHWC' are not yet supported": lambda: tf.nn.max_pool_with_argmax(
        _images(), [1, 2, 2, 1], [1, 1, 1, 1], "SAME", data_format="NCHW"
    ),
    "Input tensor must be of rank 3, 4 or 5 but was 2.": lambda: avg_pool_v2(
        _images(2, 2), 2, 2, "SAME"
    ),
    "Element with index 0 of padding is not a list/tuple": lambda: _convolved([1, 2]),
    "Element with index 2 of padding has size 1": lambda: _convolved([[0, 0], [1, 1], [1]]),
    "must be of size 4. Got padding of size: 1": lambda: _convolved([[0, 0]]),
    "output_shape must be of length 3, 4 or 5 but was 2.": lambda: conv_transpose(
        None, 2, [2, 3], "SAME"
    ),
    "output_shape must be a tensor or sized collection.": lambda: conv_transpose(
        None, 2, None, "SAME"
    ),
    "Dimension must be 4 but is 3": lambda: tf.image.draw_bounding_boxes(
        _images(2, 4, 4, 3), _images(2, 1, 3)
    ),
    "channels must be in": lambda: tf.image.decode_image("", channels=2),
}


@pytest.mark.parametrize("words", CASES)
def test_refused(words: str) -> None:
    with pytest.raises(ValueError) as refused:
        CASES[words]()
    assert words in str(refused.value)
