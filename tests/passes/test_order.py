"""The order of a step that changes something: who asks for a shape comes before others."""

import numpy as np

import penstock as tf


def test_shapes_are_asked_for_before_memory_is_reused():
    fed = tf.placeholder(tf.float32, [None, 5000])
    x = fed * 2.0
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2, 3, 4], logits=x)
    gradient = tf.gradients(losses, x)[0]
    with tf.control_dependencies([losses]):
        later = tf.fill([2], 1.0)
    rows = tf.shape(x)[0] + tf.size(x) + tf.rank(x)
    count = tf.Variable(0)
    fetches = [losses, gradient, later, rows, tf.assign_add(count, 1)]
    values = np.zeros([4, 5000], np.float32)
    with tf.Session() as session:
        session.run(count.initializer)
        found = session.run(fetches, {fed: values})
        step = session._prepare(None, fetches, {fed: values}).step
    order = [node.type for node in step.graph.nodes]
    entropy = order.index("SparseSoftmaxCrossEntropyWithLogits")
    assert max(order.index(kind) for kind in ("Shape", "Size")) < entropy
    assert "_given_many_in_place" in str(step.plan.function.__globals__.values())
    np.testing.assert_allclose(found[0], np.log(5000.0), rtol=1e-5)
    assert found[3] == 4 + 20_000 + 2
