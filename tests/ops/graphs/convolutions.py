"""The nodes that convolutions and their gradients make."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.graphs.snapshot import error_of


def _image(tf: Any, *shape: Any) -> Any:
    return tf.placeholder(tf.float32, list(shape))


def conv2d(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    y = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
    return tf.gradients(y, [x, w])


def conv2d_of_unknown_batch(tf: Any) -> Any:
    x, w = _image(tf, None, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    y = tf.nn.conv2d(input=x, filters=w, strides=2, padding="VALID", name="c")
    return tf.gradients(y, [x, w])


def conv2d_with_explicit_padding(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    y = tf.nn.conv2d(x, w, 2, [[0, 0], [1, 2], [0, 1], [0, 0]], name="c")
    return tf.gradients(y, [x, w])


def conv2d_of_constants(tf: Any) -> Any:
    image, taps = np.ones((1, 3, 3, 1), np.float32), np.ones((2, 2, 1, 1), np.float32)
    return tf.nn.conv2d(image, taps, [1, 1], "VALID", data_format="NHWC")


def conv2d_of_more_batch_dimensions(tf: Any) -> Any:
    return tf.nn.conv2d(_image(tf, 2, 7, 8, 8, 3), _image(tf, 3, 3, 3, 4), 1, "SAME")


def conv2d_twice_differentiated(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    first = tf.gradients(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), [x, w])
    return tf.gradients(first, [x, w])


def conv2d_backprops(tf: Any) -> Any:
    x, w, g = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4), _image(tf, 2, 4, 4, 4)
    a = tf.nn.conv2d_backprop_input([2, 8, 8, 3], w, g, [1, 2, 2, 1], "SAME")
    b = tf.nn.conv2d_backprop_filter(x, [3, 3, 3, 4], g, [1, 2, 2, 1], "SAME")
    return tf.gradients([a, b], [x, w, g])


def conv2d_refused(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    return [
        error_of(lambda: tf.nn.conv2d(x, w, [1, 2, 1], "SAME")),
        error_of(lambda: tf.nn.conv2d(x, w, 1, "FULL")),
        error_of(lambda: tf.nn.conv2d(x, w, 1, [[1, 1], [1, 1]])),
        error_of(lambda: tf.nn.conv2d(x, w, 1, [[0, 0], [1, 1, 1], [1, 1], [0, 0]])),
        error_of(lambda: tf.nn.conv2d(x, w, 1, [[1, 0], [1, 1], [1, 1], [0, 0]])),
        error_of(lambda: tf.nn.conv2d(x, w, 1, "SAME", filters=w)),
        error_of(lambda: tf.nn.conv2d(x, w, 1)),
        error_of(lambda: tf.nn.conv2d(x, w, 1, "SAME", data_format="CHWN")),
        error_of(lambda: tf.nn.conv2d(_image(tf, 2, 8, 8), w, 1, "SAME")),
        error_of(lambda: tf.nn.conv2d(_image(tf, 2, 8, 8, 4), w, 1, "SAME")),
        error_of(lambda: tf.nn.conv2d(_image(tf, 2, 2, 8, 3), w, 1, "VALID")),
    ]


def conv2d_transpose(tf: Any) -> Any:
    x, w = _image(tf, None, 4, 4, 3), _image(tf, 3, 3, 5, 3)
    y = tf.nn.conv2d_transpose(x, w, tf.stack([tf.shape(x)[0], 8, 8, 5]), [1, 2, 2, 1])
    z = tf.nn.conv2d_transpose(_image(tf, 4, 4, 4, 3), w, [4, 8, 8, 5], 2, name="up")
    return [z, *tf.gradients(y, [x, w])]


def conv1d(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 3), _image(tf, 3, 3, 4)
    y = tf.nn.conv1d(x, w, 2, "SAME")
    z = tf.nn.conv1d(input=x, filters=w, stride=[1, 1, 1], padding="SAME", dilations=2, name="q")
    t = tf.nn.conv1d(_image(tf, 2, 3, 8), w, 1, "VALID", data_format="NCW")
    up = tf.nn.conv1d_transpose(x, _image(tf, 3, 4, 3), [2, 16, 4], 2)
    return [z, t, up, *tf.gradients(y, [x, w])]


def conv3d(tf: Any) -> Any:
    x, w = _image(tf, 2, 4, 8, 8, 3), _image(tf, 3, 3, 3, 3, 4)
    y = tf.nn.conv3d(x, w, [1, 2, 2, 2, 1], "SAME")
    up = tf.nn.conv3d_transpose(y, w, [2, 4, 8, 8, 3], [1, 2, 2, 2, 1])
    return tf.gradients([y, up], [x, w])


def conv_transpose(tf: Any) -> Any:
    return tf.nn.conv_transpose(_image(tf, 2, 4, 4, 3), _image(tf, 3, 3, 2, 3), [2, 8, 8, 2], 2)


def depthwise(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 2)
    y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
    return tf.gradients(y, [x, w])


def depthwise_dilated(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 2)
    y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME", rate=[2, 2])
    z = tf.nn.depthwise_conv2d(_image(tf, 2, None, None, 3), w, [1, 1, 1, 1], "SAME", rate=[2, 2])
    return [z, *tf.gradients(y, [x, w])]


def depthwise_native(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 2)
    first = tf.gradients(tf.nn.depthwise_conv2d_native(x, w, [1, 2, 2, 1], "VALID"), [x, w])
    return tf.gradients(first, [x, w])


def separable(tf: Any) -> Any:
    x, w, p = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 2), _image(tf, 1, 1, 6, 4)
    y = tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], "SAME")
    z = tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], "SAME", rate=[2, 1], name="dilated")
    return [z, *tf.gradients(y, [x, w, p])]


def atrous(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    y = tf.nn.atrous_conv2d(x, w, 2, "SAME")
    return [
        tf.nn.atrous_conv2d(x, w, 2, "VALID", name="valid"),
        tf.nn.atrous_conv2d(x, w, 1, "VALID"),
        tf.nn.atrous_conv2d(_image(tf, None, None, None, 3), w, 2, "SAME"),
        tf.nn.atrous_conv2d_transpose(x, _image(tf, 3, 3, 4, 3), [2, 8, 8, 4], 2, "SAME"),
        *tf.gradients(y, [x, w]),
    ]


def convolution(tf: Any) -> Any:
    x, w = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3, 4)
    volume, taps = _image(tf, 2, 9, 9, 9, 3), _image(tf, 3, 3, 3, 3, 4)
    return [
        tf.nn.convolution(x, w, "SAME"),
        tf.nn.convolution(x, w, "VALID", strides=[2, 2], name="strided"),
        tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 2]),
        tf.nn.convolution(x, w, "VALID", dilation_rate=[2, 1]),
        tf.nn.convolution(_image(tf, 2, 3, 8, 8), w, "SAME", None, [2, 2], data_format="NCHW"),
        tf.nn.convolution(_image(tf, 2, 9, 3), _image(tf, 3, 3, 4), "SAME"),
        tf.nn.convolution(_image(tf, 2, 9, 3), _image(tf, 3, 3, 4), "SAME", dilation_rate=[2]),
        tf.nn.convolution(_image(tf, 2, 3, 9), _image(tf, 3, 3, 4), "VALID", data_format="NCW"),
        tf.nn.convolution(volume, taps, "SAME", dilation_rate=[2, 2, 1]),
        error_of(lambda: tf.nn.convolution(x, w, "SAME", strides=[2, 2], dilation_rate=[2, 2])),
        error_of(lambda: tf.nn.convolution(tf.placeholder(tf.float32), x, "SAME")),
    ]


def space_to_batch(tf: Any) -> Any:
    x, w = _image(tf, 2, 9, 9, 3), _image(tf, 3, 3, 3, 4)

    def convolve(images: Any, dims: int, padding: str) -> Any:
        return tf.nn.conv2d(images, w, [1, 1, 1, 1], padding)

    same = tf.nn.with_space_to_batch(x, [2, 2], "SAME", convolve, filter_shape=[3, 3])
    open_height = _image(tf, 2, None, 9, 3)
    return [same, tf.nn.with_space_to_batch(open_height, [2, 1], "VALID", convolve)]


def dilation_and_erosion(tf: Any) -> Any:
    x, k = _image(tf, 2, 8, 8, 3), _image(tf, 3, 3, 3)
    y = tf.nn.dilation2d(x, k, [1, 1, 1, 1], [1, 2, 2, 1], "SAME")
    z = tf.nn.erosion2d(x, k, [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    return [z, *tf.gradients(y, [x, k])]
