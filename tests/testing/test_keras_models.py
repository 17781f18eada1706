"""The helpers of TensorFlow's Keras tests: kinds of models, modes, and the check of a layer."""

import unittest

import numpy as np
import pytest
from absl.testing import parameterized

import penstock as tf
from penstock.testing import keras_models, keras_parameterized

layers = tf.keras.layers


def run(case, name):
    result = unittest.TestResult()
    case(name).run(result)
    return result


def test_a_test_runs_for_all_kinds_of_models():
    seen = []

    class Case(keras_parameterized.TestCase):
        @keras_parameterized.run_all_keras_modes
        @keras_parameterized.run_with_all_model_types(exclude_models="sequential")
        @parameterized.named_parameters(("_one", 1), ("_two", 2))
        def test_it(self, number):
            model = keras_models.get_small_mlp(3, 2, 4)
            model.compile(
                keras_models.get_v2_optimizer("adam"),
                "mse",
                run_eagerly=keras_models.should_run_eagerly(),
            )
            model.train_on_batch(np.ones((2, 4)), np.ones((2, 2)))
            mode = (tf.executing_eagerly(), model.run_eagerly)
            seen.append((keras_models.get_model_type(), number, *mode))

    names = sorted(name for name in dir(Case) if name.startswith("test_it"))
    assert len(names) == 16
    for name in names:
        result = run(Case, name)
        assert result.wasSuccessful(), result.errors + result.failures
    modes = [(False, False), (True, False), (True, False), (True, True)]
    kinds = ("functional", "subclass")
    assert sorted(seen) == [(kind, n, *mode) for kind in kinds for n in (1, 2) for mode in modes]


def test_a_class_is_decorated_and_modes_are_left_out():
    @keras_parameterized.run_all_keras_modes(always_skip_v1=True, always_skip_eager=True)
    class Case(keras_parameterized.TestCase):
        def test_it(self):
            assert tf.executing_eagerly() and not keras_models.should_run_eagerly()

    names = sorted(name for name in dir(Case) if name.startswith("test_it"))
    assert names == ["test_it_v2_funcgraph", "test_it_v2_function"]
    assert all(run(Case, name).wasSuccessful() for name in names)


@pytest.mark.parametrize("kind", ["sequential", "functional", "subclass", "subclass_custom_build"])
def test_models_of_layers(kind):
    with keras_models.model_type_scope(kind):
        model = keras_models.get_model_from_layers([layers.Dense(3), layers.Dense(1)], (2,))
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    assert [w.shape.as_list() for w in model.weights] == [[2, 3], [3], [3, 1], [1]]
    with pytest.raises(ValueError, match="outside of a `model_type_scope"):
        keras_models.get_model_type()


@pytest.mark.parametrize("kind", ["functional", "subclass", "subclass_custom_build"])
def test_two_branches(kind):
    inputs = [tf.keras.Input((2,)), tf.keras.Input((3,))]
    with keras_models.model_type_scope(kind):
        model = keras_models.get_multi_io_model(
            [inputs[0], layers.Dense(2)],
            [inputs[1], layers.Dense(2)],
            shared_output_branch=[layers.Concatenate(), layers.Dense(1)],
        )
    model.compile("sgd", "mse")
    loss = model.train_on_batch([np.ones((4, 2)), np.ones((4, 3))], np.ones((4, 1)))
    assert np.isfinite(loss) and len(model.trainable_weights) == 6


def test_layer_test_finds_what_is_wrong():
    doubled = keras_models.layer_test(
        layers.Lambda, {"function": lambda x: 2 * x}, input_data=np.ones((2, 3), np.float32)
    )
    np.testing.assert_array_equal(doubled, np.full((2, 3), 2))
    keras_models.layer_test(layers.Dense, {"units": 2}, input_shape=(None, 3))

    class Forgetful(layers.Dense):
        def compute_output_shape(self, input_shape):
            return tf.TensorShape([None, 7])

    with pytest.raises(AssertionError, match="When testing layer Forgetful"):
        keras_models.layer_test(Forgetful, {"units": 2}, input_shape=(4, 3))
    with pytest.raises(AssertionError, match="dtype=float32 but expected to find int32"):
        keras_models.layer_test(
            layers.Embedding, {"input_dim": 3, "output_dim": 2}, (2, 3), input_dtype="int32"
        )


def test_data_around_centres():
    (x, y), (more, _) = keras_models.get_test_data(20, 5, (3,), 2, random_seed=1)
    assert x.shape == (20, 3) and more.shape == (5, 3) and set(y) <= {0, 1}
    again = keras_models.get_test_data(20, 5, (3,), 2, random_seed=1)
    np.testing.assert_array_equal(again[0][0], x)
