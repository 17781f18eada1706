"""Steps with loops that are no part of a plan, and ops that wait."""

import penstock as tf
from penstock.passes.prune import prune
from penstock.passes.regions import needs_regions


def test_a_loop_among_ops_that_wait_is_not_divided() -> None:
    with tf.Graph().as_default():
        queues = [tf.FIFOQueue(2, tf.float32, shapes=[]) for _ in range(2)]
        taken = [queue.dequeue() for queue in queues]
        count = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        assert needs_regions(prune([], taken, []))
        assert not needs_regions(prune([], [*taken, count], []))
