"""Variables over several steps: what shares memory with them, and what must not."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.state import Assign, DestroyTemporaryVariable, TemporaryVariable


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def variable(request: pytest.FixtureRequest) -> Any:
    """Makes a variable of either kind."""

    def make(initial: Any, name: str = "v") -> Any:
        value = np.asarray(initial, np.float32)
        return tf.get_variable(name, initializer=value, use_resource=request.param)

    return make


def _initialised() -> Any:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_a_constant_stays_what_it_was(variable: Any) -> None:
    v = variable([1.0, 2.0])
    assign, add = tf.assign(v, tf.constant([5.0, 6.0])), tf.assign_add(v, [1.0, 1.0])
    with _initialised() as session:
        for _ in range(2):
            session.run(assign)
            session.run(add)
            assert session.run(v).tolist() == [6.0, 7.0]
        session.run(v.initializer)
        assert session.run(v).tolist() == [1.0, 2.0]


def test_a_fed_array_is_neither_kept_nor_changed(variable: Any) -> None:
    v = variable([1.0, 2.0])
    fed = tf.placeholder(tf.float32, [2])
    assign, add = tf.assign(v, fed), tf.assign_add(v, [1.0, 1.0])
    value = np.array([5.0, 6.0], np.float32)
    with _initialised() as session:
        session.run(assign, {fed: value})
        session.run(add)
        assert value.tolist() == [5.0, 6.0]
        value[:] = 0
        assert session.run(v).tolist() == [6.0, 7.0]


def test_a_computed_value_becomes_the_buffer_unless_it_is_fetched(variable: Any) -> None:
    v = variable([1.0, 2.0])
    doubled = v * 2.0
    assign, add = tf.assign(v, doubled), tf.assign_add(v, [1.0, 1.0])
    with _initialised() as session:
        fetched = session.run([assign, doubled])[1]
        session.run(add)
        assert fetched.tolist() == [2.0, 4.0]
        assert session.run(v).tolist() == [3.0, 5.0]


def test_a_fetched_value_does_not_change_with_the_variable(variable: Any) -> None:
    v = variable([1.0, 2.0])
    add = tf.assign_add(v, [1.0, 1.0])
    with _initialised() as session:
        before = session.run(v)
        after = session.run(add)
        session.run(add)
        assert before.tolist() == [1.0, 2.0]
        assert after.tolist() == [2.0, 3.0]


def test_variables_assigned_to_each_other_stay_apart(variable: Any) -> None:
    v, w = variable([1.0, 2.0]), variable([3.0, 4.0], "w")
    copy, add = tf.assign(v, w), tf.assign_add(v, [1.0, 1.0])
    with _initialised() as session:
        session.run(copy)
        session.run(add)
        assert session.run(w).tolist() == [3.0, 4.0]


def test_two_variables_can_change_places_in_one_step() -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    w = tf.get_variable("w", initializer=[3.0, 4.0], use_resource=True)
    v_value, w_value = tf.identity(v), tf.identity(w)
    swap = tf.group(tf.assign(v, w_value), tf.assign(w, v_value))
    with _initialised() as session:
        session.run(swap)
        assert session.run([v, w])[0].tolist() == [3.0, 4.0]
        assert session.run([v, w])[1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("update", ["assign", "assign_add", "assign_sub"])
def test_a_variable_updated_by_a_view_of_itself(variable: Any, update: str) -> None:
    start = np.arange(9, dtype=np.float32).reshape(3, 3)
    views = {
        "transposed": (lambda v: tf.transpose(v), start.T),
        "row": (lambda v: tf.broadcast_to(v[1:2], [3, 3]), np.tile(start[1], (3, 1))),
        "reversed": (lambda v: tf.reverse(v, [0]), start[::-1]),
    }
    combine = {"assign": lambda a, b: b, "assign_add": np.add, "assign_sub": np.subtract}[update]
    for name, (view, expected) in views.items():
        v = variable(start, name)
        op = getattr(tf, update)(v, view(tf.identity(v)))
        with _initialised() as session:
            session.run(op)
            np.testing.assert_array_equal(session.run(v), combine(start, expected), err_msg=name)


def test_a_stretched_value_becomes_a_buffer_of_its_own(variable: Any) -> None:
    v = variable(np.zeros((2, 3)))
    assign = tf.assign(v, tf.broadcast_to(tf.constant(1.0) + 1.0, [2, 3]))
    add = tf.assign_add(v, np.arange(6, dtype=np.float32).reshape(2, 3))
    with _initialised() as session:
        session.run(assign)
        session.run(add)
        assert session.run(v).tolist() == [[2, 3, 4], [5, 6, 7]]


@pytest.mark.parametrize("rows", [[1, 2], [2, 1]])
def test_rows_updated_by_rows_of_the_same_variable(variable: Any, rows: list[int]) -> None:
    start = np.arange(6, dtype=np.float32).reshape(3, 2)
    v = variable(start)
    update = tf.scatter_add(v, rows, tf.identity(v)[0:2])
    with _initialised() as session:
        session.run(update)
        expected = start.copy()
        expected[rows] += start[0:2]
        np.testing.assert_array_equal(session.run(v), expected)


def test_of_many_updates_of_one_row_the_last_stays(variable: Any) -> None:
    """As many as make ATen use several threads, if it has them."""
    v = variable(np.zeros((7, 300)))
    rows = np.arange(5000) % 7
    values = np.repeat(np.arange(5000, dtype=np.float32)[:, None], 300, axis=1)
    update = tf.scatter_update(v, rows, values)
    with _initialised() as session:
        session.run(update)
        last = [max(i for i in range(4990, 5000) if i % 7 == row) for row in range(7)]
        np.testing.assert_array_equal(session.run(v), np.repeat(np.array(last)[:, None], 300, 1))


def test_whole_numbers_are_not_divided_by_zero() -> None:
    v = tf.get_variable("v", initializer=[4, 6], use_resource=False)
    divide = tf.scatter_div(v, [0], 0)
    with _initialised() as session, pytest.raises(tf.errors.InvalidArgumentError, match="0"):
        session.run(divide)


def test_locked_updates_are_never_lost(variable: Any) -> None:
    v = variable(np.zeros(1000))
    add = tf.assign_add(v, np.ones(1000, np.float32), use_locking=True)
    with _initialised() as session:
        run = session.make_callable(add.op)

        def work() -> None:
            for _ in range(100):
                run()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(session.run(v).tolist()) == {400.0}


def test_a_temporary_variable_lives_for_one_step() -> None:
    scratch = TemporaryVariable(shape=[2], dtype=tf.float32, var_name="scratch")
    filled = Assign(scratch, tf.placeholder_with_default([1.0, 2.0], [2]))
    added = tf.assign_add(filled, [1.0, 1.0])
    value = DestroyTemporaryVariable(added, var_name="scratch")
    with tf.Session() as session:
        assert session.run(value).tolist() == [2.0, 3.0]
        assert session.run(value).tolist() == [2.0, 3.0]


def test_a_variable_of_strings() -> None:
    v = tf.get_variable("v", initializer=["a", "b"], use_resource=False)
    assign, scatter = tf.assign(v, ["c", "d"]), tf.scatter_update(v, [1], ["e"])
    with _initialised() as session:
        first = session.run(v)
        session.run(assign)
        session.run(scatter)
        assert first.tolist() == [b"a", b"b"]
        assert session.run(v).tolist() == [b"c", b"e"]


def test_the_error_names_the_variable(variable: Any) -> None:
    v = variable([1.0, 2.0], "weights")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="weights"):
        session.run(v)


def test_one_name_one_type() -> None:
    from penstock.ops.state import VariableV2

    one = VariableV2(shape=[2], dtype=tf.float32, shared_name="shared")
    other = VariableV2(shape=[2], dtype=tf.int32, shared_name="shared")
    with tf.Session() as session:
        session.run(Assign(one, [1.0, 2.0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="shared"):
            session.run(Assign(other, [1, 2]))


def test_nodes_of_one_shared_name_are_one_variable() -> None:
    from penstock.ops.state import VariableV2

    one = VariableV2(shape=[2], dtype=tf.float32, shared_name="shared")
    other = VariableV2(shape=[2], dtype=tf.float32, shared_name="shared")
    with tf.Session() as session:
        session.run(Assign(one, [1.0, 2.0]))
        assert session.run(other).tolist() == [1.0, 2.0]
