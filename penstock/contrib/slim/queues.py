"""The threads of queues, for a block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import penstock as tf

__all__ = ["NestedQueueRunnerError", "QueueRunners"]

_open = threading.Lock()


class NestedQueueRunnerError(Exception):
    """A block of `QueueRunners` inside another."""


@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:  # TensorFlow's name
    """Runs the threads that fill queues while the block runs."""
    if not _open.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    coordinator = tf.train.Coordinator()
    threads: list[threading.Thread] = []
    for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
        threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
    try:
        yield
    finally:
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=120)
        except RuntimeError:
            session.close()
        _open.release()
