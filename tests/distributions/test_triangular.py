"""Matrices from vectors, sums in logarithms, and shapes that are known while building."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.distributions import special_math, static_shapes, triangular


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_a_spiral_fills_a_triangle() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    lower, upper = triangular.fill_triangular(x), triangular.fill_triangular(x, upper=True)
    assert lower.shape == [3, 3]
    assert _run(lower).tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert _run(upper).tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 4]]
    with pytest.raises(ValueError, match="does not correspond to a triangular matrix"):
        triangular.fill_triangular([1.0, 2.0])


@pytest.mark.parametrize("upper", [False, True])
def test_the_inverse_gives_the_vector_back(upper: bool) -> None:
    x = np.arange(30.0).reshape(5, 6)
    fed = tf.placeholder(tf.float64)
    known = triangular.fill_triangular_inverse(triangular.fill_triangular(x, upper), upper)
    assert known.shape == [5, 6]
    fed.set_shape([None, None])
    unknown = triangular.fill_triangular_inverse(triangular.fill_triangular(fed, upper), upper)
    first, second = _run([known, unknown], {fed: x})
    assert first.tolist() == second.tolist() == x.tolist()


def test_diagonals() -> None:
    made = triangular.tridiag([3, 4], [1, 2, 3], [5, 6])
    assert _run(made).tolist() == [[1, 5, 0], [3, 2, 6], [0, 4, 3]]
    with pytest.raises(ValueError, match="at least one of"):
        triangular.tridiag()
    changed = triangular.matrix_diag_transform([[1.0, 2.0], [3.0, 4.0]], tf.square)
    assert _run(changed).tolist() == [[1.0, 2.0], [3.0, 16.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(triangular.assert_symmetric([[1.0, 2.0], [3.0, 1.0]]))


def test_weighted_sums_of_exponentials() -> None:
    logs = np.log([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    weights = [[-1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
    value, sign = triangular.reduce_weighted_logsumexp(logs, weights, axis=-1, return_sign=True)
    logarithms, signs = _run([value, sign])
    np.testing.assert_allclose(logarithms, np.log([4.0, 15.0]))
    assert signs.tolist() == [1.0, -1.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softplus_inverse(dtype: Any) -> None:
    x = np.array([-12.0, -1.0, 0.5, 30.0], dtype)
    y = np.log1p(np.exp(x.astype(np.float64))).astype(dtype)
    fed = tf.constant(y)
    found = triangular.softplus_inverse(fed)
    inverse, slope = _run([found, tf.gradients(found, fed)[0]])
    np.testing.assert_allclose(inverse, x, rtol=1e-3)
    assert np.isfinite(slope).all()


def test_error_function_inverse() -> None:
    found = _run(special_math.erfinv(np.array([-0.5, 0.3])))
    np.testing.assert_allclose([math.erf(x) for x in found], [-0.5, 0.3], rtol=1e-9)
    with pytest.raises(TypeError, match="is not handled"):
        special_math.erfinv(np.float16(0.5))


def test_vectors_are_picked_while_building_where_possible() -> None:
    yes, no = np.arange(2), np.arange(3)
    assert static_shapes.pick_vector(tf.constant(True), yes, no) is yes
    fed = tf.placeholder(tf.bool, [])
    picked = static_shapes.pick_vector(fed, yes, no)
    assert _run(picked, {fed: True}).tolist() == [0, 1]
    assert _run(picked, {fed: False}).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="which is not"):
        static_shapes.pick_vector(1, yes, no)


@pytest.mark.parametrize("shift", [-4, -1, 0, 1, 5])
def test_axes_are_rotated(shift: int) -> None:
    x = np.arange(24).reshape(2, 3, 4)
    fed = tf.placeholder(tf.int64)
    known = static_shapes.rotate_transpose(x, shift)
    unknown = static_shapes.rotate_transpose(fed, shift)
    expected = np.transpose(x, np.roll(np.arange(3), shift))
    for value in _run([known, unknown], {fed: x}):
        assert value.tolist() == expected.tolist()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_padding_along_an_axis(axis: int) -> None:
    x = np.array([[1, 2], [3, 4]])
    padded = static_shapes.pad(x, axis, front=True, back=True, value=9, count=2)
    widths = [(2, 2), (0, 0)] if axis == 0 else [(0, 0), (2, 2)]
    expected = np.pad(x, widths, constant_values=9)
    assert padded.shape == expected.shape
    assert _run(padded).tolist() == expected.tolist()
    with pytest.raises(ValueError, match="At least one of"):
        static_shapes.pad(x, axis)


def test_shapes_known_or_not() -> None:
    shape = tf.TensorShape
    both = static_shapes.prefer_static_broadcast_shape(shape([2, 1]), shape([3]))
    assert both.as_list() == [2, 3]
    fed = tf.placeholder(tf.int32, [None])
    joined = static_shapes.prefer_static_broadcast_shape(fed, [3])
    assert _run(joined, {fed: [2, 1]}).tolist() == [2, 3]
    with pytest.raises(ValueError, match="partially defined"):
        static_shapes.prefer_static_broadcast_shape(fed, shape([None]))
    assert static_shapes.prefer_static_rank(tf.zeros([2, 3])) == 2
    assert static_shapes.dimension_size(tf.zeros([2, 3]), -1) == 3
    assert _run(static_shapes.same_dynamic_shape(tf.zeros([2]), tf.zeros([3]))) == False  # noqa: E712
    assert static_shapes.maybe_get_static_value([1, 2], np.float32).dtype == np.float32
