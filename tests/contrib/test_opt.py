"""`tf.contrib.opt`: steps of optimizers, computed in NumPy beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

opt = tf.contrib.opt

START = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
ROWS = [0, 2]


def trained(make: Callable[[], Any], *, sparse: bool, use_resource: bool, steps: int = 3) -> Any:
    """A variable after steps towards the least sum of its squares, or of those of some rows."""
    with tf.Graph().as_default():
        variable = tf.get_variable("v", initializer=START, use_resource=use_resource)
        parts = tf.gather(variable, ROWS) if sparse else variable
        train_op = make().minimize(tf.reduce_sum(tf.square(parts)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(train_op)
            return session.run(variable)


def adam(*, decay: float = 0.0, nesterov: bool = False) -> Any:
    x, m, v = START.astype(np.float64), 0.0, 0.0
    for step in range(1, 4):
        x = x - decay * x if decay else x
        # Decay comes before the update, but the gradient is that of the value before both.
        gradient = 2 * (x / (1 - decay))
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        rate = 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        direction = 0.9 * m + 0.1 * gradient if nesterov else m
        x = x - rate * direction / (np.sqrt(v) + 1e-8)
    return x


def sign_based(multiplier: Callable[[Any], Any]) -> Any:
    x, m = START.astype(np.float64), 0.0
    for _ in range(3):
        gradient = 2 * x
        m = 0.9 * m + 0.1 * gradient
        x = x - 0.1 * multiplier(np.sign(gradient) * np.sign(m)) * gradient
    return x


def ada_max() -> Any:
    x, m, v = START.astype(np.float64), 0.0, 0.0
    for step in range(1, 4):
        gradient = 2 * x
        m, v = 0.9 * m + 0.1 * gradient, np.maximum(0.999 * v, np.abs(gradient))
        x = x - 0.1 / (1 - 0.9**step) * m / (v + 1e-8)
    return x


CASES: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "lazy_adam": (lambda: opt.LazyAdamOptimizer(0.1), adam),
    "nadam": (lambda: opt.NadamOptimizer(0.1), lambda: adam(nesterov=True)),
    "adam_w": (lambda: opt.AdamWOptimizer(0.01, 0.1), lambda: adam(decay=0.01)),
    "ada_max": (lambda: opt.AdaMaxOptimizer(0.1), ada_max),
    "power_sign": (lambda: opt.PowerSignOptimizer(0.1), lambda: sign_based(np.exp)),
    "add_sign": (lambda: opt.AddSignOptimizer(0.1), lambda: sign_based(lambda sign: 1 + sign)),
    "multitask": (lambda: opt.MultitaskOptimizerWrapper(tf.train.AdamOptimizer(0.1)), adam),
    "averaged": (lambda: opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1)), adam),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_steps(name: str, use_resource: bool) -> None:
    make, expected = CASES[name]
    dense = trained(make, sparse=False, use_resource=use_resource)
    np.testing.assert_allclose(dense, expected(), rtol=2e-5)
    sparse = trained(make, sparse=True, use_resource=use_resource)
    np.testing.assert_allclose(sparse[ROWS], expected()[ROWS], rtol=2e-5)
    np.testing.assert_array_equal(sparse[1], START[1])


def test_lars_scales_by_norms() -> None:
    found = trained(
        lambda: opt.LARSOptimizer(0.5, momentum=0.0, weight_decay=0.0),
        sparse=False,
        use_resource=False,
        steps=1,
    )
    # The norm of the gradient is twice that of the variable.
    np.testing.assert_allclose(found, START - 0.5 * 0.001 / 2 * 2 * START, rtol=1e-6)


def test_variables_are_clipped_after_a_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=START)
        optimizer = opt.VariableClippingOptimizer(
            tf.train.GradientDescentOptimizer(0.0), {variable: [1]}, 2.0
        )
        train_op = optimizer.minimize(tf.reduce_sum(variable))
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        norms = np.linalg.norm(session.run(variable), axis=1)
    np.testing.assert_allclose(norms, [2.0, 2.0, 2.0], rtol=1e-6)


@pytest.mark.parametrize("as_dict", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_what_is_saved_of_elastic_averaging_are_the_centers(
    tmp_path: Path, use_resource: bool, as_dict: bool
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        getter = opt.ElasticAverageCustomGetter("/job:localhost/task:0")
        with tf.variable_scope("", custom_getter=getter, use_resource=use_resource):
            variable = tf.get_variable("v", initializer=[2.0])
            parts = tf.get_variable(
                "parts",
                [2],
                partitioner=tf.fixed_size_partitioner(2),
                initializer=tf.ones_initializer(),
            )
        optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, getter)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([tf.assign(center, [7.0]) for center in getter._global_map.values()])
        saver = optimizer.swapping_saver({"mine": variable} if as_dict else None)
        reader = tf.train.load_checkpoint(saver.save(session, str(tmp_path / "model")))
    assert reader.get_tensor("mine" if as_dict else "v").tolist() == [7.0]
    if not as_dict:
        assert reader.get_tensor("parts").tolist() == [7.0, 7.0]
    assert [part.shape for part in parts] == [(1,), (1,)]


def test_a_part_of_a_variable_is_swapped_with_its_average(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        whole = tf.get_variable(
            "whole",
            [2],
            partitioner=tf.fixed_size_partitioner(2),
            initializer=tf.ones_initializer(),
        )
        optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(2.0), 0.5)
        train_op = optimizer.minimize(tf.reduce_sum(whole))
        first = next(iter(whole))
        average = optimizer._ema.average(first)
        saver = optimizer.swapping_saver([first, average])
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        assert session.run([first, average]) == [[-1.0], [0.0]]
        path = saver.save(session, str(tmp_path / "model"))
        session.run([tf.assign(first, [5.0]), tf.assign(average, [6.0])])
        saver.restore(session, path)
        assert session.run([first, average]) == [[-1.0], [0.0]]
