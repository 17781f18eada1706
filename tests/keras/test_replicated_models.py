"""Keras models on two replicas: what their layers add, how losses are reduced, what is refused."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers

X = np.linspace(-1.0, 1.0, 32, dtype="f").reshape(8, 4)
Y = np.linspace(0.0, 1.0, 8, dtype="f").reshape(8, 1)


@pytest.fixture
def two_cpus() -> Iterator[tf.Session]:
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config).as_default() as session:
        yield session


def mirrored() -> Any:
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def dense(units: int, **kwargs: Any) -> Any:
    return L.Dense(units, kernel_initializer="ones", **kwargs)


def test_weights_are_read_and_written_between_replicas(two_cpus: Any, tmp_path: Any) -> None:
    with mirrored().scope():
        model = keras.Sequential([dense(1, input_shape=(4,))])
        model.save_weights(str(tmp_path / "w.h5"))
        model.set_weights([np.zeros((4, 1)), np.ones(1)])
        assert keras.backend.get_value(model.weights[1]) == 1.0
        model.load_weights(str(tmp_path / "w.h5"))
        np.testing.assert_array_equal(model.get_weights()[0], np.ones((4, 1)))


def test_a_fixed_batch_is_that_of_all_replicas(two_cpus: Any) -> None:
    with mirrored().scope():
        inputs = L.Input((4,), batch_size=8)
        assert inputs.shape.as_list() == [4, 4]
        assert L.Input(batch_shape=(8, 4)).shape.as_list() == [8, 4]
        with pytest.raises(ValueError, match="`batch_size` argument value 5 cannot be divisible"):
            L.Input((4,), batch_size=5)
        sizes = []

        def noted(x: Any) -> Any:
            sizes.append(x.shape.as_list())
            return x

        model = keras.Model(inputs, dense(1)(L.Lambda(noted)(inputs)))
        model.compile("sgd", "mse")
    model.fit(tf.data.Dataset.from_tensors((X, Y)).repeat(), steps_per_epoch=2, verbose=0)
    assert sizes == [[4, 4]] * 3


def test_schedulers_need_an_optimizer_of_keras(two_cpus: Any) -> None:
    with mirrored().scope():
        model = keras.Sequential([dense(1, input_shape=(4,))])
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    for callback in (
        keras.callbacks.LearningRateScheduler(lambda _: 0.1),
        keras.callbacks.ReduceLROnPlateau(),
    ):
        with pytest.raises(ValueError, match="You must specify a Keras Optimizer V2 when using"):
            model.fit(X, Y, verbose=0, callbacks=[callback])


class _Measured(L.Layer):
    def call(self, inputs: Any) -> Any:
        self.add_metric(tf.reduce_mean(inputs), name="inside", aggregation="mean")
        return inputs


@pytest.mark.parametrize("eager", [False, True])
def test_added_metrics_are_of_all_replicas(two_cpus: Any, eager: bool) -> None:
    def results() -> Any:
        inputs = L.Input((4,))
        outputs = dense(1)(_Measured()(inputs))
        model = keras.Model(inputs, outputs)
        model.add_metric(tf.reduce_sum(outputs), name="outside", aggregation="mean")
        model.compile("sgd", "mse")
        assert [metric.name for metric in model.metrics] == ["inside", "outside"]
        return model.fit(X, Y, batch_size=8, epochs=2, verbose=0).history

    with context.eager_mode() if eager else tf.name_scope(""):
        alone = results()
        with tf.distribute.MirroredStrategy(["/cpu:0"]).scope() if eager else mirrored().scope():
            together = results()
    assert list(together) == list(alone) == ["loss", "inside", "outside"]
    np.testing.assert_allclose(together["inside"], alone["inside"], atol=1e-6)
    np.testing.assert_allclose(together["loss"], alone["loss"], rtol=1e-5)


@pytest.mark.parametrize("reduction", ["sum", "sum_over_batch_size", "auto"])
def test_losses_that_are_sums_are_not_divided(two_cpus: Any, reduction: str) -> None:
    def results() -> Any:
        model = keras.Sequential([dense(1, input_shape=(4,))])
        loss = keras.losses.MeanSquaredError(reduction=reduction)
        model.compile(keras.optimizers.SGD(0.01), loss)
        model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        return [*model.get_weights(), np.array(model.evaluate(X, Y, batch_size=4, verbose=0))]

    alone = results()
    with mirrored().scope():
        together = results()
    for expected, found in zip(alone, together, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_embeddings_on_replicas(two_cpus: Any) -> None:
    ids = np.array([[0, 1], [1, 2], [2, 3], [3, 3]])

    def results() -> Any:
        model = keras.Sequential([L.Embedding(5, 2, embeddings_initializer="ones", input_length=2)])
        model.add(L.Flatten())
        model.add(dense(1))
        model.compile(keras.optimizers.SGD(0.1), "mse")
        model.fit(ids, Y[:4], batch_size=4, epochs=2, shuffle=False, verbose=0)
        return model.get_weights()

    alone = results()
    with mirrored().scope():
        together = results()
    for expected, found in zip(alone, together, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_losses_of_a_call_are_those_of_its_replica() -> None:
    counts = []
    with context.eager_mode():
        model = keras.Sequential([L.ActivityRegularization(l2=1.0, input_shape=(1,))])

        @tf.function
        def step() -> Any:
            def replica() -> Any:
                replica = tf.distribute.get_replica_context()
                rows = tf.reshape(tf.cast(replica.replica_id_in_sync_group, tf.float32), [1, 1])
                model(rows + 1.0)
                replica.merge_call(lambda _: None)
                counts.append(len(model.losses))
                return model.losses[0]

            strategy = mirrored()
            return strategy.experimental_local_results(strategy.experimental_run_v2(replica))

        assert [float(loss) for loss in step()] == [1.0, 4.0]
    assert counts == [1, 1]


def test_layers_with_losses_are_copied() -> None:
    import copy

    from penstock.layers.thread_losses import ThreadLosses

    losses = ThreadLosses()
    losses.added.append(1)
    make, args = losses.__reduce__()
    assert copy.deepcopy(losses).added == make(*args).added == []


@pytest.mark.parametrize("fused", [False, True])
def test_a_replica_without_rows_leaves_averages_as_they_are(two_cpus: Any, fused: bool) -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    strategy.extended.experimental_enable_get_next_as_optional = True
    with strategy.scope():
        rows = tf.placeholder(tf.float32, [None, 2, 2, 3])
        layer = tf.layers.BatchNormalization(fused=fused)
        outputs = layer.apply(rows, training=True)
        gradient = tf.gradients(tf.reduce_sum(outputs), layer.gamma)[0]
        two_cpus.run(tf.global_variables_initializer())
        wanted = [outputs, gradient, *layer.updates]
        made, slope, *_ = two_cpus.run(wanted, {rows: np.zeros((0, 2, 2, 3))})
        assert made.shape == (0, 2, 2, 3) and slope.tolist() == [0.0] * 3
        assert two_cpus.run(layer.moving_mean).tolist() == [0.0] * 3
        two_cpus.run(wanted, {rows: np.ones((1, 2, 2, 3))})
        assert two_cpus.run(layer.moving_mean)[0] == pytest.approx(0.01)


def test_batches_of_contrib_strategies_are_of_one_replica(two_cpus: Any) -> None:
    with tf.contrib.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        model = keras.Sequential([dense(1, input_shape=(4,))])
        model.compile("sgd", "mse")
        assert L.Input((4,), batch_size=5).shape.as_list() == [5, 4]
    sizes = []
    counted = keras.callbacks.LambdaCallback(
        on_batch_end=lambda _, logs: sizes.append(int(logs["size"]))
    )
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
    model.fit(X, Y, batch_size=2, verbose=0, callbacks=[counted])
    model.fit(dataset, verbose=0, callbacks=[counted])
    assert sizes == [4] * 4
    assert len(model.predict(dataset, steps=1)) == 4
