"""Programs group the nodes of updates; in eager mode there are none left to wait for."""

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


def test_the_node_of_an_update_is_none():
    with eager_mode():
        variable = tf.contrib.eager.Variable([1.0, 2.0])
        update = tf.scatter_update(variable, [0], [5.0])
        assert update.op is None
        assert tf.group(update.op) is None
        assert variable.numpy().tolist() == [5, 2]
