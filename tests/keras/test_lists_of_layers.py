"""`_layers`, to which libraries append what no attribute holds."""

import penstock as tf


class Stack(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Dense(3)
        self._layers.append(tf.keras.layers.Dense(2))
        self._layers += [tf.keras.layers.Dense(1)]

    def call(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_what_is_appended_is_a_part():
    model = Stack()
    assert model(tf.ones([4, 5])).shape == [4, 1]
    assert model.layers[0] is model.first
    assert len(model.trainable_weights) == 6


def test_what_is_taken_out_is_none():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(2)])
    model._layers.pop()
    assert [layer.units for layer in model.layers] == [3]
    model = Stack()
    last = model._layers.pop()
    assert last.units == 1
    assert [layer.units for layer in model.layers] == [3, 2]


def test_lists_under_names_that_functional_models_use():
    class Network(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self._input_layers = [tf.keras.layers.Dense(3)]
            self._output_layers = [tf.keras.layers.Dense(1)]

        def call(self, x):
            for layer in self._input_layers + self._output_layers:
                x = layer(x)
            return x

    model = Network()
    model(tf.ones([4, 5]))
    assert [weight.shape.as_list() for weight in model.weights] == [[5, 3], [3], [3, 1], [1]]
