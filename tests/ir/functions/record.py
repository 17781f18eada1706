"""Records graphs with functions as a real TensorFlow writes them, with the values it computes.

<environment with tensorflow>/bin/python tests/ir/functions/record.py
"""

import pathlib

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function

HERE = pathlib.Path(__file__).parent


def called_by_name():
    @function.Defun(tf.float32, tf.float32)
    def affine(x, y):
        return x * y + 1.0, tf.reduce_sum(x)

    product, total = affine(tf.constant([1.0, 2.0]), tf.constant(3.0))
    return [product, total, *tf.gradients(product, [product.op.inputs[0], product.op.inputs[1]])]


def partitioned_call():
    weight = tf.Variable(2.0, use_resource=True, name="weight")

    @tf.function
    def inner(x):
        return tf.tanh(x)

    @tf.function
    def outer(x):
        return inner(x) * weight + tf.unstack(x)[1]

    x = tf.constant([0.5, -1.0, 2.0])
    y = outer(x)
    return [y, tf.gradients(y, x)[0]]


def functional_control_flow():
    tf.enable_control_flow_v2()
    x = tf.constant(3.0)
    branch = tf.cond(x > 2.0, lambda: x * 10.0, lambda: x - 1.0)
    count, power = tf.while_loop(lambda i, p: i < 5, lambda i, p: (i + 1, p * x), [0, 1.0])
    case = tf.switch_case(tf.constant(1), [lambda: x, lambda: x * x, lambda: x + 1.0])
    tf.disable_control_flow_v2()
    return [branch, count, power, case]


def main():
    tf.disable_v2_behavior()
    for build in (called_by_name, partitioned_call, functional_control_flow):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            results = build()
            init = tf.global_variables_initializer()
            session.run(init)
            values = session.run(results)
        (HERE / f"{build.__name__}.pb").write_bytes(graph.as_graph_def().SerializeToString())
        names = np.array([tensor.name for tensor in results] + [init.name])
        np.savez(
            HERE / f"{build.__name__}.npz",
            names=names,
            **{f"v{i}": v for i, v in enumerate(values)},
        )


if __name__ == "__main__":
    main()
