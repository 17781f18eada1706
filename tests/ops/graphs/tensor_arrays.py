"""The nodes of tf.TensorArray, of loops and branches that carry one, and of their gradients."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def methods(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="named", name="mine")
    array = array.unstack(x)
    rows = [array.read(0), array.read(n, name="second"), array.gather([2, 1]), array.stack()]
    growing = tf.TensorArray(tf.float32, n, dynamic_size=True, clear_after_read=False)
    growing = growing.write(0, x[0]).write(n, [1, 2], name="late").scatter([5, 6], x[:2])
    found = [growing.size(), growing.stack(), growing.concat(), growing.identity().read(0)]
    loose = tf.TensorArray(tf.float32, n, infer_shape=False, element_shape=[None, 2])
    loose = loose.split(x, [1, 2])
    even = tf.TensorArray(tf.float32, 3).split(x, [1, 1, 1])
    parts = [loose.concat(), loose.size(), loose.read(0), even.concat(), even.read(0)]
    return [rows, found, parts, loose.close(), str(even.element_shape), str(array.element_shape)]


def devices(tf: Any) -> Any:
    with tf.device("/cpu:0"):
        x = tf.constant([1.0, 2.0])
        array = tf.TensorArray(tf.float32, 2)
        fixed = tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=False)
    with tf.device("/cpu:1"):
        y = tf.constant([3.0, 4.0])
        array = array.write(0, x).write(1, y)
        fixed = fixed.write(0, y)
    return [array.stack(), fixed.read(0)]


def refused(tf: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3)
    written = array.write(0, [1.0, 2.0])
    handle, flow = array.handle, array.flow
    unknown = tf.placeholder(tf.float32)
    calls = [
        lambda: tf.TensorArray(tf.float32),
        lambda: tf.TensorArray(tf.float32, handle=handle, flow=flow, size=3),
        lambda: tf.TensorArray(tf.float32, handle=handle, flow=flow, dynamic_size=True),
        lambda: tf.TensorArray(tf.float32, handle=handle, flow=flow, tensor_array_name="x"),
        lambda: tf.TensorArray(tf.float32, handle=handle, flow=flow, element_shape=[1]),
        lambda: tf.TensorArray(tf.float32, handle=handle, flow=flow, clear_after_read=True),
        lambda: tf.TensorArray(tf.float32, handle=handle),
        lambda: tf.TensorArray(tf.float32, handle=3.0, flow=flow),
        lambda: written.write(1, 1.0),
        lambda: written.write(1, [1.0, 2.0, 3.0]),
        lambda: written.write(1, tf.constant([1, 2])),
        lambda: written.write([1], [1.0, 2.0]),
        lambda: written.scatter([0], [1.0]),
        lambda: written.scatter([0], [[1.0, 2.0], [1.0, 2.0]]),
        lambda: written.unstack(1.0),
        lambda: written.unstack(unknown),
        lambda: written.gather([[0]]),
        lambda: written.split([1.0, 2.0], 3),
        lambda: written.split([[1.0], [2.0], [3.0]], [1, 1, 1]),
        lambda: tf.gradients(written.read(0), written.flow, name="other"),
    ]
    return [error_of(call) for call in calls]


def gradients_without_loops(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    y = array.read(0) + array.read(1)
    other = tf.TensorArray(tf.float32, 2).write(0, y).write(1, y * 2.0)
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2])
    ys = [other.stack(), array.gather([2, 0]), parts.concat()]
    return [tf.gradients(ys, x), tf.gradients(ys[0], [x, y])]


def explicit_gradient_arrays(tf: Any) -> Any:
    array = tf.TensorArray(tf.float32, 3, element_shape=[2]).write(0, [1.0, 2.0])
    gradient = array.grad("mine").write(0, [3.0, 4.0])
    again = array.grad("mine", flow=gradient.flow, name="again")
    return [gradient.read(0), again.stack(), again.size(), again.handle]


def loops(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable([[0.1, 0.2, 0.3]] * 3, name="w")
    count = tf.shape(x)[0]
    rows = tf.TensorArray(tf.float32, count).unstack(x)
    results = tf.TensorArray(tf.float32, count, tensor_array_name="results")

    def body(i: Any, state: Any, results: Any) -> Any:
        state = tf.tanh(tf.matmul(tf.expand_dims(rows.read(i), 0) + state, w))
        return i + 1, state, results.write(i, state)

    _, last, results = tf.while_loop(
        lambda i, *_: i < count, body, [0, tf.zeros([1, 3]), results], name="loop"
    )
    return [last, results.stack(), tf.gradients([last, results.stack()], [x, w])]


def loops_with_invariants(tf: Any) -> Any:
    array = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    return tf.while_loop(
        lambda i, a: i < 5,
        lambda i, a: (i + 1, a.write(i, [i, i])),
        (tf.constant(0), array),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)),
        parallel_iterations=2,
        maximum_iterations=9,
    )[1].stack()


def branches(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    pred = tf.placeholder(tf.bool, [], name="pred")
    array = tf.TensorArray(tf.float32, 2).write(0, x)
    array = tf.cond(pred, lambda: array.write(1, x * 2.0), lambda: array.write(1, x + 1.0))
    y = array.stack()
    return [y, tf.gradients(y, x)]


def nested_loops(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")

    def outer(i: Any, array: Any) -> Any:
        inner = tf.TensorArray(tf.float32, 2)
        _, inner = tf.while_loop(
            lambda j, a: j < 2,
            lambda j, a: (j + 1, a.write(j, x[j] * tf.cast(i, tf.float32))),
            [0, inner],
        )
        return i + 1, array.write(i, inner.stack())

    _, array = tf.while_loop(lambda i, a: i < 3, outer, [0, tf.TensorArray(tf.float32, 3)])
    y = array.stack()
    return [y, tf.gradients(y, x)]
