"""What array functions refuse, with the classes and key phrases of TensorFlow 1.15."""

import numpy as np
import pytest
from penstock.python.ops import array_ops, gen_math_ops, inplace_ops

import penstock as tf


def run(tensor, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor, feeds)


def fed(value, dtype=tf.int32):
    return tf.placeholder_with_default(tf.constant(value, dtype), None)


# Literals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "kind", "words"),
    [
        ([None, 3], None, TypeError, r"Failed to convert object .*list.* Contents: \[None, 3\]"),
        ([None], tf.int32, TypeError, "Expected int32, got None of type 'NoneType'"),
        (None, None, ValueError, "None values not supported"),
        ([1, "a"], None, TypeError, "Failed to convert object of type <class 'list'>"),
        ({"a": 1}, None, TypeError, "Failed to convert object of type <class 'dict'>"),
        (2**70, None, TypeError, "Failed to convert object of type <class 'int'>"),
        (range(3), None, ValueError, r"must be a dense tensor: .*got shape \[3\], but wanted \[\]"),
        ([[1, 2], [3]], None, ValueError, r"dense .* got shape \[2\], but wanted \[2, 2\]"),
        ([[[1, 2], [3]]], None, ValueError, r"got shape \[1, 2\], but wanted \[1, 2, 2\]"),
        ([[1, 2], [3]], tf.int32, ValueError, "setting an array element with a sequence"),
        ([1, [2]], None, TypeError, "Failed to convert object"),
        ([["a"], [1, 2]], tf.int32, TypeError, "Expected int32, got 'a'"),
    ],
)
def test_what_is_no_constant(value, dtype, kind, words):
    with pytest.raises(kind, match=words):
        tf.constant(value, dtype)


def test_a_constant_holds_no_tensors():
    with pytest.raises(TypeError, match="List of Tensors when single Tensor expected"):
        tf.constant([tf.constant(1)])
    with pytest.raises(TypeError, match="Expected int32, got <tf.Tensor .* of type 'Tensor'"):
        tf.constant(tf.constant(1), tf.int32)


def test_large_integers_are_unsigned():
    assert tf.constant([2**63]).dtype == tf.uint64
    assert run(tf.constant(2**64 - 1)) == 2**64 - 1


def test_shapes_as_tensors_fit_their_type():
    large = tf.TensorShape([2**31, 2])
    assert tf.convert_to_tensor(large).dtype == tf.int64
    with pytest.raises(ValueError, match=r"a dimension is too large \(2147483648\)"):
        tf.convert_to_tensor(large, tf.int32)


def test_an_argument_says_why_it_was_not_converted():
    with pytest.raises(TypeError, match=r"instead\. Error: Expected int32, got 1\.5"):
        tf.scatter_nd_add(tf.Variable([1]), [[0]], [1.5])


# Shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.broadcast_to([1], [-2]),
        lambda: tf.fill([-3], 1.0),
        lambda: tf.random_uniform([-2, 3]),
        lambda: tf.scatter_nd([[0]], [1.0], [-6]),
        lambda: tf.reshape([1, 2], [-2]),
    ],
)
def test_sizes_below_minus_one_are_refused_early(make):
    with pytest.raises(ValueError, match="Invalid value in tensor used for shape: -"):
        make()


def test_inputs_of_unknown_rank_are_question_marks():
    known, unknown = tf.zeros([4, 4]), tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match=r"with input shapes: \?, \[4,4\], \[4\], \[\]"):
        tf.concat([unknown, known, tf.zeros([4])], 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.split(np.zeros((4, 3)), 2, [0, 1]), "Input must be scalar but has rank 1"),
        (lambda: tf.nn.top_k([1.0, 2.0], [1]), "Input must be scalar but has rank 1"),
        (lambda: tf.contrib.nn.nth_element([[0.1]], -1), "must be non-negative but is -1"),
        (lambda: tf.one_hot([[0, 1]], 3, axis=-2), "axis must be >= -1"),
        (lambda: tf.reverse(np.zeros([1] * 9), [0]), "more than 8 dimensions"),
        (lambda: tf.constant([1, 2, 3])[-4], "slice index -1 of dimension 0 out of bounds"),
        (lambda: tf.bitcast(np.zeros([1, 1], np.int8), tf.int32), "Cannot bitcast due to shape"),
        (lambda: tf.meshgrid([1], [2], indexing="z"), "indexing parameter must be either 'xy' or"),
        (lambda: tf.multinomial([[1.0, 2.0]], -1), "must be non-negative but is -1"),
        (lambda: tf.concat([[1]], tf.constant(0, shape=[1])), r"Shape \(1,\) must have rank 0"),
        (lambda: tf.batch_gather([1, 2], 0), r"batch_dims = -1 must be less than rank\(indices\)"),
        (lambda: tf.gather_nd([[1]], [[0]], batch_dims=-1), "does not allow negative batch_dims"),
        (lambda: tf.gather_nd([[1]], [[0]], batch_dims=2), r"less than rank\(indices\) = 2"),
        (lambda: tf.random_uniform([2], dtype=tf.string), "Invalid dtype tf.string"),
        (lambda: gen_math_ops.approximate_equal([1.0], [[1.0]]), "equal rank, but are 1 and 2"),
    ],
)
def test_refused_while_building(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_slices_name_what_an_index_may_be():
    with pytest.raises(TypeError) as caught:
        tf.constant([1, 2])["a"]
    assert str(caught.value).startswith(array_ops._SLICE_TYPE_ERROR)


def test_sizes_are_known_where_a_dimension_is_empty():
    assert tf.size(tf.placeholder(tf.float32, [None, 0])).op.type == "Const"


def test_shapes_may_be_asked_for_in_the_step():
    x = tf.zeros([2, 3])
    asked = [
        array_ops.shape_internal(x, optimize=False),
        array_ops.size_internal(x, optimize=False),
        array_ops.rank_internal(x, optimize=False),
    ]
    assert [tensor.op.type for tensor in asked] == ["Shape", "Size", "Rank"]


def test_images_keep_four_dimensions():
    for function in (tf.space_to_batch, tf.batch_to_space):
        moved = function(tf.placeholder(tf.float32), tf.placeholder(tf.int32), 2)
        assert moved.shape.as_list() == [None] * 4


# In a step ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.gather([[1]], [0], axis=fed([0, 0])), "axis must be scalar"),
        (lambda: tf.fill(fed([2]), fed([1.0, 2.0], tf.float32)), "value must be a scalar, got"),
        (lambda: tf.contrib.nn.nth_element([[0.1]], fed(-1)), "Need n >= 0, got -1"),
        (lambda: tf.contrib.nn.nth_element([[0.1]], fed(5)), r"must have at least n\+1 columns"),
        (
            lambda: tf.unsorted_segment_sum([[17]], [[7]], 2),
            r"segment_ids\[0,0\] = 7 is out of range \[0, 2\)",
        ),
        (
            lambda: tf.unsorted_segment_sum(fed([[1, 2]]), fed([0, 1]), 2),
            r"data.shape = \[1,2\] does not start with segment_ids.shape = \[2\]",
        ),
        (
            lambda: tf.matrix_set_diag(fed([[0.0]], tf.float32), fed(0.0, tf.float32)),
            "diagonal must be at least 1-dim",
        ),
        (
            lambda: array_ops.strided_slice_grad([3], [0], [2], [1], [1.0]),
            r"shape of dy was \[1\] instead of \[2\]",
        ),
        (
            lambda: tf.space_to_batch(fed(np.zeros([1, 2, 2, 1])), fed([[0, 0]] * 3), 2),
            r"paddings should have shape \[2, 2\] instead of \[3,2\]",
        ),
        (
            lambda: inplace_ops.inplace_update([[1.0]], [0, 1], [[10.0]]),
            r"i and x shape doesn't match at index 0: \[2\] vs. \[1,1\]",
        ),
        (
            lambda: tf.case([(fed(False, tf.bool), lambda: tf.constant(1))]),
            "Input error: None of conditions evaluated as True",
        ),
    ],
)
def test_refused_in_a_step(make, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(make())


@pytest.mark.parametrize("use_resource", [False, True])
def test_slices_scattered_into_variables(use_resource):
    def scatter(value, indices, updates):
        variable = tf.Variable(value, use_resource=use_resource)
        return tf.scatter_nd_update(variable, indices, updates)

    zeros = np.zeros([2, 2, 2], np.int32)
    with pytest.raises(ValueError, match=r"The inner 2 dimensions of input\.shape=\[2,2,2\]"):
        scatter(zeros, np.zeros([2, 2, 1], np.int32), zeros[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Output must be at least 1-D"):
        run(scatter(0.5, [[0]], [0.22]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1,0\] = \[5\] does not"):
        run(scatter([1, 2], [[[0]], [[5]]], [[3], [4]]))


# Rows by segment ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("indices", "ids", "words"),
    [
        ([8, 3, 0, 10], [0, 1, 2, 2], r"Index 10 out of range \[0, 10\)\."),
        ([8, 3, -1, 9], [0, 1, 2, 2], r"Index -1 out of range \[0, 10\)\."),
        ([8, 3, 0, 9], [0, 1, 1, 4], "Invalid number of segments"),
        ([8, 3, 0, 9], [0, 1, 5, 2], r"Segment id 5 out of range \[0, 3\)\."),
        ([8, 3, 0, 9], [-1, 0, 1, 1], r"Segment id -1 out of range \[0, 3\)\."),
    ],
)
def test_gradients_of_gathered_rows_check_their_positions(indices, ids, words):
    gradient = gen_math_ops.sparse_segment_mean_grad(np.ones([3, 4]), indices, ids, 10)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(gradient)


@pytest.mark.parametrize(
    ("ids", "count", "words"),
    [
        ([0, 1, 3, 5], 5, "segment ids must be < num_segments"),
        ([0, 1, 2, 0], 3, "segment ids are not increasing"),
        ([-1, 0, 1, 1], 3, r"Segment id -1 out of range \[0, 3\), possibly because"),
        ([-2, -2, -1, -1], 3, r"Segment id -2 out of range \[0, 3\), possibly because"),
    ],
)
def test_counted_segments(ids, count, words):
    summed = tf.sparse_segment_sum(np.ones([10, 4]), [8, 3, 0, 9], ids, num_segments=count)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(summed)


# Strings and bands ----------------------------------------------------------------------------


def test_strings_are_moved():
    words = np.array([b"a", b"b", b"c", b"d"]).reshape(1, 2, 2, 1)
    deep = tf.space_to_depth(words, 2)
    back = tf.depth_to_space(deep, 2)
    mirrored = tf.pad([[b"a", b"b"]], [[0, 0], [1, 0]], mode="REFLECT")
    doubled = tf.pad([[b"a", b"b"]], [[0, 0], [1, 0]], mode="SYMMETRIC")
    changed = inplace_ops.inplace_update([b"a", b"b"], [0], [b"c"])
    found = [run(x).ravel().tolist() for x in (deep, back, mirrored, doubled, changed)]
    assert found[0] == found[1] == [b"a", b"b", b"c", b"d"]
    assert found[2:] == [[b"b", b"a", b"b"], [b"a", b"a", b"b"], [b"c", b"b"]]


def test_empty_tensors_are_joined_into_wider_types():
    assert run(tf.bitcast(fed(np.zeros([0, 2])), tf.int64)).shape == (0,)


def test_rows_of_bands_start_at_the_left():
    square = np.arange(9.0).reshape(3, 3)
    part = tf.matrix_diag_part(square, k=(-1, 1))
    assert part.op.type == "MatrixDiagPartV2"
    assert run(part).tolist() == [[1, 5, 0], [0, 4, 8], [3, 7, 0]]
    whole = tf.matrix_set_diag(np.zeros([3, 3]), part, k=(-1, 1))
    assert run(whole).tolist() == [[0, 1, 0], [3, 4, 5], [0, 7, 8]]
    right = tf.matrix_diag_part(square, k=(-1, 1), align="RIGHT_LEFT")
    assert right.op.type == "MatrixDiagPartV3" and run(right)[0].tolist() == [0, 1, 5]


def test_a_gradient_without_x_has_no_hessian():
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(ValueError, match="None values not supported"):
        tf.hessians(x, x)


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: tf.constant_initializer(tf.zeros([])), TypeError, "initial value: .*Tensor"),
        (lambda: tf.variance_scaling_initializer(mode="x"), ValueError, "Invalid `mode` argument"),
        (lambda: tf.random_normal_initializer(dtype=tf.string), ValueError, "Expected floating"),
        (lambda: tf.orthogonal_initializer()([5]), ValueError, "must be at least two-dimensional"),
    ],
)
def test_initializers_refuse(make, kind, words):
    with pytest.raises(kind, match=words):
        make()
