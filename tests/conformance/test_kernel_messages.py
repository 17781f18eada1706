"""The words of TensorFlow's kernels for shapes that are wrong only when a step runs."""

import numpy as np
import pytest

import penstock as tf


def ones(*shape):
    return np.ones(shape, np.float32)


CASES = [
    (lambda a, b: a + b, [ones(2), ones(3)], r"Incompatible shapes: \[2\] vs. \[3\]"),
    (lambda a, b: a < b, [ones(2, 3), ones(3, 2)], r"Incompatible shapes: \[2,3\] vs. \[3,2\]"),
    (tf.matmul, [ones(2, 3), ones(2, 3)], r"In\[0\] mismatch In\[1\] shape: 3 vs. 2: \[2,3\]"),
    (tf.matmul, [ones(2), ones(2, 3)], r"In\[0\] ndims must be >= 2: 1"),
    (tf.matmul, [ones(2, 2, 3), ones(3, 3, 2)], "must have compatible batch dimensions"),
    (
        lambda a, b: tf.sparse_matmul(a, b),
        [ones(2, 3), ones(2, 3)],
        r"Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[2,3\]",
    ),
    (
        lambda a, b: tf.add_n([a, b], name="sum"),
        [ones(2), ones(3)],
        r"operation sum of type AddN .*  Input 0: \[2\] != input 1: \[3\]",
    ),
    (tf.where, [np.array([True, False]), ones(2), ones(3)], r"Input 0: \[2\] != input 2: \[3\]"),
    (
        tf.where,
        [np.array([True, False]), ones(3, 1), ones(3, 1)],
        "Number of batches of 'then' must match size of 'cond', but saw: 3 vs. 2",
    ),
    (
        tf.where,
        [np.array(True), ones(2), ones(3)],
        r"'then' and 'else' must have the same size.  but received: \[2\] vs. \[3\]",
    ),
    (
        lambda a, b: tf.concat([a, b], 0),
        [ones(2, 3), ones(2, 2)],
        r"ConcatOp : Dimensions of inputs should match: shape\[0\] = \[2,3\] vs. shape\[1\]",
    ),
    (
        lambda a, b: tf.concat([a, b], 0),
        [ones(2, 3), ones(2)],
        r"ConcatOp : Ranks of all input tensors should match: shape\[0\] = \[2,3\]",
    ),
    (
        lambda a, axis: tf.concat([a, a], axis),
        [ones(2, 3), np.int32(5)],
        r"ConcatOp : Expected concatenating dimensions in the range \[-2, 2\), but got 5",
    ),
    (
        lambda a, b: tf.stack([a, b]),
        [ones(3), ones(2)],
        r"values\[0\].shape = \[3\] != values\[1\].shape = \[2\]",
    ),
    (
        tf.reshape,
        [ones(3), np.int32([2, 2])],
        "Input to reshape is a tensor with 3 values, but the requested shape has 4",
    ),
    (tf.reshape, [ones(3), np.int32([2, -1])], "requires a multiple of 2"),
    (tf.reshape, [ones(3), np.int32([-1, -1])], "Only one input size may be -1, not both 0 and 1"),
    (tf.reshape, [ones(3), np.int32([-2, 3])], "Size 0 must be non-negative, not -2"),
    (tf.reshape, [ones(3), np.int32([[3]])], r"sizes input must be 1-D, not \[1,1\]"),
    (tf.transpose, [ones(3, 2), np.int32([0])], "transpose expects a vector of size 2."),
    (tf.transpose, [ones(3, 2), np.int32([0, 5])], r"5 is out of range \[0 .. 2\)"),
    (tf.expand_dims, [ones(3, 2), np.int32(5)], "Tried to expand dim index 5 for tensor with 2"),
    (lambda a: tf.squeeze(a, [7]), [ones(3, 2)], "Tried to squeeze dim index 7 for tensor with 2"),
    (tf.tile, [ones(3, 2), np.int32([1])], "to be a vector of length 2 but got length 1"),
    (tf.range, [np.int32(0), np.int32(5), np.int32(0)], "Requires delta != 0: 0"),
    (tf.gather_nd, [ones(3, 2), np.int32([[0, 0, 0]])], "index innermost dimension length must be"),
    (
        lambda a, b: tf.dynamic_stitch([a], [b]),
        [np.int32([0, 1]), ones(3)],
        r"data\[0\].shape = \[3\] does not start with indices\[0\].shape = \[2\]",
    ),
    (tf.matrix_diag_part, [ones(2)], r"input must be at least 2-dim, received shape: \[2\]"),
    (
        tf.nn.bias_add,
        [ones(2, 3), ones(2)],
        r"Must provide as many biases as the last dimension of the input tensor: \[2\] vs. \[2,3\]",
    ),
    (
        lambda a, b: tf.nn.softmax_cross_entropy_with_logits_v2(labels=b, logits=a),
        [ones(2, 3), ones(2, 2)],
        r"logits and labels must be broadcastable: logits_size=\[2,3\] labels_size=\[2,2\]",
    ),
    (
        lambda a, b: tf.nn.conv2d(a, b, [1, 1, 1, 1], "SAME"),
        [ones(1, 4, 4, 3), ones(2, 2, 2, 1)],
        "input depth must be evenly divisible by filter depth: 3 vs 2",
    ),
    (
        lambda a: tf.nn.max_pool(a, [1, 3, 3, 1], [1, 1, 1, 1], "VALID"),
        [ones(1, 1, 1, 1)],
        "Computed output size would be negative: -1",
    ),
    (
        lambda a, b: tf.nn.in_top_k(a, b, 2),
        [ones(3, 2), np.int32([1, 1])],
        "First dimension of predictions 3 must match length of targets 2",
    ),
    (tf.nn.lrn, [ones(3)], "in must be 4-dimensional"),
    (
        lambda a, b: tf.nn.dilation2d(a, b, [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
        [ones(1, 4, 4, 3), ones(2, 2, 2)],
        "input and filter must have the same depth: 3 vs 2",
    ),
    (
        lambda a: tf.space_to_depth(a, 2),
        [ones(1, 3, 3, 1)],
        "Image width 3 and height 3 should be divisible by block_size: 2",
    ),
    (
        lambda a: tf.depth_to_space(a, 2),
        [ones(1, 3, 3, 3)],
        "Input depth dimension 3 should be divisible by: 4",
    ),
    (
        lambda a, b: tf.sparse_to_dense(a, [3], b),
        [np.int32([1, 0]), ones(2)],
        r"indices\[1\] = \[0\] is out of order. Many sparse ops require sorted indices.",
    ),
    (tf.diag_part, [ones(2, 3)], r"Invalid shape \[2,3\]: dimensions 0 and 1 do not match."),
    (
        lambda a: tf.py_func(lambda x: np.int64(1), [a], tf.float32),
        [ones(1)],
        "0-th value returned by pyfunc_.* is int64, but expects float",
    ),
    (lambda a: a + tf.placeholder(tf.float64), [np.float64(1)], "with dtype double and shape"),
]


@pytest.mark.parametrize(("build", "given", "words"), CASES)
def test_words_of_kernels(build, given, words):
    feeds = [tf.placeholder(value.dtype) for value in given]
    result = build(*feeds)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(result, dict(zip(feeds, given, strict=True)))
