"""The nodes of conditionals and loops, and of their gradients."""

from __future__ import annotations

from typing import Any


def conditionals(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    pred = tf.placeholder(tf.bool, [], name="pred")
    v = tf.Variable([1.0, 2.0], name="v")
    nested = tf.cond(
        pred,
        lambda: x * 2.0,
        lambda: tf.cond(tf.reduce_sum(x) > 0, lambda: v + 1.0, lambda: tf.constant([0.0, 0.0])),
    )
    several = tf.cond(
        pred, lambda: (tf.assign_add(v, x), x), lambda: (v._ref(), x + 1), name="several"
    )
    operations = tf.cond(pred, lambda: tf.no_op(), lambda: tf.assign(v, x).op, name="operations")
    return [nested, several, operations, tf.gradients(nested, [x, v])]


def cases(tf: Any) -> Any:
    x = tf.placeholder(tf.int32, [], name="x")
    pairs = [(x < 1, lambda: tf.constant(1)), (x > 5, lambda: tf.constant(2))]
    return tf.case(pairs, default=lambda: tf.constant(0))


def assertions(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [3], name="x")
    tf.Assert(tf.reduce_all(x > 0), [x, "said", x * 2.0], summarize=2, name="guarded")
    tf.Assert(tf.reduce_all(x > 0), ["only strings", tf.constant(3)])
    return tf.Print(x, [x, tf.shape(x)], message="seen ", first_n=2, summarize=2)


def loops(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="w")

    def layer(i: Any, a: Any) -> Any:
        return i + 1, tf.tanh(tf.reshape(tf.matmul(tf.reshape(a, [1, 2]), w), [2]))

    _, result = tf.while_loop(lambda i, a: i < 5, layer, [tf.constant(0), x])
    outer = tf.while_loop(
        lambda i: i < tf.reduce_sum(x),
        lambda i: tf.while_loop(lambda j: j < 10.0, lambda j: j + i, [0.0], name="inner"),
        [1.0],
        name="outer",
        maximum_iterations=7,
    )
    with tf.control_dependencies([x]):
        waiting = tf.while_loop(
            lambda i: tf.less(i, 3),
            lambda i: tf.cond(i > 1, lambda: i + tf.constant(2), lambda: i + 1),
            [0],
            name="waiting",
            parallel_iterations=1,
        )
    return [result, outer, waiting, tf.gradients(result, [x, w])]


def gradients_of_nested_loops(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")

    def outer(i: Any, y: Any) -> Any:
        _, z = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * y), [0, x])
        return i + 1, z

    _, y = tf.while_loop(lambda i, y: i < 2, outer, [0, x])
    return tf.gradients(y, x)


def gradients_of_branches_in_loops(tf: Any) -> Any:
    q = tf.placeholder(tf.float32, [None], name="q")

    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(i < 2, lambda: y * q, lambda: y + q)

    _, y = tf.while_loop(lambda i, y: i < 4, body, [0, q])
    return tf.gradients(y, q)


def gradients_of_rows_in_loops(tf: Any) -> Any:
    table = tf.placeholder(tf.float32, [4, 2], name="table")
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y + tf.reduce_sum(tf.gather(table, [i]))),
        [0, 0.0],
    )
    (gradient,) = tf.gradients(y, table)
    return [gradient.values, gradient.indices]


def summaries(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.name_scope("scope"):
        one = tf.summary.scalar("loss one", x)
        other = tf.summary.scalar("loss", x, family="family", collections=["mine"])
    return [
        tf.summary.merge([one, other]),
        tf.summary.merge_all(),
        tf.summary.merge_all(scope="scope"),
        tf.summary.merge_all("nothing"),
    ]
