"""Programs with loops and branches, whose values and gradients TensorFlow's are compared with.

Each gets the module to build with and returns what to differentiate and by what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[Any], tuple[Any, list[Any]]]] = {}


def program(build: Callable[[Any], tuple[Any, list[Any]]]) -> Callable[[Any], Any]:
    PROGRAMS[build.__name__] = build
    return build


def _values(*shape: int, step: float = 0.37) -> np.ndarray:
    count = int(np.prod(shape)) if shape else 1
    return np.sin(np.arange(count) * step + 0.3).reshape(shape).astype(np.float32)


@program
def power(tf):
    x = tf.constant(1.3)
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * x), [0, x])[1], [x]


@program
def matrix_power(tf):
    w, h = tf.constant(_values(3, 3)), tf.constant(_values(2, 3))
    loop = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, tf.tanh(tf.matmul(s, w))), [0, h])
    return tf.reduce_sum(loop[1]), [w, h]


@program
def broadcast_of_an_invariant(tf):
    bias, x = tf.constant(_values(3)), tf.constant(_values(2, 3))
    loop = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * s + bias), [0, x])
    return loop[1], [bias, x]


@program
def two_variables(tf):
    x, y = tf.constant(0.5), tf.constant(1.5)
    a, b = tf.while_loop(lambda a, b: a < 20.0, lambda a, b: (a * b + 1.0, a + b), [x, y])
    return a + 2.0 * b, [x, y]


@program
def unused_exit(tf):
    x, y = tf.constant(0.5), tf.constant(1.5)
    loop = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * x, b + a), [0, x, y])
    return loop[1], [x, y]


@program
def no_iteration(tf):
    x, w = tf.constant(2.0), tf.constant(3.0)
    return tf.while_loop(lambda v: v < 1.0, lambda v: v * w, [x]), [x, w]


@program
def nested(tf):
    x = tf.constant(0.9)

    def outer(i, total):
        _, inner = tf.while_loop(lambda j, s: j < i + 1, lambda j, s: (j + 1, s * x), [0, total])
        return i + 1, inner + x

    return tf.while_loop(lambda i, _: i < 4, outer, [0, x])[1], [x]


@program
def nested_with_inner_invariant(tf):
    w, x = tf.constant(_values(2, 2)), tf.constant(_values(1, 2))

    def outer(i, s):
        scale = tf.reduce_sum(s)
        _, inner = tf.while_loop(
            lambda j, t: j < 2, lambda j, t: (j + 1, tf.sin(tf.matmul(t, w)) * scale), [0, s]
        )
        return i + 1, inner

    return tf.while_loop(lambda i, _: i < 3, outer, [0, x])[1], [w, x]


@program
def three_deep(tf):
    x = tf.constant(0.7)

    def times(count, body):
        return lambda start: tf.while_loop(
            lambda i, _: i < count, lambda i, s: (i + 1, body(s)), [0, start]
        )[1]

    loop = times(2, times(2, times(2, lambda s: tf.sin(s) + x)))
    return loop(x * 1.0), [x]


@program
def branch(tf):
    x, y = tf.constant(1.5), tf.constant(0.5)
    return tf.cond(x > y, lambda: x * y, lambda: x + y), [x, y]


@program
def branch_with_one_sided_inputs(tf):
    x, y = tf.constant(1.5), tf.constant(0.5)
    return tf.cond(x < y, lambda: x * 3.0, lambda: y * y), [x, y]


@program
def nested_branches(tf):
    x = tf.constant(1.5)
    inner = lambda: tf.cond(x > 1.0, lambda: x * x, lambda: -x)  # noqa: E731
    return tf.cond(x > 0.0, lambda: inner() * x, inner), [x]


@program
def branch_in_a_loop(tf):
    x, w = tf.constant(0.8), tf.constant(1.1)

    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s * w, lambda: s + tf.sin(s))

    return tf.while_loop(lambda i, _: i < 5, body, [0, x])[1], [x, w]


@program
def branch_in_a_nested_loop(tf):
    x, w = tf.constant(0.8), tf.constant(1.1)

    def inner(j, s):
        return j + 1, tf.cond(s > 1.0, lambda: s * w, lambda: s * s + 0.5)

    def outer(i, s):
        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, [0, s])[1] * w

    return tf.while_loop(lambda i, _: i < 2, outer, [0, x])[1], [x, w]


@program
def loop_in_a_branch(tf):
    x, w = tf.constant(0.8), tf.constant(1.1)
    loop = lambda: tf.while_loop(  # noqa: E731
        lambda i, _: i < 3, lambda i, s: (i + 1, s * w), [0, x]
    )[1]
    return tf.cond(w > 1.0, loop, lambda: x), [x, w]


@program
def loop_in_a_branch_not_taken(tf):
    x, w = tf.constant(0.8), tf.constant(1.1)
    loop = lambda: tf.while_loop(  # noqa: E731
        lambda i, _: i < 3, lambda i, s: (i + 1, s * w), [0, x]
    )[1]
    return tf.cond(w < 1.0, loop, lambda: x * w), [x, w]


@program
def gradient_inside_a_loop(tf):
    x = tf.constant(0.8)

    def body(i, s):
        y = tf.sin(s) * s
        return i + 1, s - 0.1 * tf.gradients(y, s)[0] * x

    return tf.while_loop(lambda i, _: i < 3, body, [0, x])[1], [x]


@program
def second_order_of_a_branch(tf):
    x = tf.constant(0.8)
    y = tf.cond(x > 0.0, lambda: x * x * x, lambda: x)
    return tf.gradients(y, x)[0] * tf.square(x), [x]


@program
def second_order_inside_a_loop(tf):
    x = tf.constant(0.8)

    def body(i, s):
        first = tf.gradients(s * s * s * x, s)[0]
        return i + 1, 0.1 * tf.gradients(first, s)[0]

    return tf.while_loop(lambda i, _: i < 3, body, [0, x])[1], [x]


@program
def mapped(tf):
    x, w = tf.constant(_values(4, 2)), tf.constant(_values(2))
    return tf.map_fn(lambda row: tf.reduce_sum(row * w * row), x), [x, w]


@program
def mapped_twice(tf):
    x, w = tf.constant(_values(2, 3)), tf.constant(0.7)
    return tf.map_fn(lambda row: tf.map_fn(lambda e: e * w + tf.square(w), row), x), [x, w]


@program
def scanned(tf):
    x, start = tf.constant(_values(5)), tf.constant(0.5)
    return tf.scan(lambda a, e: a * e + a, x, initializer=start), [x, start]


@program
def scanned_structure(tf):
    x = tf.constant(_values(4))
    a, b = tf.scan(lambda s, e: (s[0] + e, s[1] * e), x, initializer=(x[0], x[1]))
    return a * b, [x]


@program
def folded(tf):
    x, w = tf.constant(_values(4)), tf.constant(0.9)
    return tf.foldl(lambda a, e: a * w + e, x) + tf.foldr(lambda a, e: a * w - e, x), [x, w]


@program
def array_read_and_write(tf):
    x = tf.constant(_values(5))
    source = tf.TensorArray(tf.float32, 5, clear_after_read=False).unstack(x)
    target = tf.TensorArray(tf.float32, 5)

    def body(i, array):
        return i + 1, array.write(i, source.read(i) * source.read((i + 1) % 5))

    return tf.while_loop(lambda i, _: i < 5, body, [0, target])[1].stack(), [x]


@program
def array_in_nested_loops(tf):
    x, w = tf.constant(_values(2, 3)), tf.constant(1.2)

    def row(i, array):
        def cell(j, array):
            return j + 1, array.write(i * 3 + j, x[i, j] * w)

        return i + 1, tf.while_loop(lambda j, _: j < 3, cell, [0, array])[1]

    array = tf.TensorArray(tf.float32, 6)
    return tf.while_loop(lambda i, _: i < 2, row, [0, array])[1].stack(), [x, w]


@program
def growing_array(tf):
    x = tf.constant(0.9)
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    loop = tf.while_loop(
        lambda i, s, a: s < 3.0, lambda i, s, a: (i + 1, s + x, a.write(i, s * s)), [0, x, array]
    )
    return loop[2].stack(), [x]


@program
def rows_of_an_invariant(tf):
    table = tf.constant(_values(4, 2))

    def body(i, s):
        return i + 1, s + tf.gather(table, [i, 3 - i])

    return tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2, 2])])[1], [table]


@program
def growing_shape(tf):
    x = tf.constant(_values(1, 2))
    loop = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.concat([s, s * x], 0)),
        [0, x],
        [tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    return loop[1], [x]


@program
def unknown_shapes(tf):
    x = tf.placeholder_with_default(_values(3), None)
    w = tf.placeholder_with_default(_values(3), [None])
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * w), [0, x])[1], [w]


@program
def swapped(tf):
    x, w = tf.constant(_values(3)), tf.constant(_values(3))
    body = lambda i, s: (i + 1, tf.tanh(s * w))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 4, body, [0, x], swap_memory=True)[1], [x, w]


@program
def one_at_a_time(tf):
    x = tf.constant(1.1)
    body = lambda i, s: (i + 1, s * s)  # noqa: E731
    return tf.while_loop(lambda i, _: i < 3, body, [0, x], parallel_iterations=1)[1], [x]


@program
def limited(tf):
    x = tf.constant(1.1)
    loop = tf.while_loop(lambda s: s < 100.0, lambda s: s * s + x, [x], maximum_iterations=4)
    return loop, [x]


@program
def without_back_propagation(tf):
    x = tf.constant(1.1)
    loop = tf.while_loop(lambda s: s < 9.0, lambda s: s * x + x, [x], back_prop=False)
    return loop * x, [x]


@program
def stopped_inside(tf):
    x, y = tf.constant(0.7), tf.constant(1.3)
    loop = tf.while_loop(
        lambda i, a, b: i < 3,
        lambda i, a, b: (i + 1, a * y + b, tf.stop_gradient(b * x)),
        [0, x, y],
    )
    return loop[1], [x, y]


@program
def loops_in_a_row(tf):
    x = tf.constant(0.7)
    times = lambda s: tf.while_loop(  # noqa: E731
        lambda i, _: i < 3, lambda i, t: (i + 1, t * x + 0.1), [0, s]
    )[1]
    return times(times(x)) * times(x), [x]


@program
def rows_in_a_branch(tf):
    table = tf.constant(_values(4, 2))
    pred = tf.reduce_sum(table) > -100.0
    chosen = tf.cond(pred, lambda: tf.gather(table, [1, 1]), lambda: table[:2])
    return tf.reduce_sum(chosen * chosen), [table]


@program
def case_of_three(tf):
    x = tf.constant(0.7)
    pairs = [(x > 1.0, lambda: x), (x > 0.5, lambda: x * x), (x > 0.1, lambda: -x)]
    return tf.case(pairs, default=lambda: x * 0.0), [x]


@program
def dynamic_lengths(tf):
    x, h = tf.constant(_values(3, 4, 2)), tf.constant(_values(2, 2))
    cell_input = tf.transpose(x, [1, 0, 2])
    lengths = tf.constant([2, 4, 0])

    def body(t, state):
        new = tf.tanh(tf.matmul(state, h) + cell_input[t])
        return t + 1, tf.where(t < lengths, new, state)

    return tf.while_loop(lambda t, _: t < 4, body, [0, tf.zeros([3, 2])])[1], [x, h]
