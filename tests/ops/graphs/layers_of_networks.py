"""The nodes that pooling, activations, normalization and dropout make."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _image(tf: Any, *shape: Any) -> Any:
    return tf.placeholder(tf.float32, list(shape))


def pooling(tf: Any) -> Any:
    x = _image(tf, 2, 8, 8, 3)
    y = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    z = tf.nn.avg_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
    return [
        tf.nn.max_pool(x, 2, 2, "VALID", name="m"),
        tf.nn.max_pool2d(x, [2, 3], [2], "SAME"),
        tf.nn.max_pool_v2(x, 2, 2, "SAME"),
        tf.nn.avg_pool_v2(x, 2, 2, "VALID"),
        *tf.gradients([y, z], x),
    ]


def pooling_with_padding(tf: Any) -> Any:
    return tf.nn.max_pool2d(_image(tf, 2, 8, 8, 3), [2, 3], [2], [[0, 0], [1, 1], [1, 1], [0, 0]])


def pooling_twice_differentiated(tf: Any) -> Any:
    x = _image(tf, 2, 8, 8, 3)
    y = tf.nn.max_pool(x, 3, 2, "SAME") * tf.nn.avg_pool(x, 3, 2, "SAME")
    return tf.gradients(tf.gradients(y, x), x)


def pooling_of_other_ranks(tf: Any) -> Any:
    x, v = _image(tf, 2, 8, 3), _image(tf, 2, 8, 8, 8, 3)
    a = tf.nn.max_pool3d(v, 2, 2, "SAME")
    b = tf.nn.avg_pool3d(v, 2, [1, 2, 2, 2, 1], "SAME")
    return [
        tf.nn.max_pool1d(x, 2, 2, "SAME"),
        tf.nn.avg_pool1d(x, [2], 2, "VALID"),
        tf.nn.max_pool1d(_image(tf, 2, 3, 8), 2, 2, "SAME", data_format="NCW"),
        *tf.gradients(tf.gradients([a * a, b * b], v), v),
    ]


def pooling_with_argmax(tf: Any) -> Any:
    x = _image(tf, 2, 8, 8, 3)
    y, _ = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return tf.gradients(y, x)


def pool(tf: Any) -> Any:
    x = _image(tf, 2, 8, 8, 3)
    return [
        tf.nn.pool(x, [2, 2], "MAX", "SAME"),
        tf.nn.pool(x, [2, 2], "AVG", "VALID", strides=[2, 2], name="p"),
        tf.nn.pool(x, [3, 2], "MAX", "VALID", dilation_rate=[2, 1]),
        tf.nn.pool(_image(tf, 2, 9, 3), [2], "MAX", "SAME"),
        tf.nn.pool(_image(tf, 2, 3, 9), [2], "AVG", "SAME", strides=[2], data_format="NCW"),
        tf.nn.pool(_image(tf, 2, 9, 9, 9, 3), [2, 2, 2], "MAX", "SAME"),
        error_of(lambda: tf.nn.pool(x, [2, 2], "AVG", "SAME", dilation_rate=[2, 2])),
        error_of(lambda: tf.nn.pool(x, [2, 2], "MIN", "SAME")),
    ]


def pooling_refused(tf: Any) -> Any:
    x = _image(tf, 2, 8, 8, 3)
    return [
        error_of(lambda: tf.nn.max_pool(x, [1, 2, 2], 2, "SAME")),
        error_of(lambda: tf.nn.max_pool(x, 0, 2, "SAME")),
        error_of(lambda: tf.nn.max_pool(x, 2, 2, "EXPLICIT")),
        error_of(lambda: tf.nn.max_pool(x, 9, 2, "VALID")),
        error_of(lambda: tf.nn.avg_pool(_image(tf, 2, 8, 8), 2, 2, "SAME")),
        error_of(lambda: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", data_format="NCHW")),
    ]


def activations(tf: Any) -> Any:
    x = _image(tf, 2, 3)
    names = "relu relu6 elu selu softplus softsign leaky_relu crelu sigmoid tanh".split()
    return tf.gradients([getattr(tf.nn, name)(x) for name in names], x)


def activations_twice_differentiated(tf: Any) -> Any:
    x = _image(tf, 2, 3)
    names = "relu relu6 elu selu leaky_relu softplus".split()
    return [tf.gradients(tf.gradients(getattr(tf.nn, n)(x) ** 2, x), x) for n in names]


def activations_of_numbers(tf: Any) -> Any:
    return [
        tf.nn.relu([1.0, -1.0]),
        tf.nn.relu6([1.0, -1.0], name="six"),
        tf.nn.leaky_relu([1, -1], alpha=0.5),
        tf.nn.crelu([[1.0, -1.0]], axis=0),
        error_of(lambda: tf.nn.elu([1])),
    ]


def biases(tf: Any) -> Any:
    x, b = _image(tf, 2, 8, 8, 3), _image(tf, 3)
    y = tf.nn.bias_add(x, b)
    channels_first = tf.nn.bias_add(_image(tf, 2, 3, 4, 4), b, "NCHW")
    w = _image(tf, 3, 3)
    return [
        tf.nn.bias_add(_image(tf, 2, 3), [1.0, 2.0, 3.0], "N...C"),
        tf.nn.xw_plus_b(_image(tf, 2, 3), w, b),
        tf.nn.relu_layer(_image(tf, 2, 3), w, b, name="layer"),
        error_of(lambda: tf.nn.bias_add(x, _image(tf, 4))),
        error_of(lambda: tf.nn.bias_add(x, b, "CN")),
        *tf.gradients(tf.gradients([y * y, channels_first * channels_first], b), b),
    ]


def softmax(tf: Any) -> Any:
    x = _image(tf, 2, 3, 4)
    y = tf.nn.softmax(x, axis=1)
    return [
        tf.nn.log_softmax(x, axis=0, name="ls"),
        tf.nn.softmax(x, dim=-2),
        tf.nn.softmax(tf.placeholder(tf.float32)),
        error_of(lambda: tf.nn.softmax(x, axis=3)),
        *tf.gradients(y, x),
        *tf.gradients(tf.nn.log_softmax(x), x),
    ]


def moments(tf: Any) -> Any:
    x, w = _image(tf, 4, 3), _image(tf, 4, 1)
    return [
        tf.nn.moments(x, [0]),
        tf.nn.moments(x, [0], keep_dims=True, name="kept"),
        tf.nn.moments(tf.placeholder(tf.half, [2, 3]), [0]),
        tf.nn.weighted_moments(x, [0], w),
        tf.nn.weighted_moments(_image(tf, None, 3), [0, 1], 2.0, keepdims=True),
        tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0])),
        tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0], shift=1.0, keep_dims=True)),
        tf.nn.sufficient_statistics(_image(tf, None, 3), [0])[0],
        tf.nn.l2_normalize(x, 1),
        tf.nn.l2_normalize(x, [0, 1], name="n"),
        tf.nn.zero_fraction(x),
        error_of(lambda: tf.nn.moments(x, [0], keep_dims=True, keepdims=True)),
    ]


def batch_normalization(tf: Any) -> Any:
    x, v = _image(tf, 2, 8, 8, 3), _image(tf, 3)
    return [
        tf.nn.batch_normalization(x, v, v, v, v, 1e-3),
        tf.nn.batch_normalization(x, v, v, None, None, 1e-3),
        tf.nn.batch_normalization(x, v, v, v, None, 1e-3, name="b"),
        tf.nn.batch_norm_with_global_normalization(x, v, v, v, v, 1e-3, True),
        tf.nn.batch_norm_with_global_normalization(x, v, v, v, v, 1e-3, False),
    ]


def fused_batch_norm(tf: Any) -> Any:
    x, v = _image(tf, 2, 8, 8, 3), _image(tf, 3)
    y, mean, variance = tf.nn.fused_batch_norm(x, v, v)
    z, _, _ = tf.nn.fused_batch_norm(x, v, v, v, v, is_training=False, name="fixed")
    first = _image(tf, 2, 3, 8, 8)
    t, _, _ = tf.nn.fused_batch_norm(first, v, v, v, v, data_format="NCHW", is_training=False)
    refused = error_of(lambda: tf.nn.fused_batch_norm(x, v, v, is_training=False))
    return [mean, variance, refused, z, t, *tf.gradients(y, [x, v])]


def local_response_normalization(tf: Any) -> Any:
    x = _image(tf, 2, 8, 8, 3)
    y = tf.nn.lrn(x, 4, bias=1.0, alpha=0.125, beta=0.75)
    return [tf.nn.local_response_normalization(x), *tf.gradients(y, x)]


def dropout(tf: Any) -> Any:
    x = _image(tf, 2, 3)
    y = tf.nn.dropout(x, 0.5)
    return [
        tf.nn.dropout(x, rate=0.25, seed=3, name="d"),
        tf.nn.dropout(x, keep_prob=1.0),
        tf.nn.dropout(x, _image(tf), noise_shape=[2, 1]),
        tf.nn.dropout(x, rate=_image(tf), noise_shape=[None, 1]),
        tf.nn.dropout(_image(tf, None, 3), rate=0.25),
        tf.nn.dropout(tf.placeholder(tf.half, [2]), keep_prob=0.5),
        error_of(lambda: tf.nn.dropout(x, 0.0)),
        error_of(lambda: tf.nn.dropout(x)),
        error_of(lambda: tf.nn.dropout(x, 0.5, rate=0.5)),
        error_of(lambda: tf.nn.dropout(tf.placeholder(tf.int32, [2]), 0.5)),
        *tf.gradients(y, x),
    ]
