"""Callbacks that write files, and those that watch a metric."""

import logging
import os

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras.callbacks.tensorboard_v2 import TensorBoard

L = keras.layers
X, Y = np.ones((6, 2), "f"), np.ones((6, 1), "f")


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def one_layer(**compile_arguments):
    model = keras.Sequential([L.Dense(1, input_shape=(2,), name="one")], name="model")
    model.compile("sgd", "mse", **compile_arguments)
    return model


def written(folder):
    """{(run, kind of value, tag)} of all event files."""
    found = set()
    for path, _, names in os.walk(folder):
        for name in names:
            for event in tf.train.summary_iterator(os.path.join(path, name)):
                for value in event.summary.value:
                    run = os.path.relpath(path, folder)
                    found.add((run, value.WhichOneof("value"), value.tag))
    return found


# TensorBoard of version 2 -----------------------------------------------------------------------

EPOCHS = {("train", "simple_value", "epoch_loss")}


def test_tensorboard_writes_a_run_of_training_and_one_of_validation(tmp_path):
    model = one_layer()
    callback = TensorBoard(str(tmp_path), write_graph=False)
    model.fit(X, Y, validation_data=(X, Y), callbacks=[callback], verbose=0)
    model.fit(X, Y, callbacks=[callback], verbose=0)  # its writers are opened anew
    assert written(tmp_path) == {*EPOCHS, ("validation", "simple_value", "epoch_loss")}


def test_tensorboard_opens_no_run_without_values(tmp_path):
    one_layer().fit(X, Y, callbacks=[TensorBoard(str(tmp_path))], verbose=0)
    assert os.listdir(tmp_path) == ["train"]


def test_tensorboard_writes_graph_and_configuration(tmp_path):
    with context.eager_mode():
        callback = TensorBoard(str(tmp_path), profile_batch=0)
        one_layer().fit(X, Y, callbacks=[callback], verbose=0)
    assert written(tmp_path) == {*EPOCHS, ("train", "tensor", "keras")}


def test_tensorboard_writes_losses_of_batches_and_weights(tmp_path):
    callback = TensorBoard(
        str(tmp_path), histogram_freq=1, write_images=True, write_graph=False, update_freq="batch"
    )
    one_layer().fit(X, Y, batch_size=2, callbacks=[callback], verbose=0)
    weights = {
        ("train", "histo", "one/kernel_0"),
        ("train", "image", "one/kernel_0/image/0"),
        ("train", "histo", "one/bias_0"),  # a single number makes no image
    }
    assert written(tmp_path) == {*EPOCHS, ("train", "simple_value", "batch_loss"), *weights}


@pytest.mark.parametrize("batch", [1, 2])
def test_tensorboard_traces_a_batch(tmp_path, batch):
    with context.eager_mode():
        callback = TensorBoard(str(tmp_path), write_graph=False, profile_batch=batch)
        one_layer().fit(X, Y, batch_size=2, callbacks=[callback], verbose=0)
    assert written(tmp_path) == {*EPOCHS, ("train", "tensor", f"batch_{batch}")}


def test_tensorboard_refuses_unknown_arguments(caplog):
    with pytest.raises(ValueError, match="Unrecognized arguments in `TensorBoard` Callback"):
        TensorBoard(wwrite_images=True)
    with caplog.at_level(logging.WARNING):
        TensorBoard(write_grads=True)
    assert "`write_grads` will be ignored" in caplog.text


def test_which_tensorboard_is_which():
    assert tf.compat.v2.keras.callbacks.TensorBoard is TensorBoard
    assert tf.keras.callbacks.TensorBoard is not TensorBoard


# Checkpoints ------------------------------------------------------------------------------------


def test_training_begins_with_the_newest_file(tmp_path):
    path = str(tmp_path / "weights.{epoch:02d}.h5")
    model = one_layer()
    model.fit(X, Y, callbacks=[keras.callbacks.ModelCheckpoint(path)], verbose=0)
    assert os.listdir(tmp_path) == ["weights.01.h5"]
    other = one_layer()
    restart = keras.callbacks.ModelCheckpoint(path, load_weights_on_restart=True)
    restart.set_model(other)
    restart.on_train_begin()
    for ours, theirs in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_files_that_can_not_be_loaded(tmp_path):
    path = tmp_path / "bad.h5"
    path.write_text("junk")
    restart = keras.callbacks.ModelCheckpoint(str(path), load_weights_on_restart=True)
    restart.set_model(one_layer())
    with pytest.raises(ValueError, match="Error loading file from"):
        restart.on_train_begin()


def test_the_newest_file_of_a_pattern(tmp_path):
    pattern = str(tmp_path / "f.{batch:02d}.{epoch:02d}.h5")
    files = [str(tmp_path / name) for name in ("f.03.02.h5", "f.02.02.h5", "f.01.01.h5")]
    newest = keras.callbacks.ModelCheckpoint(
        pattern
    )._get_most_recently_modified_file_matching_pattern
    for age, path in enumerate(files):
        with open(path, "w"):
            os.utime(path, (1e9 + age, 1e9 + age))
    assert newest(pattern) == files[-1]
    for path in files:
        os.utime(path, (1e9, 1e9))
    assert newest(pattern) == files[0]
    assert newest(str(tmp_path / "other.h5")) is None


def test_models_without_configuration_save_weights(tmp_path):
    class Own(keras.Model):
        def call(self, inputs):
            return inputs

    callback = keras.callbacks.ModelCheckpoint(str(tmp_path / "x"))
    callback.set_model(Own())
    assert callback.save_weights_only


def test_the_best_needs_a_metric(caplog, tmp_path):
    callback = keras.callbacks.ModelCheckpoint(str(tmp_path / "x"), save_best_only=True)
    callback.set_model(one_layer())
    with caplog.at_level(logging.WARNING):
        callback.on_epoch_end(0, {"loss": 1.0})
    assert "Can save best model only with val_loss available" in caplog.text


# Metrics that are watched -----------------------------------------------------------------------


def test_a_rate_that_waits():
    callback = keras.callbacks.ReduceLROnPlateau(patience=1, cooldown=2, min_delta=0.5)
    callback.set_model(one_layer())
    rates = []
    for epoch, loss in enumerate([2.0, 1.0, 0.8, 0.7, 0.6]):
        callback.on_epoch_end(epoch, {"val_loss": loss})
        rate = keras.backend.get_value(callback.model.optimizer.lr)
        rates.append((round(float(rate), 6), callback.in_cooldown()))
    assert rates == [(0.01, False), (0.01, False), (0.001, True), (0.001, True), (0.0001, True)]


def test_the_old_name_of_min_delta(caplog):
    with caplog.at_level(logging.WARNING):
        callback = keras.callbacks.ReduceLROnPlateau(epsilon=1e-13)
    assert "`epsilon` argument is deprecated" in caplog.text
    assert callback.min_delta == 1e-13
    assert not hasattr(callback, "epsilon")


def test_what_early_stopping_looks_at(caplog):
    stopper = keras.callbacks.EarlyStopping("acc")
    assert stopper.get_monitor_value({"acc": 0.5}) == 0.5
    with caplog.at_level(logging.WARNING):
        assert stopper.get_monitor_value({"loss": 0.5}) is None
    assert "conditioned on metric `acc` which is not available" in caplog.text


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: keras.callbacks.EarlyStopping(mode="odd"), "EarlyStopping"),
        (lambda: keras.callbacks.ModelCheckpoint("f", mode="odd"), "ModelCheckpoint"),
        (lambda: keras.callbacks.ReduceLROnPlateau(mode="odd"), "Learning Rate Plateau Reducing"),
    ],
)
def test_an_unknown_mode_is_automatic(make, name, monkeypatch):
    said = []
    monkeypatch.setattr(tf.logging, "warning", lambda text, *values: said.append(text % values))
    monkeypatch.setattr("penstock.platform.logging.warning", tf.logging.warning)
    make()
    assert said == [f"{name} mode odd is unknown, fallback to auto mode."]
