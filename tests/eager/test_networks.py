"""`tf.contrib.eager.Network` and `Sequential`."""

import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

tfe = tf.contrib.eager


class Net(tfe.Network):
    def __init__(self):
        super().__init__()
        self.hidden = self.track_layer(tf.layers.Dense(3, activation=tf.nn.relu))
        self.out = self.track_layer(tf.layers.Dense(1))

    def call(self, x):
        return self.out(self.hidden(x))


def test_layers_are_named_to_a_network():
    with eager_mode():
        net = Net()
        assert net(tf.ones([2, 2])).shape.as_list() == [2, 1]
        assert len(net.layers) == 2 and len(net.trainable_variables) == 4
        pairs = tfe.implicit_gradients(lambda x: tf.reduce_sum(net(x)))(tf.ones([2, 2]))
        assert {id(variable) for _, variable in pairs} == {id(v) for v in net.variables}
        with pytest.raises(TypeError, match="not a tf.layers.Layer"):
            net.track_layer(3)
        with pytest.raises(ValueError, match="Forward slashes"):
            tfe.Network(name="a/b")


def test_layers_and_functions_in_a_row():
    with eager_mode():
        ones = tf.ones_initializer()
        net = tfe.Sequential([tf.layers.Dense(1, kernel_initializer=ones), tf.nn.relu])
        net.add(tf.layers.Dropout(0.5))
        assert net(tf.ones([1, 2])).numpy().tolist() == [[2.0]]
        assert len(net.variables) == 2
