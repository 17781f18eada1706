"""A pair of scalars through a queue: one step puts it in, the next one takes it out."""

from typing import Any

from benchmarks.model import Model, Program, sessions
from benchmarks.training import open_session

PAIR = (3, 4.0)


def build_session(tf: Any) -> Program:
    queue = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], []])
    enqueue, dequeue = queue.enqueue(PAIR), queue.dequeue()
    session = open_session(tf)

    def step() -> Any:
        session.run(enqueue)
        return session.run(dequeue)

    return Program(step, lambda: float(sum(step())))


MODEL = Model(
    title="enqueue and dequeue of a pair of scalars",
    steps=300,
    builders=sessions(build_session),
)
