"""The smallest step with state: add one to a scalar variable and fetch the sum."""

from typing import Any

from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import open_session


def build_session(tf: Any) -> Program:
    count = tf.Variable(0.0, name="count")
    increment = tf.assign_add(count, 1.0)
    session = open_session(tf)
    session.run(tf.global_variables_initializer())
    return Program(lambda: session.run(increment), lambda: float(session.run(count)))


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    count = torch.zeros(())
    increment = compile(lambda: count.add_(1.0))
    return Program(lambda: increment().item(), count.item)


def build_jax(jax: Any, variant: str) -> Program:
    count = jax.numpy.zeros(())
    increment = jax.jit(lambda value: value + 1.0, donate_argnums=0)

    def step() -> float:
        nonlocal count
        count = increment(count)
        return float(count)

    return Program(step, lambda: float(count))


MODEL = Model(
    title="`assign_add` of a scalar variable",
    steps=300,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
)
