"""`tf.keras.mixed_precision`: policies, variables that are cast when read, loss scales."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras import dtype_behavior
from penstock.keras.mixed_precision import experimental
from penstock.keras.mixed_precision.experimental.autocast_variable import AutoCastVariable
from penstock.keras.mixed_precision.experimental.policy import policy_scope

L = keras.layers


@pytest.fixture
def casting_layers():
    """Layers that cast their inputs, as in TensorFlow 2."""
    before = dtype_behavior.chosen_dtype_behavior()
    dtype_behavior.enable_v2_dtype_behavior()
    yield
    dtype_behavior.restore_dtype_behavior(before)


@pytest.mark.parametrize(
    ("name", "compute", "variable"),
    [
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("float16_with_float32_vars", "float16", "float32"),
        ("float64", "float64", "float64"),
        ("infer", None, None),
        ("infer_with_float32_vars", None, "float32"),
    ],
)
def test_policies(name, compute, variable):
    policy = experimental.Policy(name)
    assert (policy.name, policy.compute_dtype, policy.variable_dtype) == (name, compute, variable)
    assert policy.should_cast_variables is (compute != variable)
    assert (policy.loss_scale is not None) is (name == "mixed_float16")


def test_refused_policies(casting_layers):
    with pytest.raises(ValueError, match="Cannot convert value abc to a mixed precision Policy"):
        experimental.Policy("abc")
    with pytest.raises(TypeError, match="not a DType. Instead, pass DType.name"):
        experimental.Policy(tf.float16)
    dtype_behavior.disable_v2_dtype_behavior()
    with pytest.raises(ValueError, match="can only be set to a non-infer policy"):
        experimental.set_policy("mixed_float16")


def test_layers_by_policy():
    layer = L.Dense(2, dtype=experimental.Policy("mixed_float16"))
    outputs = layer(tf.ones((1, 3), tf.float16))
    assert (layer.dtype, layer.kernel.dtype, outputs.dtype) == ("float32", tf.float32, tf.float16)
    with policy_scope("infer_with_float32_vars"):
        inferred = L.Dense(2)
        assert inferred(tf.ones((1, 3), tf.float16)).dtype == tf.float16
        assert inferred.kernel.dtype == tf.float32


def test_inputs_are_cast(casting_layers):
    with policy_scope("mixed_float16"):
        assert L.Dense(2)(tf.ones((1, 3), tf.float64)).dtype == tf.float16
        assert L.Dense(2, dtype="float32")(tf.ones((1, 3), tf.float16)).dtype == tf.float32
    assert L.Dense(2)(tf.ones((1, 3), tf.float64)).dtype == tf.float32


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_variables_that_are_cast_when_read(mode):
    with mode():
        variable = AutoCastVariable(tf.Variable([1.0, 2.0], use_resource=True, name="v"))
        assert variable.dtype == tf.identity(variable).dtype == tf.float32
        with tf.get_default_graph()._enable_auto_casting_variables(tf.float16):
            reads = [
                variable.value(),
                variable.read_value(),
                variable.sparse_read([0]),
                tf.identity(variable),
                variable[0],
                1.0 + variable,
            ]
            assert {read.dtype for read in reads} == {tf.float16}
            assert (variable.dtype, variable.true_dtype) == (tf.float16, tf.float32)
            assert "dtype=float16 true_dtype=float32" in repr(variable)
        assert isinstance(variable, tf.Variable)
        with pytest.raises(ValueError, match="must be a floating point variable"):
            AutoCastVariable(tf.Variable(1, use_resource=True))


@pytest.mark.parametrize("eagerly", [None, False, True])
def test_a_dynamic_loss_scale(casting_layers, eagerly):
    mode = context.graph_mode if eagerly is None else context.eager_mode
    with mode():
        scale = tf.train.experimental.DynamicLossScale(initial_loss_scale=4, increment_period=2)
        with policy_scope(experimental.Policy("mixed_float16", loss_scale=scale)):
            model = keras.Sequential(
                [L.Dense(1, kernel_initializer="ones", use_bias=False, input_shape=(1,))]
            )
            model.compile(keras.optimizers.SGD(0.25), "mse", run_eagerly=bool(eagerly))
        assert isinstance(model.optimizer, experimental.LossScaleOptimizer)
        now = keras.backend.get_value
        x, y = np.ones((2, 1)), np.zeros((2, 1))
        model.train_on_batch(x, y)
        assert (now(model.weights[0]), now(scale._current_loss_scale)) == (0.5, 4)
        model.train_on_batch(x, y)
        assert (now(model.weights[0]), now(scale._current_loss_scale)) == (0.25, 8)
        model.train_on_batch(x * np.nan, y)
        assert (now(model.weights[0]), now(scale._current_loss_scale)) == (0.25, 4)
        assert now(model.optimizer.iterations) == 2


def test_a_loss_scale_optimizer_by_hand():
    with context.eager_mode():
        optimizer = experimental.LossScaleOptimizer(keras.optimizers.SGD(0.5), 10.0)
        variable = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = optimizer.get_scaled_loss(variable * 2.0)
        gradients = tape.gradient(loss, [variable])
        assert gradients[0].numpy() == 20.0
        optimizer.apply_gradients(
            zip(optimizer.get_unscaled_gradients(gradients), [variable], strict=True)
        )
        assert variable.numpy() == 2.0
        optimizer.minimize(lambda: variable * 2.0, [variable])
        assert variable.numpy() == 1.0
        optimizer.lr = 0.125
        assert keras.backend.get_value(optimizer.learning_rate) == 0.125
    with pytest.raises(ValueError, match="with a clipnorm"):
        experimental.LossScaleOptimizer(keras.optimizers.SGD(1.0, clipnorm=1.0), 2.0)


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_a_dynamic_loss_scale_of_replicas(casting_layers, mode):
    with mode():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        scale = tf.train.experimental.DynamicLossScale(initial_loss_scale=4, increment_period=2)
        policy = experimental.Policy("mixed_float16", loss_scale=scale)
        with strategy.scope(), policy_scope(policy):
            dense = L.Dense(1, kernel_initializer="ones", use_bias=False, input_shape=(1,))
            model = keras.Sequential([dense])
            model.compile(keras.optimizers.SGD(0.25), "mse")
        now = keras.backend.get_value
        x, y = np.ones((2, 1), "f"), np.zeros((2, 1), "f")
        for factor, weight, factor_now in [(1, 0.5, 4), (1, 0.25, 8), (np.nan, 0.25, 4)]:
            model.fit(x * factor, y, batch_size=2, verbose=0)
            assert (now(model.weights[0]), now(scale._current_loss_scale)) == (weight, factor_now)


def test_cast_variables_of_replicas_are_read_between_them(casting_layers):
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.distribute.MirroredStrategy(["/cpu:0"]).scope(), policy_scope("mixed_float16"):
            layer = L.Dense(1, kernel_initializer="ones")
            outputs = layer(tf.ones([2, 3]))
        assert (layer.kernel.dtype, outputs.dtype) == (tf.float32, tf.float16)
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(outputs), [[3.0], [3.0]])


def test_custom_gradients_beside_variables_of_replicas():
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
            variable = tf.Variable(3.0)

            @tf.custom_gradient
            def doubled(x):
                return x * 2.0, lambda grad: grad * 5.0

            tensor = tf.constant(1.0)
            (gradient,) = tf.gradients(doubled(tensor), tensor)
        session.run(variable.initializer)
        assert session.run(gradient) == 5.0
