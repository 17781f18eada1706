"""Keras models that several tasks train: each in a thread, with a session on its own server."""

import os
import threading

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.distribute import clusters
from penstock.distribute.coordinator import run_distribute_coordinator
from penstock.distribute.parameter_server import ParameterServerExtended
from penstock.distribute.strategy import Strategy
from penstock.keras import backend as K
from penstock.keras.distribute import training_state
from penstock.train.cluster_resolver import SimpleClusterResolver
from tests.cluster.nursery import free_ports

X = np.linspace(-1.0, 1.0, 32, dtype="f").reshape(8, 4)
Y = X.sum(1, keepdims=True)


class ParameterServers(Strategy):
    """Knows of the cluster when the coordinator tells it."""

    def __init__(self):
        alone = SimpleClusterResolver(tf.train.ClusterSpec({}))
        super().__init__(ParameterServerExtended(self, alone))


def run(program, strategy):
    """What `program(strategy, number)` gives for two workers of a new cluster."""
    ports = iter(free_ports(3))
    spec = {"worker": [f"localhost:{next(ports)}" for _ in range(2)]}
    spec["ps"] = [f"localhost:{next(ports)}"]
    tasks = [(job, i) for job, addresses in spec.items() for i in range(len(addresses))]
    config = tf.ConfigProto()
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    servers = [tf.train.Server(spec, job, i, config=config) for job, i in tasks]
    results = {}

    def worker(own):
        number = 0 if clusters.is_chief() else 1
        with tf.Graph().as_default():
            try:
                results[number] = program(own, number)
            finally:
                K.get_session().close()
                K.set_session(None)

    try:
        run_distribute_coordinator(worker, strategy, cluster_spec=spec)
    finally:
        for server in servers:
            server.stop()
    return [results[number] for number in sorted(results)]


def reduced():
    return tf.distribute.experimental.MultiWorkerMirroredStrategy()


def compiled(strategy):
    with strategy.scope():
        layers = [keras.layers.Dense(3, kernel_initializer="ones", input_shape=(4,))]
        layers += [keras.layers.BatchNormalization()]
        layers += [keras.layers.Dense(1, kernel_initializer="ones")]
        model = keras.Sequential(layers)
        model.compile(keras.optimizers.SGD(0.05, momentum=0.5), "mse")
    return model


def batches():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat()


def fitted(model, epochs=3, callbacks=()):
    options = {"epochs": epochs, "steps_per_epoch": 2, "verbose": 0}
    return model.fit(batches(), callbacks=list(callbacks), **options)


@pytest.mark.parametrize("make", [reduced, ParameterServers])
def test_a_model_is_trained_in_the_sessions_of_the_tasks(make):
    def program(strategy, number):
        model = compiled(strategy)
        first = model.evaluate(batches(), steps=2, verbose=0)
        clusters.wait_for_other_workers()
        fitted(model, epochs=6)
        clusters.wait_for_other_workers()
        target = K.get_session()._target
        weights = K.batch_get_value(model.trainable_weights)  # averages are of each replica
        return first, model.evaluate(batches(), steps=2, verbose=0), target, weights

    (first, last, target, weights), (_, _, other_target, other_weights) = run(program, make())
    assert last < first
    assert target != other_target
    for own, other in zip(weights, other_weights, strict=True):
        np.testing.assert_array_equal(own, other)


def test_only_the_first_worker_calls_some_callbacks():
    class Noted(keras.callbacks.Callback):
        def __init__(self, called):
            self.called = called

        def on_train_begin(self, logs=None):
            self.called.append(type(self).__name__)

    class Chiefs(Noted):
        _chief_worker_only = True

    def program(strategy, number):
        called = []
        fitted(compiled(strategy), callbacks=[Noted(called), Chiefs(called)])
        return called

    assert run(program, reduced()) == [["Noted", "Chiefs"], ["Noted"]]


@pytest.mark.parametrize("name", ["weights.h5", "weights"])
def test_the_first_workers_files_stay(tmp_path, name):
    def program(strategy, number):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = str(folder / name)
        fitted(
            compiled(strategy),
            callbacks=[keras.callbacks.ModelCheckpoint(path, save_weights_only=True)],
        )
        return training_state.checkpoint_exists(path), (folder / "backup").exists()

    assert run(program, reduced()) == [(True, False), (False, False)]


class Lost(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise RuntimeError("lost")


def test_a_training_goes_on_after_the_last_epoch(tmp_path):
    path = str(tmp_path / "weights_{epoch}.h5")
    lock = threading.Lock()
    lost = []

    def whole(strategy, number):
        return fitted(compiled(strategy), epochs=4).history["loss"]

    def part(strategy, number):
        saved = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
        with pytest.raises(RuntimeError, match="lost"):
            fitted(compiled(strategy), epochs=4, callbacks=[saved, Lost()])
        with lock:
            lost.append(number)

    def rest(strategy, number):
        saved = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
        model = compiled(strategy)
        before = [weight.name for weight in model.weights]
        history = fitted(model, epochs=4, callbacks=[saved])
        assert [weight.name for weight in model.weights] == before
        assert not hasattr(model, training_state.CKPT_SAVED_EPOCH)
        # Another training of the same model begins with its first epoch.
        again = fitted(model, epochs=1, callbacks=[saved]).epoch
        return history.epoch, history.history["loss"], again

    losses, _ = run(whole, reduced())
    run(part, reduced())
    assert sorted(lost) == [0, 1]
    assert os.path.exists(tmp_path / "backup" / "training_state.index")
    for epochs, others, again in run(rest, reduced()):
        assert epochs == [2, 3]
        np.testing.assert_allclose(others, losses[2:], rtol=1e-5)
        assert again == [0]
    assert not os.path.exists(tmp_path / "backup")


def test_questions_of_a_task_need_one():
    assert not clusters.has_worker_context()
    with pytest.raises(ValueError, match="task"):
        clusters.should_save_checkpoint()
