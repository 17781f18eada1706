"""Keras under strategies: replicas share a batch, and their gradients are summed."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers

INPUTS = np.linspace(-1.0, 1.0, 32, dtype="f").reshape(8, 4)
LABELS = np.linspace(0.0, 1.0, 8, dtype="f").reshape(8, 1)


@pytest.fixture
def two_cpus():
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config).as_default() as session:
        yield session


def mirrored(count):
    return tf.distribute.MirroredStrategy([f"/cpu:{number}" for number in range(count)])


def compiled(strategy=None, normalized=False):
    with tf.name_scope("") if strategy is None else strategy.scope():
        layers = [L.Dense(3, kernel_initializer="ones", activation="tanh", input_shape=(4,))]
        layers += [L.BatchNormalization()] if normalized else []
        model = keras.Sequential([*layers, L.Dense(1, kernel_initializer="ones")])
        model.compile(keras.optimizers.Adam(0.1), "mse", metrics=["mae"])
    return model


def results(model):
    history = model.fit(INPUTS, LABELS, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return [
        *history.values(),
        model.evaluate(INPUTS, LABELS, batch_size=4, verbose=0),
        model.predict(INPUTS).ravel(),
        *(weight.ravel() for weight in model.get_weights()),
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_replicas_train_as_one(two_cpus, count):
    alone = results(compiled())
    model = compiled(mirrored(count))
    together = results(model)
    for expected, found in zip(alone, together, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    kernel = model.weights[0]
    copies = two_cpus.run(list(model._distribution_strategy.experimental_local_results(kernel)))
    assert len(copies) == count
    np.testing.assert_array_equal(copies[0], copies[-1])


def test_parts_of_a_batch_need_not_be_equal(two_cpus):
    model = compiled(mirrored(2))
    assert model.predict(INPUTS[:3]).shape == (3, 1)


def test_batch_normalization_is_of_each_replica(two_cpus):
    model = compiled(mirrored(2), normalized=True)
    model.train_on_batch(INPUTS, LABELS)
    means = model._distribution_strategy.experimental_local_results(model.layers[1].moving_mean)
    first, second = two_cpus.run(list(means))
    assert not np.allclose(first, second)


def test_a_model_in_eager_mode():
    with context.eager_mode():
        alone, together = results(compiled()), results(compiled(mirrored(1)))
        for expected, found in zip(alone, together, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, [0.46, 0.92]), (2, [-0.38, -0.76])],  # of TensorFlow 1.15
)
def test_gradients_of_replicas_are_summed(two_cpus, count, expected):
    strategy = mirrored(count)
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
        optimizer = keras.optimizers.SGD(0.1, momentum=0.9)

    def step():
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable**2) * (tf.cast(number, tf.float32) + 1.0)
        return optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])

    with strategy.scope():
        train = strategy.group(strategy.experimental_run_v2(step))
    two_cpus.run(tf.global_variables_initializer())
    two_cpus.run(train)
    two_cpus.run(train)
    for copy in two_cpus.run(list(strategy.experimental_local_results(variable))):
        np.testing.assert_allclose(copy, expected, rtol=1e-5)
    assert two_cpus.run(optimizer.iterations) == 2
