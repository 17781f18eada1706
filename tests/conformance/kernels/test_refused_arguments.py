"""What TensorFlow 1.15 says of arguments that it refuses, while a graph is built and in a step."""

import numpy as np
import pytest

import penstock as tf


def ones(*shape):
    return tf.ones(shape)


BUILT = [
    (lambda: tf.stack([[1, 2], [3, 4]], axis=3), r"^axis = 3 not in \[-2, 2\)"),
    (lambda: tf.unstack(ones(2, 2), axis=-3), r"^axis = -3 not in \[-2, 2\)"),
    (lambda: tf.unstack(tf.placeholder(tf.int32)), "^Cannot infer num from shape "),
    (lambda: tf.pad([1], [[1, 0]], mode="weird"), "^Unknown padding mode: WEIRD"),
    (lambda: tf.expand_dims([1], [0, 1]), "must be a tensor with a single value"),
    (lambda: tf.matrix_transpose([1, 2]), r"should be a \(batch\) matrix, with rank >= 2"),
    (lambda: tf.matrix_set_diag(ones(2, 3), [1.0, 2.0, 3.0]), "must be equal, but are 2 and 3"),
    (lambda: tf.norm(ones(2, 2), ord="fro"), "^'ord' must be a supported vector norm, got fro"),
    (lambda: tf.accumulate_n([]), "must be a list of at least one Tensor with the same dtype"),
    (lambda: tf.accumulate_n([[1.0], [2]]), "with the same dtype and shape"),
    (lambda: tf.accumulate_n([ones(2)], shape=[3]), r"\(3,\) and \(2,\) are not compatible"),
    (lambda: tf.concat([], 0), "'values' to 'ConcatV2' Op with length 0 shorter than minimum"),
    (lambda: tf.string_join([]), "'inputs' to 'StringJoin' Op with length 0 shorter than minimum"),
    (lambda: tf.SparseTensor([0], [1], [3]), r"Shape \(1,\) must have rank 2"),
    (lambda: tf.SparseTensor([[0, 0]], [1], [3]), "Dimensions 2 and 1 are not compatible"),
    (lambda: tf.scatter_nd([[1]], [1.0], [0]), "updates specified for empty output shape"),
    (
        lambda: tf.scatter_nd(tf.zeros([3, 2, 2], tf.int32), ones(2, 2), [2, 2, 2]),
        r"The outer 2 dimensions of indices\.shape=\[3,2,2\] must match the outer 2 dimensions",
    ),
    (
        lambda: tf.scatter_nd([[0]], [[1, 2, 3]], [2, 2]),
        r"The inner 1 dimensions of output\.shape=\[2,2\] must match the inner 1 dimensions",
    ),
    (lambda: tf.sparse_to_dense([1, 3], [[5], [3]], 1), "must be rank 1"),
    (lambda: tf.image.non_max_suppression([[0.0, 0.0, 1.0]], [0.9], 2), "must be 4 but is 3"),
    (lambda: tf.nn.dropout([1.0]), "You must provide a rate to dropout"),
    (lambda: tf.nn.dropout([1], 0.5), "x has to be a floating point tensor"),
    (lambda: tf.nn.conv2d(ones(1, 3, 3, 1), ones(2, 2, 1, 1), [1, 1, 1], "SAME"), "but was 3"),
    (lambda: tf.parse_example([""], {}), "^Missing: features was {}"),
]


@pytest.mark.parametrize(("build", "message"), BUILT)
def test_a_graph_is_not_built(build, message):
    with pytest.raises(ValueError, match=message):
        build()


REFUSED_TYPES = [
    (lambda: tf.add(tf.constant([1]), 1.5), "Expected int32 passed to parameter 'y' of op 'Add'"),
    (lambda: tf.complex([1.0], tf.constant([1.0], tf.float64)), "^real and imag have incorrect"),
    (lambda: tf.add_n([tf.constant(1.0), tf.constant(1)]), "that don't all match"),
    (lambda: tf.nn.leaky_relu([1.0], tf.constant(0.5)), "Expected float for argument 'alpha' not"),
]


@pytest.mark.parametrize(("build", "message"), REFUSED_TYPES)
def test_types_are_refused(build, message):
    with pytest.raises(TypeError, match=message):
        build()


def fed(*shape):
    return tf.placeholder_with_default(np.ones(shape, np.float32), None)


RUN = [
    (lambda: tf.cumsum([1.0, 2.0], axis=[0]), "axis must be a scalar"),
    (lambda: tf.equal(fed(2), fed(3)), r"Incompatible shapes: \[2\] vs. \[3\]"),
    (lambda: tf.slice([1, 2, 3], [1], [3]), r"Expected size\[0\] in \[0, 2\], but got 3"),
    (lambda: tf.matrix_band_part(fed(2), 0, 0), "input must be at least 2-dim"),
    (
        lambda: tf.segment_sum([1, 2, 3, 4], [-1, -1, 0, 0]),
        r"Segment id -1 out of range \[0, 1\), possibly because 'segment_ids' input is not sorted",
    ),
    (lambda: tf.segment_sum([1, 2, 3, 4], [0, 1, 0, 1]), "segment ids are not increasing"),
    (lambda: tf.segment_sum([1, 2, 3, 4], [0, 1, 2, 0]), r"Segment id 1 out of range \[0, 1\)"),
    (lambda: tf.segment_sum([1, 2, 3, 4], [0, 0, 0, -1]), "segment ids must be >= 0"),
    (lambda: tf.sparse_to_dense([1, 3], [5], [1, 2], [0]), "default_value should be a scalar"),
    (lambda: tf.sparse_to_dense([[[0, 0]]], [2, 2], 5), "should be a scalar, vector, or matrix"),
    (lambda: tf.fake_quant_with_min_max_args([1.0], num_bits=1), "num_bits must be between 2 and"),
    (lambda: tf.confusion_matrix([1, 4], [2, 2], num_classes=3), "`labels`.*x < y"),
    (
        lambda: tf.nn.conv2d(
            tf.placeholder(tf.float32), tf.placeholder(tf.float32), [2, 1, 1, 1], "SAME"
        ),
        "strides in the batch and depth",
    ),
]


@pytest.mark.parametrize(("build", "message"), RUN)
def test_a_step_fails(build, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(build())


def test_indices_outside_of_a_variable():
    variable = tf.Variable(tf.zeros([6]))
    update = tf.scatter_nd_update(variable, [[2], [6]], [1.0, 2.0])
    with tf.Session() as session:
        session.run(variable.initializer)
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match=r"indices\[1\] = \[6\] does not index into shape \[6\]",
        ):
            session.run(update)


@pytest.mark.parametrize(
    ("window", "stride", "message"),
    [
        ([1, 2, 2, 2], [1, 1, 1, 2], "exactly one of pooling across depth"),
        ([1, 1, 1, 2], [1, 1, 1, 1], "depth window to equal the depth stride"),
        ([1, 1, 1, 3], [1, 1, 1, 2], "evenly divide"),
    ],
)
def test_pooling_over_channels(window, stride, message):
    pooled = tf.nn.max_pool(ones(1, 2, 2, 4), window, stride, "SAME")
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match=message):
        session.run(pooled)
