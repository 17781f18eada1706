"""A loop that counts to 100,000 inside of one step: what an iteration costs beyond its work."""

from typing import Any

import numpy as np

from benchmarks.model import Model, Program, sessions
from benchmarks.training import open_session

LIMIT = np.asarray(100_000, np.int32)


def build_session(tf: Any) -> Program:
    limit = tf.placeholder(tf.int32, [])
    counted = tf.while_loop(lambda i: i < limit, lambda i: i + 1, [tf.constant(0)])
    session = open_session(tf)

    def step() -> Any:
        return session.run(counted, feed_dict={limit: LIMIT})

    return Program(step, lambda: float(np.ravel(step())[0]))


def build_jax(jax: Any, variant: str) -> Program:
    @jax.jit
    def count(limit: Any) -> Any:
        return jax.lax.while_loop(lambda i: i < limit, lambda i: i + 1, 0)

    def step() -> float:
        return float(count(LIMIT))

    return Program(step, step)


MODEL = Model(
    title="counting loop of 100,000 iterations",
    steps=3,
    builders={**sessions(build_session), "jax": build_jax},
)
