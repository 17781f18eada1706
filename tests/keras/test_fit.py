"""`fit`, `evaluate`, `predict` and callbacks."""

import csv

import numpy as np
import pytest

import penstock as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()
    np.random.seed(0)  # noqa: NPY002 Keras shuffles with it


def linear_model(**kwargs):
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(2,))])
    model.compile(kwargs.pop("optimizer", "sgd"), "mse", **kwargs)
    return model


def data(count=20):
    x = np.random.rand(count, 2).astype(np.float32)  # noqa: NPY002
    return x, x @ np.float32([[1.0], [-2.0]]) + 0.5


def test_fit_learns_and_reports():
    model = linear_model(metrics=["mae"], optimizer=keras.optimizers.SGD(0.1))
    x, y = data()
    history = model.fit(x, y, epochs=60, batch_size=4, validation_split=0.2, verbose=0)
    assert history.epoch == list(range(60))
    assert set(history.history) == {
        "loss",
        "mean_absolute_error",
        "val_loss",
        "val_mean_absolute_error",
    }
    assert history.history["loss"][-1] < 0.1 * history.history["loss"][0]
    assert model.metrics_names == ["loss", "mean_absolute_error"]


def test_the_loss_of_an_epoch_is_the_mean_over_samples():
    model = linear_model(optimizer=keras.optimizers.SGD(0.0))
    x, y = data(10)
    history = model.fit(x, y, batch_size=4, verbose=0)
    assert history.history["loss"][0] == pytest.approx(np.mean(np.square(y)), rel=1e-5)
    assert model.evaluate(x, y, batch_size=3, verbose=0) == pytest.approx(
        np.mean(np.square(y)), rel=1e-5
    )


def test_weights_of_samples_and_classes():
    model = keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(1,))])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    x, y = np.ones((2, 1)), np.array([[0.0], [1.0]])
    assert model.train_on_batch(x, y) == pytest.approx(0.5)
    assert model.train_on_batch(x, y, sample_weight=np.array([3.0, 1.0])) == pytest.approx(1.5)
    assert model.train_on_batch(x, y, class_weight={0: 5.0, 1: 1.0}) == pytest.approx(2.5)
    assert model.train_on_batch(x, y) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", ["generator", "sequence"])
def test_generators(kind):
    x, y = data(12)

    class Batches(keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return x[index * 4 : index * 4 + 4], y[index * 4 : index * 4 + 4]

    def generate():
        while True:
            for index in range(3):
                yield x[index * 4 : index * 4 + 4], y[index * 4 : index * 4 + 4]

    model = linear_model(optimizer=keras.optimizers.SGD(0.0))
    source = generate() if kind == "generator" else Batches()
    history = model.fit_generator(source, steps_per_epoch=3, epochs=2, verbose=0, shuffle=False)
    assert history.history["loss"] == pytest.approx([np.mean(np.square(y))] * 2, rel=1e-5)
    source = generate() if kind == "generator" else Batches()
    assert model.evaluate_generator(source, steps=3) == pytest.approx(
        np.mean(np.square(y)), rel=1e-5
    )
    source = generate() if kind == "generator" else Batches()
    assert model.predict_generator(source, steps=2).shape == (8, 1)


def test_callbacks_are_told_in_order():
    told = []

    class Listener(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            told.append("train")
            assert self.params["epochs"] == 2 and self.model is model

        def on_epoch_begin(self, epoch, logs=None):
            told.append(f"epoch {epoch}")

        def on_batch_end(self, batch, logs=None):
            told.append(f"batch {batch} of {logs['size']}")

        def on_epoch_end(self, epoch, logs=None):
            assert set(logs) == {"loss", "val_loss"}
            if epoch == 0:
                self.model.stop_training = True

        def on_train_end(self, logs=None):
            told.append("end")

    model = linear_model()
    x, y = data(5)
    model.fit(
        x, y, epochs=2, batch_size=3, validation_data=(x, y), verbose=0, callbacks=[Listener()]
    )
    assert told == ["train", "epoch 0", "batch 0 of 3", "batch 1 of 2", "end"]


def test_callbacks_that_watch(tmp_path):
    x, y = data()
    model = linear_model(optimizer=keras.optimizers.SGD(0.0))
    stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2)
    reduce = keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1, factor=0.5)
    log = keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
    history = model.fit(x, y, epochs=9, verbose=0, shuffle=False, callbacks=[stop, reduce, log])
    assert len(history.epoch) == 3 and stop.stopped_epoch == 2
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["0", "1", "2"]
    assert float(rows[0]["loss"]) == pytest.approx(history.history["loss"][0])


def test_learning_rate_scheduler():
    model = linear_model()
    x, y = data()
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    history = model.fit(x, y, epochs=2, verbose=0, callbacks=[schedule])
    assert history.history["lr"] == pytest.approx([0.1, 0.05])
    assert keras.backend.get_value(model.optimizer.lr) == pytest.approx(0.05)


def test_checkpoints_of_weights(tmp_path):
    model = linear_model()
    x, y = data()
    path = str(tmp_path / "weights-{epoch}")
    save = keras.callbacks.ModelCheckpoint(path, monitor="loss", save_weights_only=True)
    model.fit(x, y, epochs=2, verbose=0, callbacks=[save])
    expected = model.get_weights()
    model.set_weights([np.zeros((2, 1)), np.zeros(1)])
    model.load_weights(str(tmp_path / "weights-2"))
    np.testing.assert_allclose(model.get_weights()[0], expected[0])


def test_tensorboard(tmp_path):
    model = linear_model()
    x, y = data()
    board = keras.callbacks.TensorBoard(
        str(tmp_path), histogram_freq=2, write_grads=True, write_images=True
    )
    model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y), callbacks=[board])
    (file,) = tmp_path.iterdir()
    steps: dict[str, list[int]] = {}
    for event in tf.train.summary_iterator(str(file)):
        for value in event.summary.value:
            steps.setdefault(value.tag, []).append(event.step)
    kernel = model.weights[0].name.replace(":", "_")
    assert steps["epoch_loss"] == steps["epoch_val_loss"] == [0, 1]
    # Every second epoch, the tests of batches of validation data compute them.
    assert steps[kernel] == steps[f"{kernel}_grad"]
    assert any("/image" in tag for tag in steps)
    assert steps[kernel] == list(range(len(steps[kernel])))


def test_tensorboard_counts_batches(tmp_path):
    model = linear_model()
    x, y = data(8)
    board = keras.callbacks.TensorBoard(str(tmp_path), update_freq=4)
    model.fit(x, y, epochs=2, batch_size=2, verbose=0, callbacks=[board])
    (file,) = tmp_path.iterdir()
    steps = {
        event.step
        for event in tf.train.summary_iterator(str(file))
        for value in event.summary.value
        if value.tag == "batch_loss"
    }
    assert steps == {1, 3, 5, 7}  # the last batch of each four samples


def test_progress_bar(capsys):
    model = linear_model()
    x, y = data(8)
    model.fit(x, y, epochs=2, batch_size=4, validation_data=(x, y))
    text = capsys.readouterr().out
    assert text.startswith("Train on 8 samples, validate on 8 samples\nEpoch 1/2\n")
    assert "8/8 [==============================] - " in text
    assert "us/sample - loss: " in text or "ms/sample - loss: " in text
    assert "val_loss: " in text


def test_subclassed_model():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = [layers.Dense(4, activation="relu"), layers.Dense(4)]
            self.hidden.append(layers.Dropout(0.5))
            self.out = layers.Dense(1)

        def call(self, inputs, training=None):
            x = inputs
            for layer in self.hidden:
                x = layer(x)
            return self.out(x)

    model = Net()
    model.compile("adam", "mse", metrics=["mae"])
    x, y = data()
    history = model.fit(x, y, epochs=2, verbose=0)
    assert set(history.history) == {"loss", "mean_absolute_error"}
    assert model.weights[0].name == "net/dense/kernel:0"
    assert len(model.weights) == 6 and len(model.trainable_weights) == 6
    # Without training nothing is dropped: two predictions are the same.
    np.testing.assert_array_equal(model.predict(x), model.predict(x))


def test_batch_normalization_is_updated_while_training_only():
    model = keras.Sequential([layers.BatchNormalization(input_shape=(2,))])
    model.compile("sgd", "mse")
    x = np.random.rand(8, 2) + 3.0  # noqa: NPY002
    model.predict(x)
    mean = model.layers[0].moving_mean
    np.testing.assert_array_equal(keras.backend.get_value(mean), 0.0)
    model.train_on_batch(x, x)
    np.testing.assert_allclose(keras.backend.get_value(mean), 0.01 * x.mean(0), rtol=1e-4)


def test_frozen_layers_are_not_trained():
    model = keras.Sequential([layers.Dense(2, input_shape=(2,)), layers.Dense(1)])
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.train_on_batch(*data())
    after = model.get_weights()
    np.testing.assert_array_equal(before[0], after[0])
    assert np.any(before[2] != after[2])
    assert len(model.trainable_weights) == 2 and len(model.non_trainable_weights) == 2


def test_stateful_recurrence():
    model = keras.Sequential(
        [
            layers.SimpleRNN(
                1,
                stateful=True,
                activation="linear",
                kernel_initializer="ones",
                recurrent_initializer="ones",
                batch_input_shape=(1, 2, 1),
            )
        ]
    )
    ones = np.ones((1, 2, 1))
    assert model.predict(ones).item() == 2.0
    assert model.predict(ones).item() == 4.0
    model.reset_states()
    assert model.predict(ones).item() == 2.0


def test_optimizers_of_tf_train():
    model = linear_model(optimizer=tf.train.AdamOptimizer(0.1))
    x, y = data()
    history = model.fit(x, y, epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((4, 3)), np.ones((4, 1)), "expected dense_input to have shape"),
        (np.ones((4, 2)), np.ones((4, 2)), r"target array with shape \(4, 2\)"),
        (np.ones((4, 2)), np.ones((3, 1)), "same number of samples"),
    ],
)
def test_wrong_data(x, y, message):
    with pytest.raises(ValueError, match=message):
        linear_model().fit(x, y, verbose=0)


def test_a_model_that_is_not_compiled():
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    with pytest.raises(RuntimeError, match="You must compile your model before"):
        model.fit(*data(), verbose=0)


def test_each_epoch_mixes_its_samples_then_those_of_the_validation():
    x, y = data(10)
    np.random.seed(1)  # noqa: NPY002 Keras shuffles with it
    linear_model().fit(x, y, epochs=2, validation_data=(x[:4], y[:4]), verbose=0)
    random = np.random.RandomState(1)
    for count in (10, 4, 10, 4):
        random.shuffle(np.arange(count))
    assert np.random.rand() == random.rand()  # noqa: NPY002


def test_no_validation_once_training_has_been_stopped():
    class StopAtOnce(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = True

    x, y = data()
    history = linear_model().fit(
        x, y, epochs=3, validation_data=(x, y), verbose=0, callbacks=[StopAtOnce()]
    )
    assert set(history.history) == {"loss"}


def test_metrics_begin_anew_with_predict():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    x, y = np.array([[1.0], [3.0]]), np.zeros((2, 1))
    model.evaluate(x[:1], y[:1], verbose=0)
    assert model.test_on_batch(x, y)[1] == pytest.approx(5 / 3)  # of all three
    model.evaluate(x[:1], y[:1], verbose=0)
    model.predict(x)
    assert model.test_on_batch(x, y)[1] == pytest.approx(2)
