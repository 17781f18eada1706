"""`tf.GradientTape` in a graph, Jacobians, and loops of independent iterations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.jacobians import batch_jacobian, jacobian
from penstock.parallel_loops import for_loop, pfor


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("use_resource", [False, True])
def test_gradients_by_watched_tensors_and_variables(use_resource: bool) -> None:
    x = tf.constant([1.0, 2.0])
    w = tf.get_variable("w", initializer=[3.0, 4.0], use_resource=use_resource)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x * w)
    assert tape.watched_variables() == (w,)
    by_x, by_w = _run(tape.gradient(y, [x, w]))
    assert by_x.tolist() == [6.0, 16.0]
    assert by_w.tolist() == [1.0, 4.0]


def test_what_is_outside_of_the_block_is_constant() -> None:
    x = tf.constant(2.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = before * x
        with tape.stop_recording():
            hidden = x * 7.0
        z = y + hidden
    assert _run(tape.gradient(z, x)) == 4.0
    assert tape.gradient(hidden, x) is None
    assert tape.gradient(y, before) is None
    zero = tape.gradient(y, before, unconnected_gradients="zero")
    assert _run(zero) == 0.0


def test_a_tape_gives_gradients_once_unless_it_is_persistent() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="once on non-persistent tapes"):
        tape.gradient(y, x)
    with pytest.raises(ValueError, match=r"not tf\.Tensor"), tf.GradientTape() as other:
        other.watch("x")


def test_nested_tapes_give_second_derivatives() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        grad = inner.gradient(y, x)
    assert _run(outer.gradient(grad, x)).tolist() == [6.0, 12.0]


def test_reset_forgets_what_was_recorded() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        y = y + 5.0 * x
    assert _run(tape.gradient(y, x)) == 5.0


def test_jacobians() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = x * x
    full, rows = jacobian(y, x), batch_jacobian(y, x)
    assert full.shape == [2, 2, 2, 2]
    assert rows is not None
    assert rows.shape == [2, 2, 2]
    values = _run([full, rows, jacobian(y, x, use_pfor=False)])
    expected = np.einsum("ij,ik,jl->ijkl", 2 * np.array([[1, 2], [3, 4]]), np.eye(2), np.eye(2))
    assert values[0].tolist() == values[2].tolist() == expected.tolist()
    assert values[1].tolist() == [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
    assert jacobian(y, [x, tf.constant(1.0)])[1] is None


def test_jacobians_of_a_tape() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    by_tape, rows = tape.jacobian(y, x), tape.batch_jacobian(y, x)
    values = _run([by_tape, rows, jacobian(y, x), batch_jacobian(y, x)])
    assert values[0].tolist() == values[2].tolist()
    assert values[1].tolist() == values[3].tolist()


def test_independent_iterations_are_stacked() -> None:
    x = tf.reshape(tf.range(6.0), [3, 2])
    count = tf.get_variable("count", initializer=0)

    def step(i: Any) -> Any:
        return {"row": tf.gather(x, i), "effect": tf.assign_add(count, 1).op}

    made = pfor(step, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made["row"]).tolist() == [[0, 1], [2, 3], [4, 5]]
        before = session.run(count)
        session.run(made["effect"])
        assert session.run(count) == before + 3
    with pytest.raises(ValueError, match="Use for_loop instead"):
        pfor(step, 3, parallel_iterations=1)
    with pytest.raises(ValueError, match="does not match the number"):
        for_loop(lambda i: [i, i], [tf.int32], 3)


def test_gradients_go_through_a_vectorized_map() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    squares = tf.vectorized_map(lambda row: tf.tensordot(row, row, 0), x)
    grad = tf.gradients(squares, x)[0]
    assert _run(squares).tolist() == [[[1, 2], [2, 4]], [[9, 12], [12, 16]]]
    rows = _run(grad)
    total = np.zeros((2, 2))
    np.add.at(total, rows.indices, rows.values)
    assert total.tolist() == [[6.0, 6.0], [14.0, 14.0]]


def test_one_tape_after_another_in_a_function():
    """The function's argument for the variable was made before the second tape was started."""
    weight = tf.get_variable("weight", initializer=3.0, use_resource=True)
    slopes = []

    @tf.function(autograph=False)
    def train():
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = weight * weight
            slopes.append(tape.gradient(loss, weight))
            weight.assign_sub(slopes[-1] / 6)
        return slopes[0], slopes[1]

    found = train()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(found) == (6, 4)


def test_a_tape_in_the_body_of_a_loop() -> None:
    """What the body uses from outside has gradients there; a loop inside the tape is refused."""
    x, scale = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant(5.0)

    def by_row_and_scale(i: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, scale])
            row = tf.gather(x, i)
            loss = tf.reduce_sum(row * row) * scale
        return tape.gradient(loss, [row, scale])

    by_row, by_scale = _run(for_loop(by_row_and_scale, [tf.float32] * 2, 2))
    np.testing.assert_allclose(by_row, [[10.0, 20.0], [30.0, 40.0]])
    np.testing.assert_allclose(by_scale, [5.0, 25.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        grown = tf.while_loop(lambda y: tf.reduce_sum(y) < 100.0, lambda y: y * 2.0, [x])
    with pytest.raises(NotImplementedError, match="does not support graph control flow"):
        tape.gradient(grown, x)
