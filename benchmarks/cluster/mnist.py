"""Training a network on digits by two workers, asynchronously and synchronously.

Each worker's program runs in the process of its task, as programs of between-graph replication do.
The digits are random numbers: what counts is the time of a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cluster.rows import Row, Step

_BATCH, _PIXELS, _HIDDEN, _CLASSES = 100, 784, 100, 10


def _loss(tf: Any, images: Any, labels: Any) -> Any:
    random = np.random.RandomState(0)
    first = (0.05 * random.randn(_PIXELS, _HIDDEN)).astype(np.float32)
    second = (0.1 * random.randn(_HIDDEN, _CLASSES)).astype(np.float32)
    hidden = tf.nn.relu(
        tf.matmul(images, tf.Variable(first, use_resource=False))
        + tf.Variable(np.zeros(_HIDDEN, np.float32), use_resource=False)
    )
    logits = tf.matmul(hidden, tf.Variable(second, use_resource=False)) + tf.Variable(
        np.zeros(_CLASSES, np.float32), use_resource=False
    )
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def build(tf: Any, cluster: Any, index: int, target: str, *, synchronous: bool) -> Step:
    """One worker's step."""
    setter = tf.train.replica_device_setter(
        cluster=tf.train.ClusterSpec(cluster), worker_device=f"/job:worker/task:{index}"
    )
    with tf.device(setter):
        step_number = tf.train.get_or_create_global_step()
        images = tf.placeholder(tf.float32, [_BATCH, _PIXELS])
        labels = tf.placeholder(tf.int32, [_BATCH])
        loss = _loss(tf, images, labels)
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        hooks = []
        if synchronous:
            optimizer = tf.train.SyncReplicasOptimizer(
                optimizer, replicas_to_aggregate=2, total_num_replicas=2
            )
        train = optimizer.minimize(loss, global_step=step_number)
        if synchronous:
            hooks.append(optimizer.make_session_run_hook(index == 0))
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    session = tf.train.MonitoredTrainingSession(
        target, is_chief=index == 0, hooks=hooks, config=config
    )
    random = np.random.RandomState(index)
    feeds = {
        images: random.rand(_BATCH, _PIXELS).astype(np.float32),
        labels: random.randint(_CLASSES, size=_BATCH).astype(np.int32),
    }
    return lambda: session.run([train, loss], feeds)


def _not_a_client(tf: Any, open_session: Any) -> Step:
    raise NotImplementedError("the workers themselves build it")


MNIST_ROWS = [
    Row("mnist_async", "MNIST, asynchronous", _not_a_client, 0, 2.0, by_workers=True),
    Row("mnist_sync", "MNIST, synchronous", _not_a_client, 0, 2.0, by_workers=True),
]
