"""Enqueuers, sources of tensors, random changes of images, and what `fit` refuses."""

import itertools

import numpy as np
import pytest

import penstock as tf

keras = tf.keras
layers = keras.layers
utils = keras.utils
image = keras.preprocessing.image


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


class Numbers(utils.Sequence):
    epochs = 0

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return np.full((2,), index)

    def on_epoch_end(self):
        self.epochs += 1


def test_ordered_enqueuer_keeps_the_order_over_epochs():
    source = Numbers()
    enqueuer = utils.OrderedEnqueuer(source)
    enqueuer.start(workers=3, max_queue_size=4)
    taken = [int(batch[0]) for batch in itertools.islice(enqueuer.get(), 12)]
    enqueuer.stop()
    assert taken == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert not enqueuer.is_running() and source.epochs >= 2


def test_generator_enqueuer_ends_and_hands_errors_on():
    enqueuer = utils.GeneratorEnqueuer(iter([1, 2, 3]))
    enqueuer.start()
    assert list(enqueuer.get()) == [1, 2, 3]
    enqueuer.stop()

    def failing():
        yield 1
        raise KeyError("no more")

    enqueuer = utils.GeneratorEnqueuer(failing())
    enqueuer.start()
    batches = enqueuer.get()
    assert next(batches) == 1
    with pytest.raises(KeyError, match="no more"):
        next(batches)
    assert not enqueuer.is_running()


def test_source_inputs():
    a, b = keras.Input((2,)), keras.Input((2,))
    joined = layers.add([layers.Dense(2)(a), b])
    assert utils.get_source_inputs(layers.Dense(1)(joined)) == [a, b]
    assert utils.get_source_inputs(a) == [a]
    constant = tf.ones((2,))
    assert utils.get_source_inputs(constant) is constant


def test_random_changes_of_an_image():
    picture = np.random.RandomState(0).uniform(0, 255, (1, 6, 8)).astype(np.float32)

    def drawn(function, *args):
        np.random.seed(3)  # noqa: NPY002 what a program does
        return function(picture, *args)

    for function, args in (
        (image.random_rotation, (20,)),
        (image.random_shift, (0.3, 0.3)),
        (image.random_shear, (20,)),
        (image.random_zoom, ((0.5, 0.8),)),
        (image.random_channel_shift, (50.0,)),
    ):
        changed = drawn(function, *args)
        assert changed.shape == picture.shape and not np.allclose(changed, picture)
        np.testing.assert_array_equal(changed, drawn(function, *args))
    np.testing.assert_allclose(drawn(image.random_zoom, (1, 1)), picture, atol=1e-3)
    with pytest.raises(ValueError, match="two floats"):
        image.random_zoom(picture, (1,))
    with pytest.raises(ValueError, match="two floats"):
        image.random_brightness(picture, (1,))


@pytest.mark.parametrize("name", ["CosineDecayRestarts", "LinearCosineDecay"])
def test_cosine_schedules(name):
    schedule = getattr(keras.experimental, name)(0.5, 10)
    again = type(schedule).from_config(schedule.get_config())
    with tf.Session() as sess:
        rates = sess.run([schedule(tf.constant(step)) for step in (0, 5, 9)])
        assert rates == sess.run([again(tf.constant(step)) for step in (0, 5, 9)])
    assert rates[0] == pytest.approx(0.5, rel=2e-3) and rates[0] > rates[1] > rates[2]


def small_model():
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    return model


def test_what_fit_refuses():
    rows = tf.data.Dataset.from_tensor_slices((np.ones((4, 2)), np.ones((4, 1)))).batch(2)
    with pytest.raises(ValueError, match="infinitely repeating dataset"):
        small_model().fit(rows.repeat(), verbose=0)
    with pytest.raises(ValueError, match="should not specify a target"):
        small_model().fit(rows, np.ones((4, 1)), verbose=0)
    with pytest.raises(ValueError, match="generator or Sequence"):
        small_model().fit(iter(()), np.ones((4, 1)), verbose=0)
    with pytest.raises(ValueError, match=r"to have shape \(2,\) but got array with shape \(3,\)"):
        small_model().fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    with pytest.raises(ValueError, match="Unknown loss function:nothing"):
        keras.Sequential([layers.Dense(1, input_shape=(2,))]).compile("sgd", "nothing")
    with pytest.raises(ValueError, match="have not yet been created"):
        keras.Sequential([layers.Dense(1)]).get_weights()


def test_logs_of_events_outside_of_epochs_are_none(capsys):
    notes = {}

    class Noting(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            notes["begin"] = logs

        def on_train_end(self, logs=None):
            notes["end"] = logs

    stopping = keras.callbacks.EarlyStopping(
        "loss", min_delta=10, patience=1, restore_best_weights=True, verbose=1
    )
    small_model().fit(
        np.ones((4, 2)), np.ones((4, 1)), epochs=4, verbose=0, callbacks=[Noting(), stopping]
    )
    assert notes == {"begin": None, "end": None}
    assert "Restoring model weights from the end of the best epoch." in capsys.readouterr().out


def test_shapes_of_products_and_of_operations():
    a, b = keras.Input((3,)), keras.Input((3,))
    assert layers.dot([a, b], axes=1, normalize=True).shape.as_list() == [None, 1]
    model = keras.Model(a, layers.Dense(1)(tf.square(a)))
    assert [layer.output_shape for layer in model.layers] == [[(None, 3)], [(None, 3)], (None, 1)]


def test_a_model_without_a_loss_is_not_compiled():
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    with pytest.raises(ValueError, match="no loss to optimize"):
        model.compile("sgd")


def test_an_estimator_counts_the_steps_of_a_train_optimizer(tmp_path):
    model = keras.Sequential([layers.Dense(1, input_shape=(2,), name="d")])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))

    def rows():
        data = ({"d_input": np.ones((4, 2), np.float32)}, np.ones((4, 1), np.float32))
        return tf.data.Dataset.from_tensor_slices(data).batch(2).repeat()

    estimator.train(rows, steps=3)
    assert sorted(estimator.get_variable_names()) == ["d/bias", "d/kernel", "global_step"]
    assert estimator.get_variable_value("global_step") == 3
