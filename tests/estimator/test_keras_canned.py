"""Canned estimators of TensorFlow 2, sequences, clusters and dual coordinate ascent."""

import collections
import itertools

import numpy as np
import pytest

import penstock as tf
from penstock.estimator.canned import keras_estimators as canned
from penstock.estimator.canned import recurrent
from penstock.estimator.inputs import feed_functions, feeding

column = tf.feature_column


def xor():
    features = {"x": tf.constant([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])}
    return features, tf.constant([[0], [1], [1], [0]])


def line():
    return {"x": tf.constant([[0.0], [1.0], [2.0]])}, tf.constant([[1.0], [3.0], [5.0]])


def test_network(tmp_path):
    model = canned.DNNClassifierV2(
        [8],
        [column.numeric_column("x", shape=(2,))],
        str(tmp_path),
        optimizer=lambda: tf.keras.optimizers.Adam(0.1),
        activation_fn=tf.nn.tanh,
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    model.train(xor, steps=60)
    names = model.get_variable_names()
    assert {"dnn/hiddenlayer_0/kernel", "dnn/logits/bias"} <= set(names)
    assert "training/Adam/dnn/logits/bias/m" in names
    assert model.evaluate(xor, steps=1)["accuracy"] == 1.0
    assert model.get_variable_value("global_step") == 60


def test_embeddings_are_named_by_scopes(tmp_path):
    categories = column.categorical_column_with_identity("x", 4)
    model = canned.DNNRegressorV2([2], [column.embedding_column(categories, 2)], str(tmp_path))

    def numbers():
        return {"x": tf.constant([[1], [2]])}, tf.constant([[1.0], [2.0]])

    model.train(numbers, steps=1)
    name = "dnn/input_from_feature_columns/input_layer/x_embedding/embedding_weights"
    assert model.get_variable_value(name).shape == (4, 2)


def test_linear_model_and_both(tmp_path):
    columns = [column.numeric_column("x")]
    linear = canned.LinearRegressorV2(
        columns, str(tmp_path / "l"), optimizer=tf.keras.optimizers.SGD(0.1)
    )
    linear.train(line, steps=200)
    weight = linear.get_variable_value("linear/linear_model/x/weights")
    np.testing.assert_allclose(weight, [[2.0]], rtol=1e-2)
    both = canned.DNNLinearCombinedRegressorV2(
        str(tmp_path / "b"),
        linear_feature_columns=columns,
        dnn_feature_columns=columns,
        dnn_hidden_units=[2],
    )
    both.train(line, steps=2)
    assert both.get_variable_value("global_step") == 2
    assert "dnn/hiddenlayer_0/kernel" in both.get_variable_names()


def test_baseline(tmp_path):
    model = canned.BaselineRegressorV2(str(tmp_path), optimizer=tf.keras.optimizers.SGD(0.5))
    model.train(line, steps=10)
    np.testing.assert_allclose(model.get_variable_value("baseline/bias"), [3.0], rtol=1e-3)


def test_older_columns_and_optimizers_are_refused(tmp_path):
    columns = [column.numeric_column("x")]
    model = canned.LinearRegressorV2(
        columns, str(tmp_path), optimizer=tf.train.GradientDescentOptimizer(0.1)
    )
    with pytest.raises(ValueError, match="not a tf.keras.optimizers.Optimizer instance"):
        model.train(line, steps=1)


def sequences():
    tokens = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 2])
    return {"tokens": tokens}, tf.constant([[0], [1]])


@pytest.mark.parametrize(("units", "cell"), [([3], "simple_rnn"), ([3, 4], "lstm"), (3, "gru")])
def test_recurrent_network(tmp_path, units, cell):
    tokens = tf.contrib.feature_column.sequence_categorical_column_with_identity("tokens", 5)
    model = recurrent.RNNClassifier(
        [column.embedding_column(tokens, 2)], units=units, cell_type=cell, model_dir=str(tmp_path)
    )
    model.train(sequences, steps=2)
    assert model.evaluate(sequences, steps=1)["global_step"] == 2
    assert "rnn_model/logits/kernel" in model.get_variable_names()


def test_recurrent_settings():
    with pytest.raises(ValueError, match="must not be specified when using rnn_cell_fn"):
        recurrent.RNNClassifier([], units=[3], rnn_cell_fn=lambda: None)
    with pytest.raises(ValueError, match="must be a `_SequentialHead`"):
        recurrent.RNNEstimator(tf.estimator.BinaryClassHead(), [], return_sequences=True)


def test_clusters_and_distances(tmp_path):
    points = np.array([[0, 0], [0, 1], [10, 10], [10, 11]], np.float32)
    model = tf.estimator.experimental.KMeans(
        2, str(tmp_path), initial_clusters=points[[0, 2]], use_mini_batch=False
    )

    def batch():
        return tf.data.Dataset.from_tensors(points)

    model.train(lambda: tf.constant(points), steps=3)
    np.testing.assert_allclose(model.cluster_centers(), [[0, 0.5], [10, 10.5]], rtol=1e-5)
    np.testing.assert_allclose(next(model.transform(batch))[0], 0.5, rtol=1e-5)


@pytest.mark.parametrize("make", [tf.estimator.LinearRegressor, canned.LinearRegressorV2])
def test_dual_coordinate_ascent(tmp_path, make):
    def examples():
        features, labels = line()
        return {**features, "id": tf.constant(["a", "b", "c"])}, labels

    optimizer = tf.estimator.experimental.LinearSDCA("id", symmetric_l2_regularization=0.01)
    model = make([column.numeric_column("x")], str(tmp_path), optimizer=optimizer)
    model.train(examples, steps=60)
    rows = itertools.islice(model.predict(examples), 3)
    predicted = [each["predictions"][0] for each in rows]
    np.testing.assert_allclose(predicted, [1.0, 3.0, 5.0], rtol=0.1)
    with pytest.raises(ValueError, match="one-dimensional label"):
        make([column.numeric_column("x")], label_dimension=2, optimizer=optimizer)


def test_rows_that_are_fed():
    array = np.arange(8).reshape(4, 2)
    feed = feed_functions.ArrayFeed(["i", "v"], array, 3, num_epochs=2)
    assert [list(feed()["i"]) for _ in range(3)] == [[0, 1, 2], [3, 0, 1], [2, 3]]
    with pytest.raises(tf.errors.OutOfRangeError, match="Already emitted 2 epochs"):
        feed()
    columns = collections.OrderedDict(a=array, b=array[:3])
    with pytest.raises(ValueError, match="lengths must match"):
        feed_functions.ColumnsFeed(["i", "a", "b"], columns, 2)


def test_sequences_of_a_generator_are_padded():
    def rows():
        yield {"b": np.array([1, 2]), "a": np.array(1.0)}
        yield {"b": np.array([3]), "a": np.array(2.0)}

    feed = feed_functions.GeneratorFeed(["a", "b"], rows, 4, pad_value=-1)
    found = feed()
    assert found["b"].tolist() == [[1, 2], [3, -1]]
    queue = feeding.enqueue_data(rows, 10, pad_value=0, num_epochs=1, enqueue_size=4)
    batch = queue.dequeue_many(2)
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(batch)[1].tolist() == [[1, 2], [3, 0]]
        coordinator.request_stop()
        coordinator.join(threads)
    with pytest.raises(NotImplementedError, match="only available with generator"):
        feeding.enqueue_data(np.zeros(3), 10, pad_value=0)
