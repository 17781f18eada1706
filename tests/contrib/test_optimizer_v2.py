"""Optimizers that take functions as settings, and those of `tf.contrib.opt` built on matrices."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import opt, optimizer_v2
from penstock.contrib.opt.matrix_functions import matrix_inverse_pth_root, matrix_square_root

#: Three steps on the sum of `coefficients * v**2`, as TensorFlow 1.15.5 takes them.
PAIRS = [
    (
        lambda rate: optimizer_v2.GradientDescentOptimizer(rate),
        tf.train.GradientDescentOptimizer(0.1),
    ),
    (
        lambda rate: optimizer_v2.MomentumOptimizer(rate, 0.9, use_nesterov=True),
        tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    ),
    (lambda rate: optimizer_v2.AdagradOptimizer(rate), tf.train.AdagradOptimizer(0.1)),
    (lambda rate: optimizer_v2.AdadeltaOptimizer(rate), tf.train.AdadeltaOptimizer(0.1)),
    (lambda rate: optimizer_v2.AdamOptimizer(rate), tf.train.AdamOptimizer(0.1)),
]


def _trained(optimizer, resource, sparse, steps=3):
    with tf.Graph().as_default():
        v = tf.Variable([[1.0, -2.0], [3.0, 0.5]], use_resource=resource)
        rows = tf.gather(v, [1, 1]) if sparse else v
        train = optimizer.minimize(tf.reduce_sum(rows * rows * [[1.0, 2.0], [0.5, 1.0]]))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(steps):
                sess.run(train)
            return sess.run(v), sorted(each.name for each in optimizer.variables())


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(("make", "known"), PAIRS)
def test_rules_are_those_of_train(make, known, resource, sparse):
    expected, _ = _trained(known, resource, sparse)
    for rate in (0.1, lambda: 0.1):
        actual, _ = _trained(make(rate), resource, sparse)
        np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_epsilon_is_where_rms_prop_begins():
    optimizer = optimizer_v2.RMSPropOptimizer(0.1, decay=0.9, epsilon=1.0)
    values, names = _trained(optimizer, False, False, steps=1)
    gradient = 2 * np.array([[1.0, -4.0], [1.5, 0.5]])
    mean = 0.9 + 0.1 * gradient**2
    expected = [[1.0, -2.0], [3.0, 0.5]] - 0.1 * gradient / np.sqrt(mean)
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert names == ["Variable/RMSProp:0", "Variable/RMSProp_1:0"]


def test_a_changing_rate_is_asked_for_in_each_application():
    v = tf.Variable(1.0)
    rates = iter([1.0, 2.0])
    optimizer = optimizer_v2.GradientDescentOptimizer(lambda: next(rates))
    first, second = (optimizer.apply_gradients([(tf.constant(1.0), v)]) for _ in range(2))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(first)
        sess.run(second)
        assert sess.run(v) == -2.0


def test_refusals():
    optimizer = optimizer_v2.GradientDescentOptimizer(0.1)
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])
    with pytest.raises(NotImplementedError, match="unsupported in OptimizerV2"):
        optimizer._slot_dict("a")

    class Old(optimizer_v2.OptimizerV2):
        def _create_slots(self, var_list):
            pass

    with pytest.raises(RuntimeError, match="Override _create_vars"):
        Old(False, "old")


def test_roots_of_matrices():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
    with tf.Session() as sess:
        root = sess.run(matrix_square_root(matrix, 2))
        fourth = sess.run(matrix_inverse_pth_root(matrix, 2, -0.25))
    np.testing.assert_allclose(root @ root, matrix, atol=2e-3)
    np.testing.assert_allclose(np.linalg.matrix_power(fourth, 4) @ matrix, np.eye(2), atol=1e-3)


@pytest.mark.parametrize("iterative", [False, True])
def test_shampoo_divides_by_the_roots_of_both_moments(iterative):
    gradient = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)
    v = tf.Variable(tf.zeros([2, 2]))
    shampoo = opt.ShampooOptimizer(0, use_iterative_root=iterative, alpha=1.0)
    train = shampoo.apply_gradients([(tf.constant(gradient), v)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        found = sess.run(v)

    def inverse_root(moments):
        values, vectors = np.linalg.eigh(moments / 2 + 1e-4 * np.eye(2))
        return vectors @ np.diag(values**-0.5) @ vectors.T

    expected = -inverse_root(gradient @ gradient.T) @ gradient @ inverse_root(gradient.T @ gradient)
    np.testing.assert_allclose(found, expected, rtol=1e-2)
    assert shampoo.get_slot_names() == ["Gbar_0", "Gbar_1", "gbar"]


def test_adam_by_global_step_is_adam():
    for lazy, known in (
        (opt.AdamGSOptimizer, tf.train.AdamOptimizer),
        (opt.LazyAdamGSOptimizer, opt.LazyAdamOptimizer),
    ):
        results = []
        for make in (known, lazy):
            with tf.Graph().as_default():
                step = tf.train.get_or_create_global_step()
                optimizer = make(0.1) if make is known else make(step, 0.1)
                v = tf.Variable([[1.0], [2.0]])
                loss = tf.reduce_sum(tf.gather(v, [1]) ** 2)
                train = optimizer.minimize(loss, global_step=step)
                with tf.Session() as sess:
                    sess.run(tf.global_variables_initializer())
                    for _ in range(3):
                        sess.run(train)
                    results.append(sess.run(v))
        np.testing.assert_allclose(*results, rtol=1e-5)


def test_ggt_steps_along_the_averaged_gradient():
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
    optimizer = opt.GGTOptimizer(0.1, window=2)
    train = optimizer.minimize(tf.reduce_sum(v * v) + w * w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(tf.reduce_sum(v * v) + w * w)
        for _ in range(5):
            sess.run(train)
        assert sess.run(tf.reduce_sum(v * v) + w * w) < before
    names = [each.op.name for each in optimizer.variables()]
    assert names == ["flat_grad", "global_step", "grad_buffer", "moment1"]
    assert optimizer.index_dict == {"v:0": 0, "w:0": 2}
