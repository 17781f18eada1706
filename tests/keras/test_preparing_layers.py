"""Layers that learn from data before a model is trained."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras.layers.preprocessing import Combiner, CombinerPreprocessingLayer, Normalization

ROWS = np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 10.0], [7.0, 14.0]], "f")


class Summing(Combiner):
    def compute(self, batch_values, accumulator=None):
        return np.sum(batch_values) + (accumulator or 0)

    def extract(self, accumulator):
        return {"sum": accumulator}

    def restore(self, output):
        return output["sum"]


class Adding(CombinerPreprocessingLayer):
    """Adds the sum of what it has seen."""

    def __init__(self):
        super().__init__(Summing())

    def build(self, input_shape):
        self.sum = self._add_state_variable("sum", (), tf.float32, tf.zeros_initializer)
        super().build(input_shape)

    def call(self, inputs):
        return inputs + self.sum


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    with context.eager_mode() if request.param == "eager" else tf.Graph().as_default():
        yield request.param


@pytest.mark.parametrize("as_dataset", [False, True])
def test_a_layer_adapts_to_data(mode, as_dataset):
    layer = Adding()
    data = np.array([1, 2, 3])
    layer.adapt(tf.data.Dataset.from_tensor_slices(data) if as_dataset else data)
    given = keras.Input((1,))
    model = keras.Model(given, layer(given))
    np.testing.assert_array_equal(model.predict([1.0, 2.0]), [[7.0], [8.0]])
    layer.adapt(np.array([4]), reset_state=False)
    np.testing.assert_array_equal(model.predict([1.0]), [[11.0]])
    layer.adapt(np.array([4]))
    np.testing.assert_array_equal(model.predict([1.0]), [[5.0]])


def test_data_that_layers_do_not_adapt_to(mode):
    with pytest.raises(ValueError, match="requires a Dataset or a Numpy array"):
        Adding().adapt([1, 2])
    with pytest.raises(ValueError, match="infinite number of elements"):
        Adding().adapt(tf.data.Dataset.range(2).repeat())
    with pytest.raises(RuntimeError, match=r"after build\(\)"):
        Adding()._set_state_variables({"sum": 1})


def test_normalization_by_mean_and_variance(mode):
    layer = Normalization()
    layer.adapt(ROWS)
    given = keras.Input((2,))
    model = keras.Model(given, layer(given))
    expected = (ROWS - ROWS.mean(0)) / ROWS.var(0)
    np.testing.assert_allclose(model.predict(ROWS), expected, rtol=1e-6)
    again = Normalization.from_config(layer.get_config())
    other = keras.Model(given, again(given))
    again.set_weights(layer.get_weights()[:2])
    np.testing.assert_allclose(other.predict(ROWS), expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match="without also setting 'count'"):
        again.adapt(ROWS, reset_state=False)


def test_moments_may_be_merged_in_any_order():
    combiner = Normalization._NormalizingCombiner(axis=-1)
    parts = [combiner.compute(ROWS[:1]), combiner.compute(ROWS[1:])]
    for merged in (combiner.merge(parts), combiner.merge(parts[::-1])):
        np.testing.assert_allclose(merged.mean, ROWS.mean(0))
        np.testing.assert_allclose(merged.variance, ROWS.var(0))
    back = combiner.deserialize(combiner.serialize(parts[1]))
    np.testing.assert_array_equal(back.mean, parts[1].mean)
    with pytest.raises(ValueError, match="may not be 0"):
        Normalization(axis=0)
