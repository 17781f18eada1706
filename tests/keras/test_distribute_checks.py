"""What is checked and counted before models train under strategies."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.internal_paths.graph_mode import eager_mode
from penstock.keras.distribute import batch_sizes, input_checks
from penstock.testing import keras_correctness


@pytest.fixture
def strategy():
    return tf.distribute.OneDeviceStrategy("/cpu:0")


@pytest.mark.parametrize(
    ("samples", "steps", "size", "mode", "expected"),
    [
        (64, None, None, None, (2, 32)),
        (20, None, None, None, (1, 20)),
        (64, 4, None, None, (4, 16)),
        (63, None, 20, "train", (4, 20)),
        (64, 2, 16, None, (2, 16)),
    ],
)
def test_steps_and_sizes(strategy, samples, steps, size, mode, expected):
    assert batch_sizes.get_input_params(strategy, samples, steps, size, mode) == expected


@pytest.mark.parametrize(
    ("samples", "steps", "size", "message"),
    [
        (63, None, 20, "not divisible by batch size"),
        (63, 2, None, "not divisible by steps"),
        (64, 10, 16, "less than samples required"),
    ],
)
def test_samples_that_do_not_fit(strategy, samples, steps, size, message):
    with pytest.raises(ValueError, match=message):
        batch_sizes.get_input_params(strategy, samples, steps, size)


def test_replicas_must_agree():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    first, second = tf.ones((2, 3)), tf.ones((2, 4))
    with pytest.raises(ValueError, match="shapes do not match"):
        input_checks.validate_all_tensor_shapes("x", (first, second))
    with pytest.raises(ValueError, match="dtypes do not match"):
        input_checks.validate_all_tensor_types("x", (first, tf.ones((2, 3), tf.int32)))
    with pytest.raises(ValueError, match="should be tensors"):
        input_checks.validate_per_replica_inputs(strategy, [1])


def test_callbacks_that_need_an_optimizer_of_keras():
    callbacks = [keras.callbacks.ReduceLROnPlateau()]
    input_checks.validate_callbacks(callbacks, keras.optimizers.SGD())
    with pytest.raises(ValueError, match="Keras Optimizer V2"):
        input_checks.validate_callbacks(callbacks, tf.train.AdamOptimizer())


class Line(keras_correctness.TestDistributionStrategyCorrectnessBase):
    """A case as programs write them."""

    __test__ = False

    def get_data(self):
        rows = np.linspace(0, 1, 64, dtype="f")[:, None]
        return rows, 3 * rows, rows

    def get_model(self, initial_weights=None, distribution=None, **arguments):
        with keras_correctness.MaybeDistributionScope(distribution):
            model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
            model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
            if initial_weights:
                model.set_weights(initial_weights)
        return model

    def runTest(self):
        """Nothing: the methods are called one by one."""


@pytest.mark.parametrize("use_numpy", [False, True])
def test_a_model_trains_alike_with_a_strategy(strategy, use_numpy, capsys):
    case = Line()
    case.run_correctness_test(strategy, use_numpy, use_validation_data=use_numpy)
    case.run_dynamic_lr_test(strategy)
    case.doCleanups()


def test_results_that_differ_are_told():
    case = Line()
    with pytest.raises(AssertionError, match="weights_1"):
        keras_correctness.compare_results(
            {"weights_1": np.ones(2)}, {"weights_1": np.zeros(2)}, None, case
        )


# What `compile` refuses -------------------------------------------------------------------------


def _line() -> tf.keras.Model:
    inputs = tf.keras.Input((3,))
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))


def test_variables_from_outside_of_the_scope_are_refused():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    model = _line()
    with strategy.scope(), pytest.raises(ValueError, match="was not created in the distribution"):
        model.compile("sgd", "mse")
    with strategy.scope():
        _line().compile("sgd", "mse")


def test_models_without_inputs_are_refused_in_graphs():
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
        with pytest.raises(ValueError, match="created without `input_shape`/`input_dim` set"):
            model.compile("sgd")
    with eager_mode(), tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        tf.keras.Sequential([tf.keras.layers.Dense(3)]).compile("sgd")


def test_arguments_that_are_not_distributed():
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        for key, value in (("sample_weight_mode", "temporal"), ("weighted_metrics", ["mse"])):
            with pytest.raises(NotImplementedError, match=f"{key} is not supported"):
                _line().compile("sgd", "mse", **{key: value})
    with eager_mode(), tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        _line().compile("sgd", run_eagerly=True)
        with pytest.raises(ValueError, match="do not support enabling `run_eagerly`"):
            _line().compile("sgd", run_eagerly=True, experimental_run_tf_function=False)


def test_a_loss_does_not_count_examples_under_a_strategy():
    labels = np.array([[1.0], [0.0]], np.float32)
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        with pytest.raises(ValueError, match="Please use `tf.keras.losses.Reduction.SUM` or"):
            tf.keras.losses.MeanSquaredError()(labels, labels)
        loss = tf.keras.losses.MeanSquaredError(reduction="sum")(labels, 1 - labels)
    with tf.Session() as session:
        assert session.run(loss) == 2.0
