"""Learning rates that depend on the step, written for any `tf` module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

STEPS = (0, 1, 4, 5, 9, 10, 11, 19, 20, 25, 30, 31, 70, 100)

# Functions of the `tf` module and the step.
DECAYS: dict[str, Callable[[Any, Any], Any]] = {
    "exponential": lambda tf, s: tf.train.exponential_decay(0.1, s, 10, 0.96),
    "exponential-staircase": lambda tf, s: tf.train.exponential_decay(
        0.1, s, 10, 0.5, staircase=True, name="Rate"
    ),
    "exponential-float64": lambda tf, s: tf.train.exponential_decay(
        tf.constant(0.1, tf.float64), s, tf.constant(10), tf.constant(0.9)
    ),
    "natural_exp": lambda tf, s: tf.train.natural_exp_decay(0.1, s, 10, 0.5),
    "natural_exp-staircase": lambda tf, s: tf.train.natural_exp_decay(
        0.1, s, 10, 0.5, staircase=True
    ),
    "inverse_time": lambda tf, s: tf.train.inverse_time_decay(0.1, s, 10, 0.5),
    "inverse_time-staircase": lambda tf, s: tf.train.inverse_time_decay(
        0.1, s, 10, 0.5, staircase=True
    ),
    "polynomial": lambda tf, s: tf.train.polynomial_decay(0.1, s, 20),
    "polynomial-cycle": lambda tf, s: tf.train.polynomial_decay(
        0.1, s, 10, end_learning_rate=0.01, power=0.5, cycle=True
    ),
    "cosine": lambda tf, s: tf.train.cosine_decay(0.1, s, 20),
    "cosine-alpha": lambda tf, s: tf.train.cosine_decay(0.1, s, 20, alpha=0.3, name="Rate"),
    "cosine_restarts": lambda tf, s: tf.train.cosine_decay_restarts(0.1, s, 10),
    "cosine_restarts-same_length": lambda tf, s: tf.train.cosine_decay_restarts(
        0.1, s, 10, t_mul=1.0, m_mul=0.5, alpha=0.1
    ),
    "linear_cosine": lambda tf, s: tf.train.linear_cosine_decay(0.1, s, 20),
    "linear_cosine-settings": lambda tf, s: tf.train.linear_cosine_decay(
        0.1, s, 20, num_periods=2.0, alpha=0.1, beta=0.01
    ),
    "noisy_linear_cosine": lambda tf, s: tf.train.noisy_linear_cosine_decay(
        0.1, s, 20, initial_variance=0.0
    ),
    "piecewise": lambda tf, s: tf.train.piecewise_constant(s, [4, 10, 30], [1.0, 0.5, 0.25, 0.1]),
    "piecewise-two": lambda tf, s: tf.train.piecewise_constant(s, [10], [0.5, 0.1], name="Rate"),
    "piecewise-int64": lambda tf, s: tf.train.piecewise_constant(
        tf.cast(s, tf.int64), [4, 10], [1.0, 0.5, 0.25]
    ),
    "piecewise-floats": lambda tf, s: tf.train.piecewise_constant_decay(
        tf.cast(s, tf.float32), [4.5, 10.0], [tf.constant(1.0), 0.5, 0.25]
    ),
}


@dataclass
class Built:
    graph: Any
    step: Any
    rate: Any


def build(tf: Any, name: str) -> Built:
    graph = tf.Graph()
    with graph.as_default():
        step = tf.placeholder(tf.int32, [], name="step")
        return Built(graph, step, DECAYS[name](tf, step))


def run(tf: Any, built: Built) -> np.ndarray:
    """The rate at each of STEPS."""
    with tf.Session(graph=built.graph) as session:
        return np.array([session.run(built.rate, {built.step: step}) for step in STEPS])
