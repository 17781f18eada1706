"""A chain of 400 operations on a scalar: what one operation costs beyond its arithmetic."""

from typing import Any

import numpy as np

from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import open_session

PAIRS = 200  # of a multiplication and an addition, which no rewriting merges
FED = np.asarray(3.0, np.float32)


def chain(value: Any) -> Any:
    for _ in range(PAIRS):
        value = value * 0.99 + 0.01
    return value


def build_session(tf: Any) -> Program:
    fed = tf.placeholder(tf.float32, [])
    end = chain(fed)
    session = open_session(tf)

    def step() -> Any:
        return session.run(end, feed_dict={fed: FED})

    return Program(step, lambda: float(step()))


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    run = compile(chain)

    def step() -> float:
        return run(torch.from_numpy(FED)).item()

    return Program(step, step)


def build_jax(jax: Any, variant: str) -> Program:
    run = jax.jit(chain)

    def step() -> float:
        return float(run(FED))

    return Program(step, step)


MODEL = Model(
    title="chain of 400 scalar operations",
    steps=100,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
)
