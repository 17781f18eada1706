"""A step that does nothing: feed a scalar, fetch it back. What is left is the cost of a step."""

from typing import Any

import numpy as np

from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import open_session

FED = np.asarray(3.0, np.float32)


def build_session(tf: Any) -> Program:
    fed = tf.placeholder(tf.float32, [])
    fetched = tf.identity(fed)
    session = open_session(tf)

    def step() -> Any:
        return session.run(fetched, feed_dict={fed: FED})

    return Program(step, lambda: float(step()))


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    identity = compile(lambda value: value.clone())

    def step() -> Any:
        return identity(torch.from_numpy(FED)).numpy()

    return Program(step, lambda: float(step()))


def build_jax(jax: Any, variant: str) -> Program:
    identity = jax.jit(lambda value: value)

    def step() -> Any:
        return np.asarray(identity(FED))

    return Program(step, lambda: float(step()))


MODEL = Model(
    title="null step, one feed, one fetch",
    steps=300,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
)
