"""Synchronous replicas: gradients are averaged, and a step ends for all at once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def _optimizer(**settings: Any) -> Any:
    inner = tf.train.GradientDescentOptimizer(2.0)
    return tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=2, **settings)


def _replica(target: str, is_chief: bool) -> tuple[Any, Any, Any, Any]:
    """A session of a replica with its operation, a dense and a sparse variable."""
    with tf.Graph().as_default():
        step = tf.Variable(0, name="global_step", trainable=False)
        dense = tf.Variable(0.0, name="dense")
        rows = tf.Variable([[3.0], [4.0]], name="rows")
        grads = [
            tf.constant(0.1 if is_chief else 0.3),
            tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]), tf.constant([2, 1])),
        ]
        optimizer = _optimizer()
        # On one server the replicas' own steps need names of their own.
        with tf.name_scope("chief" if is_chief else "other"):
            train = optimizer.apply_gradients(zip(grads, [dense, rows], strict=True), step)
        session = tf.train.MonitoredTrainingSession(
            target,
            is_chief,
            hooks=[optimizer.make_session_run_hook(is_chief)],
        )
    return session, train, dense, rows


def _run_all(replicas: list[Any]) -> None:
    """Runs a step of each replica at once: each waits for the gradients of the others."""
    threads = [
        threading.Thread(target=session._tf_sess().run, args=(train,))
        for session, train, *_ in replicas
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_two_replicas_take_steps_together() -> None:
    server = tf.train.Server.create_local_server()
    replicas = [_replica(server.target, is_chief) for is_chief in (True, False)]
    chief, _, dense, rows = replicas[0]
    bare = chief._tf_sess()
    _run_all(replicas)
    _run_all(replicas)  # with the first tokens, which are of step 0: these gradients are stale
    for step in (1, 2, 3):
        for _ in range(500):
            if bare.run("global_step:0") == step:
                break
            time.sleep(0.01)
        np.testing.assert_allclose(bare.run(dense), -step * 2.0 * 0.2, rtol=1e-6)
        np.testing.assert_allclose(bare.run(rows), [[3.0], [4.0 - step * 2.0]])
        _run_all(replicas) if step < 3 else None
    _end(replicas)


def _end(replicas: list[Any]) -> None:
    """Closes the sessions; the chief's thread first gets the gradients that it may wait for."""

    def run(session: Any, train: Any) -> None:
        # The chief's thread may have ended without them: then closing the session ends the wait.
        with contextlib.suppress(tf.errors.OpError, RuntimeError):
            session.run(train)

    replicas[0][0]._coordinated_creator.coord.request_stop()
    last = [
        threading.Thread(target=run, args=(session._tf_sess(), train))
        for session, train, *_ in replicas
    ]
    for thread in last:
        thread.start()
    for session, *_ in reversed(replicas):
        session.close()
    for thread in last:
        thread.join(30)
        assert not thread.is_alive()


def test_the_hook_needs_gradients_first() -> None:
    optimizer = _optimizer()
    hook = optimizer.make_session_run_hook(True)
    with pytest.raises(ValueError, match=r"apply_gradient should be called"):
        hook.begin()
    with pytest.raises(ValueError, match="after apply_gradients"):
        optimizer.get_chief_queue_runner()
    step = tf.train.get_or_create_global_step()
    optimizer.minimize(tf.Variable(1.0) * 2, global_step=step)
    hook.begin()


def test_arguments() -> None:
    optimizer = _optimizer(total_num_replicas=1)
    variable = tf.Variable(1.0)
    with pytest.raises(ValueError, match="at least one variable"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(tf.constant(1.0), variable)])
    step = tf.train.get_or_create_global_step()
    optimizer.apply_gradients([(tf.constant(1.0), variable)], step)
    with pytest.raises(ValueError, match=r"Too few tokens.*0 \(given\) vs 1 \(needed\)"):
        optimizer.get_init_tokens_op(0)


def test_slots_are_those_of_the_wrapped_optimizer() -> None:
    inner = tf.train.AdamOptimizer()
    optimizer = tf.train.SyncReplicasOptimizer(inner, 1)
    variable = tf.Variable(1.0)
    optimizer.minimize(variable * 2, global_step=tf.train.get_or_create_global_step())
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.variables() == inner.variables()
    assert optimizer.get_slot(variable, "m") is inner.get_slot(variable, "m")


def test_the_chief_lets_waiting_replicas_go_at_its_end() -> None:
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=2, total_num_replicas=3
    )
    step = tf.train.get_or_create_global_step()
    optimizer.minimize(tf.Variable(1.0) * 2, global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True)
    waiting = optimizer._sync_token_queue.size()
    sizes = []

    class Count(tf.train.SessionRunHook):  # type: ignore[misc]
        def end(self, session: Any) -> None:
            sizes.append(session.run(waiting))

    with tf.train.MonitoredSession(hooks=[Count(), hook, Count()]) as session:
        assert session.run(waiting) == 2  # the first tokens
    assert sizes[1] - sizes[0] >= 3
