"""The steps that are measured, each built by the same lines in both frameworks.

The first are the null model of the paper on TensorFlow (Abadi et al. 2016, figure 6): a worker
fetches parameters and computes nothing with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PS = "/job:ps/task:0"
WORKERS = ("/job:worker/task:0", "/job:worker/task:1")

MIB = 1 << 20
_WIDTH = 128  # floats of a row of an embedding
_LOOKED_UP = 32
_DENSE_BYTES = 100 * MIB

Step = Callable[[], Any]
Build = Callable[[Any, Callable[[], Any]], Step]  # from the framework and a maker of sessions


@dataclass(frozen=True)
class Row:
    """One kind of step.

    Attributes:
      build: makes the graph, initialises it, and gives a function that runs the step once.
      steps: how many are run in a turn: for a second or so, most of which the processes are where
        the system leaves them; in the first 50 ms of it some still share a core.
      target: how many times as many steps as TensorFlow's Penstock is to run.
      tcp_target: the same, without shared memory.
      by_workers: whether both workers run it at once, each in its own process, instead of a client
        of the first one; for `seconds` in a turn.
    """

    name: str
    title: str
    build: Build
    steps: int
    target: float | None = None
    tcp_target: float | None = None
    by_workers: bool = False
    seconds: float = 2.0


def _runner(tf: Any, open_session: Callable[[], Any], fetch: Any, feeds: Any = None) -> Step:
    """Initialises the variables and runs a step through a callable form that both have."""
    session = open_session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(fetch, feeds)


def _null(workers: int) -> Build:
    def build(tf: Any, open_session: Callable[[], Any]) -> Step:
        nodes = []
        for worker in WORKERS[:workers]:
            with tf.device(worker):
                nodes.append(tf.no_op())
        return _runner(tf, open_session, nodes)

    return build


def _variable(tf: Any, shape: list[int], value: float = 1.0) -> Any:
    with tf.device(PS):
        return tf.Variable(tf.fill(shape, np.float32(value)), use_resource=False)


def _scalar_read(tf: Any, open_session: Callable[[], Any]) -> Step:
    variable = _variable(tf, [])
    with tf.device(WORKERS[0]):
        used = tf.add(variable, 1.0)
    return _runner(tf, open_session, used)


def _scalar_update(tf: Any, open_session: Callable[[], Any]) -> Step:
    variable = _variable(tf, [])
    updates = []
    for worker in WORKERS:
        with tf.device(worker):
            change = tf.multiply(variable, 0.001)
        with tf.device(PS):
            updates.append(tf.assign_add(variable, change).op)
    return _runner(tf, open_session, updates)


def _looked_up(tf: Any, embedding: Any, rows: int) -> tuple[Any, Any]:
    """Random rows of an embedding: their numbers go there, and they come back."""
    ids = tf.random_uniform([_LOOKED_UP], maxval=rows, dtype=tf.int32)
    with tf.device(PS):
        return ids, tf.gather(embedding, ids)


def _sparse_read(size: int) -> Build:
    def build(tf: Any, open_session: Callable[[], Any]) -> Step:
        rows = size // (4 * _WIDTH)
        embedding = _variable(tf, [rows, _WIDTH])
        with tf.device(WORKERS[0]):
            _, found = _looked_up(tf, embedding, rows)
            used = tf.reduce_sum(found)
        return _runner(tf, open_session, used)

    return build


def _sparse_update(tf: Any, open_session: Callable[[], Any]) -> Step:
    rows = 1024 * MIB // (4 * _WIDTH)
    embedding = _variable(tf, [rows, _WIDTH])
    updates = []
    for worker in WORKERS:
        with tf.device(worker):
            ids, found = _looked_up(tf, embedding, rows)
            change = tf.multiply(found, 0.001)
        with tf.device(PS):
            updates.append(tf.scatter_add(embedding, ids, change).op)
    return _runner(tf, open_session, updates)


def _dense_read(tf: Any, open_session: Callable[[], Any]) -> Step:
    variable = _variable(tf, [_DENSE_BYTES // 4 // 1024, 1024])
    with tf.device(WORKERS[0]):
        used = tf.slice(variable, [7, 7], [1, 1])
    return _runner(tf, open_session, used)


def _feed(tf: Any, open_session: Callable[[], Any]) -> Step:
    with tf.device(WORKERS[0]):
        fed = tf.placeholder(tf.float32, [None, 1024])
        used = tf.slice(fed, [7, 7], [1, 1])
    batch = np.ones([_DENSE_BYTES // 4 // 1024, 1024], np.float32)
    return _runner(tf, open_session, used, {fed: batch})


def _fetch(tf: Any, open_session: Callable[[], Any]) -> Step:
    with tf.device(WORKERS[0]):
        variable = tf.Variable(
            tf.fill([_DENSE_BYTES // 4 // 1024, 1024], np.float32(1.0)), use_resource=False
        )
        value = tf.identity(variable)
    return _runner(tf, open_session, value)


ROWS = [
    Row("null", "no-op on one worker", _null(1), 2000, 4.0),
    Row("null_both", "no-op on both workers", _null(2), 1000, 4.0),
    Row("scalar_read", "one worker reads a scalar", _scalar_read, 1000, 4.0),
    Row("scalar_update", "both workers read and update it", _scalar_update, 500, 4.0),
    Row("sparse_16M", "32 rows of 16 MiB, read", _sparse_read(16 * MIB), 700),
    Row("sparse_128M", "32 rows of 128 MiB, read", _sparse_read(128 * MIB), 700),
    Row("sparse_1G", "32 rows of 1 GiB, read", _sparse_read(1024 * MIB), 700, 4.0),
    Row("sparse_update", "… by both workers, and added to", _sparse_update, 400, 4.0),
    Row("dense", "100 MiB, read by one worker", _dense_read, 3, 3.0, 2.0),
    Row("feed", "a client feeds 100 MiB", _feed, 2, 5.0),
    Row("fetch", "a client fetches 100 MiB", _fetch, 2, 5.0),
]
