"""Functions on arrays that are made of several nodes, against what NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def _run(tensor: Any, feed: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as session:
        return session.run(tensor, feed)


@pytest.fixture(autouse=True)
def _fresh_graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("axes", [([1, 2],), ([1, 2], [3, 4, 5]), ([1.0, 2.0], [3.0], [4.0, 5.0])])
def test_meshgrid(indexing: str, axes: Any) -> None:
    found = _run(tf.meshgrid(*axes, indexing=indexing))
    for value, wanted in zip(found, np.meshgrid(*axes, indexing=indexing), strict=True):  # type: ignore[call-overload]
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_boolean_mask(axis: int) -> None:
    mask = np.array([[True, False, True], [False, False, True]])
    if axis:
        mask = np.array([True, False, True])
        wanted = X[:, mask]
    else:
        wanted = X[mask]
    fed = tf.placeholder(tf.float32, [None, None, None])
    np.testing.assert_array_equal(_run(tf.boolean_mask(X, mask, axis=axis)), wanted)
    np.testing.assert_array_equal(_run(tf.boolean_mask(fed, mask, axis=axis), {fed: X}), wanted)


def test_sequence_mask() -> None:
    lengths = [[1, 3], [0, 2]]
    wanted = np.arange(3) < np.array(lengths)[..., None]
    np.testing.assert_array_equal(_run(tf.sequence_mask(lengths)), wanted)
    padded = _run(tf.sequence_mask(lengths, 5, tf.float32))
    assert padded.dtype == np.float32
    np.testing.assert_array_equal(padded, np.pad(wanted, [(0, 0), (0, 0), (0, 2)]))


@pytest.mark.parametrize("batch_dims", [1, 2])
def test_gather_nd_with_batch_dims(batch_dims: int) -> None:
    indices = np.array([[[0], [2], [1]], [[3], [3], [0]]])
    if batch_dims == 1:
        indices = np.array([[[0, 1], [2, 3]], [[1, 1], [0, 0]]])
        wanted: Any = [[X[b, i, j] for i, j in rows] for b, rows in enumerate(indices)]
    else:
        wanted = [[X[b, c, i[0]] for c, i in enumerate(rows)] for b, rows in enumerate(indices)]
    found = _run(tf.gather_nd(X, indices, batch_dims=batch_dims))
    np.testing.assert_array_equal(found, wanted)


def test_batch_gather() -> None:
    indices = np.array([[2, 0], [1, 1]])
    found = _run(tf.batch_gather(X, indices))
    np.testing.assert_array_equal(found, [X[0, [2, 0]], X[1, [1, 1]]])


@pytest.mark.parametrize("columns", [None, 2, 5])
@pytest.mark.parametrize("batch", [None, [2]])
def test_eye(columns: int | None, batch: list[int] | None) -> None:
    wanted = np.broadcast_to(np.eye(3, columns), (*(batch or []), 3, columns or 3))
    rows = tf.placeholder(tf.int32, [])
    np.testing.assert_array_equal(_run(tf.eye(3, columns, batch)), wanted)
    np.testing.assert_array_equal(_run(tf.eye(rows, columns, batch), {rows: 3}), wanted)


def test_required_paddings_make_sizes_divisible() -> None:
    sizes = tf.placeholder(tf.int32, [2])
    base = [[1, 1], [2, 2]]
    known = _run(tf.required_space_to_batch_paddings([4, 5], [2, 3], base))
    fed = _run(tf.required_space_to_batch_paddings(sizes, [2, 3], base), {sizes: [4, 5]})
    for paddings, crops in (known, fed):
        np.testing.assert_array_equal(paddings, [[1, 1], [2, 2]])
        np.testing.assert_array_equal(crops, [[0, 0], [0, 0]])


def test_lists_that_hold_tensors_become_one() -> None:
    x = tf.placeholder(tf.float32, [])
    packed = tf.convert_to_tensor([[x, 1.0], [2.0, x]])
    assert packed.op.type == "Pack"
    np.testing.assert_array_equal(_run(packed, {x: 7}), [[7, 1], [2, 7]])
    with pytest.raises(TypeError, match="Cannot convert a list containing a tensor of dtype"):
        tf.convert_to_tensor([x, tf.placeholder(tf.int32, [])])


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_gathered_from_a_concat_have_sparse_gradients(axis: int) -> None:
    a, b = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [2, 3])
    rows = tf.gather(tf.concat([a, b], axis), [0, 1, 0])
    slices = tf.gradients(rows, [a, b])
    assert all(isinstance(entry, tf.IndexedSlices) for entry in slices)
    dense = [tf.convert_to_tensor(entry) for entry in slices]
    found = _run(dense, {a: X[0, :2, :3], b: X[1, :2, :3]})
    touched = np.repeat([[2.0], [1.0]], 3, axis=1)
    wanted = [touched, np.zeros([2, 3]) if axis == 0 else touched]
    for value, reference in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(value, reference)


def test_one_output_of_an_op_with_a_list_of_them() -> None:
    fed = tf.placeholder(tf.float32, None)
    pieces = [
        tf.unstack(fed, num=1)[0],
        tf.split(fed, 1)[0][0],
        tf.dynamic_partition(fed, [0], 1)[0][0],
        tf.identity_n([fed])[0][0],
    ]
    for value in _run(pieces, {fed: X[:1]}):
        np.testing.assert_array_equal(value, X[0])


def test_known_sizes_decide_which_axes_were_stretched() -> None:
    """The axes that gradients of broadcasting ops sum over need no step where sizes tell them."""
    from penstock.ir.constants import constant_value
    from penstock.ops.broadcasting import BroadcastGradientArgs

    fold: Any = BroadcastGradientArgs.fold_rule
    x, y = tf.placeholder(tf.float32, [None, 10]), tf.placeholder(tf.float32, [10])
    decided = BroadcastGradientArgs(tf.shape(x), tf.shape(y))
    assert fold(decided.r0.op) == [[], [0]]
    # A graph being built knows as little as TensorFlow's.
    assert [constant_value(axes) for axes in decided] == [None, None]
    open_ = BroadcastGradientArgs(tf.shape(x), tf.shape(tf.placeholder(tf.float32, [5, 10])))
    assert fold(open_.r0.op) is None


def test_repeat():
    with tf.Graph().as_default(), tf.Session() as session:
        x = np.arange(6).reshape(2, 3)
        for repeats, axis in [(2, None), (3, 0), (2, 1), ([1, 3], 0), ([0, 2, 1], -1), ([4], 1)]:
            found = session.run(tf.repeat(x, repeats, axis=axis))
            np.testing.assert_array_equal(found, np.repeat(x, repeats, axis=axis))
        with pytest.raises(ValueError, match="out of bounds"):
            tf.repeat(x, 2, axis=2)


def test_sort_and_argsort():
    values = np.array([[3, 1, 2, 1], [0, 5, 4, 5]])
    with tf.Graph().as_default(), tf.Session() as session:
        for dtype in (np.float32, np.int32, np.uint8):
            unknown = tf.placeholder(dtype)
            for axis in (-1, -2, 0, 1):
                x = values.astype(dtype)
                ordered = np.sort(x, axis)
                assert np.array_equal(session.run(tf.sort(x, axis)), ordered)
                assert np.array_equal(session.run(tf.sort(unknown, axis), {unknown: x}), ordered)
                falling = session.run(tf.sort(x, axis, direction="DESCENDING"))
                assert np.array_equal(falling, np.flip(ordered, axis))
                order = session.run(tf.argsort(x, axis, stable=True))
                assert np.array_equal(order, np.argsort(x, axis, kind="stable"))
        with pytest.raises(ValueError, match="should be one of"):
            tf.sort(values, direction="UP")
        found = tf.searchsorted([[1, 3, 5], [2, 4, 6]], [[3, 9], [3, 4]], side="right")
        assert session.run(found).tolist() == [[2, 3], [1, 2]]


def test_the_shape_of_a_slice_that_begins_at_a_tensor() -> None:
    x, start = tf.placeholder(tf.float32, [3, 5]), tf.placeholder(tf.int32, [])
    assert tf.slice(x, [start, 1], [1, -1]).shape.as_list() == [1, 4]
    assert tf.slice(x, [start, 1], [-1, 2]).shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match="Negative dimension size"):
        tf.slice(x, [start, 6], [1, -1])


def test_zeros_like_of_the_type_false() -> None:
    """TensorFlow reads it as no type at all where the shape is known, and refuses it elsewhere."""
    assert tf.zeros_like(tf.constant([1, 2]), False).dtype is tf.int32
    with pytest.raises(TypeError, match="Cannot convert value False"):
        tf.zeros_like(tf.placeholder(tf.float32, [None]), False)


def test_no_type_is_the_default_of_the_op() -> None:
    numbers = tf.constant([1, 2, 1])
    made = {
        tf.int64: [tf.argmax(numbers, output_type=None), tf.random_poisson(1.0, [2], dtype=None)],
        tf.int32: [
            tf.shape(numbers, out_type=None),
            tf.size(numbers, out_type=None),
            tf.searchsorted([1.0, 2.0], [1.5], out_type=None),
            tf.unique(numbers, out_idx=None).idx,
            tf.unique_with_counts(numbers, out_idx=None).count,
            tf.setdiff1d(numbers, [2], index_dtype=None).idx,
            tf.histogram_fixed_width([1.0], [0.0, 2.0], dtype=None),
        ],
        tf.float32: [tf.bincount(numbers, dtype=None)],
        tf.bool: [tf.sequence_mask(numbers, dtype=None)],
    }
    for dtype, tensors in made.items():
        assert [tensor.dtype for tensor in tensors] == [dtype] * len(tensors)


def test_a_shape_is_one_object_until_more_is_known() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    before = x.shape
    assert x.get_shape() is before
    x.set_shape([3, None])
    assert x.shape is not before and x.shape.as_list() == [3, 2]
    assert before.as_list() == [None, 2]
