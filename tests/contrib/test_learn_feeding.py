"""What `tf.contrib.learn` feeds models with: arrays, iterators, datasets, Examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import learn
from penstock.contrib.learn import tensor_signature
from penstock.contrib.learn.datasets import base, synthetic
from penstock.contrib.learn.fitting_errors import NotFittedError
from penstock.contrib.learn.learn_io import data_feeder

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.array([0, 1, 2, 0, 1, 2])


def _fed(feeder: Any, count: int) -> list[Any]:
    feeder.input_builder()
    feed = feeder.get_feed_dict_fn()
    return [feed() for _ in range(count)]


def test_arrays_are_fed_in_batches_in_the_order_of_seed_42() -> None:
    first, second = _fed(data_feeder.DataFeeder(X, Y, None, 4), 2)
    order = np.random.RandomState(42).permutation(6)
    np.testing.assert_array_equal(first["input:0"], X[order[:4]])
    np.testing.assert_array_equal(second["output:0"], Y[order[4:]])


def test_labels_are_fed_one_hot_and_epochs_end() -> None:
    feeder = data_feeder.DataFeeder(X, Y, 3, 4, shuffle=False, epochs=1)
    first, second = _fed(feeder, 2)
    assert first["output:0"].tolist() == np.eye(3)[[0, 1, 2, 0]].tolist()
    assert second["input:0"].shape == (2, 2)
    with pytest.raises(StopIteration):
        feeder.get_feed_dict_fn()()


def test_vectors_become_columns_and_dictionaries_stay() -> None:
    feeder = data_feeder.DataFeeder({"a": X, "b": X[:, 0]}, {"y": Y}, {"y": 3}, 4, shuffle=False)
    (feed,) = _fed(feeder, 1)
    assert {name: value.shape for name, value in feed.items()} == {
        "input_a:0": (4, 2),
        "input_b:0": (4, 1),
        "output_y:0": (4, 3),
    }
    assert feeder.output_dtype == {"y": np.float32}


def test_iterators_are_fed_until_they_end() -> None:
    feeder = data_feeder.setup_train_data_feeder(iter(X), iter(Y), 3, 4)
    first, last = _fed(feeder, 2)
    assert first["output:0"].shape == (4, 3) and last["input:0"].shape == (2, 2)
    with pytest.raises(StopIteration):
        _fed(feeder, 1)
    with pytest.raises(ValueError, match="Both x and y should be iterators"):
        data_feeder.setup_train_data_feeder(iter(X), Y, None, 2)


def test_batches_to_predict() -> None:
    sizes = [batch.shape for batch in data_feeder.setup_predict_data_feeder(X[:, 0], 4)]
    assert sizes == [(4, 1), (2, 1)]
    sizes = [batch.shape for batch in data_feeder.setup_predict_data_feeder(iter(X), 4)]
    assert sizes == [(4, 2), (2, 2)]
    with pytest.raises(ValueError, match="Invalid batch_size 0"):
        data_feeder.setup_predict_data_feeder(X, 0)


def test_signatures_ignore_the_size_of_the_batch() -> None:
    fixed, open_batch = tf.placeholder(tf.int32, [5, 3]), tf.placeholder(tf.int32, [None, 3])
    sparse = tf.sparse_placeholder(tf.float64)
    signatures = tensor_signature.create_signatures({"a": fixed, "s": sparse})
    assert tensor_signature.tensors_compatible({"a": open_batch, "s": sparse}, signatures)
    assert not tensor_signature.tensors_compatible({"a": open_batch}, signatures)
    assert not tensor_signature.tensors_compatible(fixed, signatures)
    assert signatures["a"].get_placeholder().shape.as_list() == [None, 3]
    parsed = tensor_signature.create_example_parser_from_signatures(
        signatures, tf.placeholder(tf.string, [None])
    )
    assert parsed["a"].dtype == tf.int32 and parsed["s"].dtype == tf.float64


def _line(features: Any, labels: Any, mode: str) -> Any:
    weight = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features, weight)
    if mode == "infer":
        return {"p": predictions}, None, None
    loss = tf.losses.mean_squared_error(tf.reshape(labels, [-1, 1]), predictions)
    step = tf.train.get_global_step()
    return {"p": predictions}, loss, tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)


def test_estimators_train_on_arrays_and_remember_their_inputs(tmp_path: Any) -> None:
    estimator = learn.Estimator(_line, model_dir=str(tmp_path))
    with pytest.raises(NotFittedError, match="Couldn't find trained model"):
        estimator.evaluate(X, Y.astype(np.float32))
    estimator.fit(X, Y.astype(np.float32), steps=3, batch_size=4)
    found = estimator.predict(X, batch_size=4, iterate_batches=True)
    assert [batch["p"].shape for batch in found] == [(4, 1), (2, 1)]
    with pytest.raises(ValueError, match="Features are incompatible with given information"):
        estimator.evaluate(X[:, :1], Y.astype(np.float32))
    with pytest.raises(ValueError, match="Inputs cannot be tensors"):
        estimator.fit(tf.constant(X), tf.constant(Y), steps=1)
    with pytest.raises(ValueError, match="both input_fn and batch_size"):
        estimator.predict(input_fn=lambda: None, batch_size=2)


def test_packaged_datasets() -> None:
    iris, boston = learn.datasets.load_iris(), learn.datasets.load_dataset("boston")
    np.testing.assert_allclose(iris.data.mean(0), [5.8433, 3.054, 3.7587, 1.1987], atol=1e-4)
    assert iris.target.tolist() == [0] * 50 + [1] * 50 + [2] * 50
    assert boston.data.shape == (506, 13) and boston.target[0] == 24
    texts = learn.datasets.load_dataset("dbpedia", test_with_fake_data=True)
    assert texts.train.data.shape == (3, 2) and texts.test.target.tolist() == [2]


def test_made_datasets() -> None:
    points = learn.datasets.make_dataset("circles", n_samples=11, seed=3)
    radii = np.linalg.norm(points.data, axis=1)
    counted = points.target[np.isclose(radii, 0.8)]
    assert len(points.data) == 11 and counted.tolist() == [1] * 5
    spiral = synthetic.spirals(7, noise=0.1, seed=1, mode="fermat")
    again = synthetic.spirals(7, noise=0.1, seed=1, mode="fermat")
    np.testing.assert_array_equal(spiral.data, again.data)
    with pytest.raises(ValueError, match="Cannot generate spiral with mode x"):
        synthetic.spirals(mode="x")


def test_calls_are_tried_again() -> None:
    left = [OSError("busy"), OSError("busy"), None, OSError("broken"), None]

    @base.retry(initial_delay=0, max_delay=0, is_retriable=lambda error: "busy" in str(error))
    def flaky() -> str:
        error = left.pop(0)
        if error:
            raise error
        return "done"

    assert flaky() == "done"
    with pytest.raises(OSError, match="broken"):
        flaky()
    with pytest.raises(ValueError, match="factor must be >= 1"):
        base.retry(1, 2, factor=0.5)


def test_small_files(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("1,a\n2,b\n3,c\n4,d\n")
    base.shrink_csv(str(path), 2)
    assert (tmp_path / "rows_small.csv").read_text().split() == ["1,a", "3,c"]


def test_categories_become_numbers() -> None:
    rows = np.array([["0", "m"], ["1", "f"], ["1", "m"], ["1", np.nan]], dtype=object)
    found = learn.preprocessing.CategoricalProcessor(min_frequency=1).fit_transform(rows)
    assert [row.tolist() for row in found] == [[0, 1], [1, 0], [1, 1], [1, 0]]


def test_model_functions_get_inputs_by_place_and_the_rest_by_name(tmp_path: Any) -> None:
    seen = []

    def model_fn(given: Any, wanted: Any, mode: str, params: Any) -> Any:
        seen.append((mode, params, given.shape[1].value, wanted.dtype))
        step = tf.train.get_global_step()
        return given, tf.reduce_sum(given), tf.assign_add(step, 1)

    estimator = learn.Estimator(model_fn, model_dir=str(tmp_path), params={"a": 1})
    estimator.fit(X, Y, steps=1)
    assert len(list(estimator.predict(X))) == 6
    # Predictions have placeholders in the place of the labels that training had.
    assert seen == [(mode, {"a": 1}, 2, tf.int64) for mode in ("train", "infer")]


def test_errors_of_models_come_when_predict_is_called(tmp_path: Any) -> None:
    def model_fn(features: Any, labels: Any) -> Any:
        return None, tf.reduce_sum(features), tf.assign_add(tf.train.get_global_step(), 1)

    estimator = learn.Estimator(model_fn, model_dir=str(tmp_path))
    estimator.fit(X, Y, steps=1)
    with pytest.raises(ValueError, match="Missing prediction"):
        estimator.predict(X)
    with pytest.raises(ValueError, match="does not have a params argument"):
        learn.Estimator(model_fn, params={"a": 1})
    config = learn.RunConfig(model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="both in constructor and RunConfig, but with different"):
        learn.Estimator(model_fn, model_dir="other", config=config)
