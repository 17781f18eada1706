"""Fetched reads in steps that wait: others may write the variable meanwhile."""

import pytest

import penstock as tf


@pytest.mark.parametrize("passed_on", [False, True])
def test_what_is_fetched_of_a_resource_is_copied_before_a_wait(passed_on):
    variable = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
    read = tf.identity(variable.read_value()) if passed_on else variable.value()
    queue = tf.FIFOQueue(2, tf.int32)
    taken = queue.dequeue()
    with tf.control_dependencies([taken]):
        later = variable.assign_add(1.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(queue.enqueue(1))
        assert session.run([taken, read, later]) == [1, 0.0, 1.0]
        order = [node.type for node in session._prepare(None, [taken, read], {}).step.graph.nodes]
        assert order.index("DeepCopy") < order.index("QueueDequeueV2")
        assert "DeepCopy" not in {n.type for n in session._prepare(None, read, {}).step.graph.nodes}
