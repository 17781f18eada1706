"""Learning rate schedules against TensorFlow: the graphs, and the rates at many steps."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from tests.train import decay_programs, records
from tests.train.decay_programs import DECAYS


@pytest.mark.parametrize("name", DECAYS)
def test_builds_the_same_graph(name: str) -> None:
    built = decay_programs.build(tf, name)
    assert records.nodes(built.graph.get_operations()) == records.read("decays")[name]["nodes"]


@pytest.mark.parametrize("name", DECAYS)
def test_gives_the_same_rates(name: str) -> None:
    rates = decay_programs.run(tf, decay_programs.build(tf, name))
    np.testing.assert_allclose(rates, records.read("decays")[name]["values"], rtol=2e-6, atol=1e-8)


def test_noise_shrinks_with_the_steps() -> None:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        step = tf.placeholder(tf.int32, [])
        rate = tf.train.noisy_linear_cosine_decay(1.0, step, 1000, initial_variance=4.0)
        quiet = tf.train.linear_cosine_decay(1.0, step, 1000)
        with tf.Session(graph=graph) as session:
            spread = [
                np.std([np.subtract(*session.run([rate, quiet], {step: s})) for _ in range(50)])
                for s in (0, 300)
            ]
    assert 1.2 < spread[0] < 2.8
    assert 0 < spread[1] < spread[0] / 3


def _step(dtype: object = tf.int32) -> tf.Tensor:
    return tf.placeholder(dtype, [])


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("1 less than", lambda: tf.train.piecewise_constant(_step(), [1, 2], [0.1, 0.2])),
        ("same dtype as x", lambda: tf.train.piecewise_constant(_step(), [1.0], [0.1, 0.2])),
        (
            "same dtype as x",
            lambda: tf.train.piecewise_constant(_step(tf.float32), [1, 2], [0.1, 0.2, 0.3]),
        ),
        ("all with the same dtype", lambda: tf.train.piecewise_constant(_step(), [1], [0.1, 2])),
        ("None values", lambda: tf.train.exponential_decay(0.1, None, 10, 0.9)),
    ],
)
def test_refuses(message: str, make: object) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
