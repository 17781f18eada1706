"""`x[...]` of tensors and variables is NumPy's indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock as tf

ARRAY = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)


def _entries() -> st.SearchStrategy[Any]:
    bound = st.none() | st.integers(-7, 7)
    step = st.none() | st.integers(-3, 3).filter(bool)
    return st.one_of(
        st.integers(-4, 3), st.builds(slice, bound, bound, step), st.just(None), st.just(Ellipsis)
    )


def _is_valid(index: list[Any]) -> bool:
    used = sum(entry is not None and entry is not Ellipsis for entry in index)
    return used <= ARRAY.ndim and sum(entry is Ellipsis for entry in index) <= 1


@given(st.lists(_entries(), max_size=5).filter(_is_valid))
@settings(max_examples=150, deadline=None)
def test_an_index_means_what_it_means_in_numpy(index: list[Any]) -> None:
    wanted = ARRAY[tuple(index)]
    with tf.Graph().as_default(), tf.Session() as session:
        known = tf.constant(ARRAY)[tuple(index)]
        assert known.shape.as_list() == list(wanted.shape)
        fed = tf.placeholder(tf.float32, None)
        unknown = fed[tuple(index)]
        gradient = tf.gradients(known, known.op.inputs[0])[0]
        found = session.run([known, unknown, gradient], {fed: ARRAY})
    touched = np.zeros_like(ARRAY)
    touched[tuple(index)] = 1
    for value, reference in zip(found, (wanted, wanted, touched), strict=True):
        np.testing.assert_array_equal(value, reference)


def test_tensors_as_positions_and_bounds() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(ARRAY)
        i, j = tf.placeholder(tf.int32, []), tf.placeholder(tf.int64, [])
        parts = [x[i], x[i:], x[:j], x[j, :, j], x[i:j], x[::i], x[1 : tf.shape(x)[0]]]
        found = session.run(parts, {i: 2, j: 3})
    wanted = [ARRAY[2], ARRAY[2:], ARRAY[:3], ARRAY[3, :, 3], ARRAY[2:3], ARRAY[::2], ARRAY[1:4]]
    for value, reference in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(value, reference)


def test_a_mask_chooses_elements() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(ARRAY)
        np.testing.assert_array_equal(session.run(x[x > 50]), ARRAY[ARRAY > 50])


def test_a_position_outside_is_refused_in_the_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.placeholder(tf.int32, [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 4 of dimension 0"):
            session.run(tf.constant(ARRAY)[i], {i: 4})


@pytest.mark.parametrize("entry", ["x", 1.0, np.array([1, 2]), b"y"])
def test_what_is_no_index_is_refused(entry: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Only integers, slices"):
        tf.constant(ARRAY)[entry]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("index", [np.s_[1:3], np.s_[2], np.s_[::-2], np.s_[..., 1], np.s_[1, 2:]])
def test_part_of_a_variable_is_assigned(use_resource: bool, index: Any) -> None:
    wanted = ARRAY.copy()
    wanted[index] = -ARRAY[index]
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(ARRAY, use_resource=use_resource)
        change = variable[index].assign(-ARRAY[index])
        session.run(tf.global_variables_initializer())
        session.run(change.op if hasattr(change, "op") else change)
        np.testing.assert_array_equal(session.run(variable), wanted)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_part_of_a_variable_takes_another_part_of_it(use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable([0, 1, 2, 3, 4, 5], use_resource=use_resource)
        session.run(variable.initializer)
        session.run(variable[2:6].assign(variable[1:5]))
        assert session.run(variable).tolist() == [0, 1, 1, 2, 3, 4]
