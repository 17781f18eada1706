"""`tf.contrib.learn`, the older form of `tf.estimator`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from penstock.contrib.learn.python.learn import learn_runner, run_config
from penstock.contrib.learn.python.learn.estimators import dnn_linear_combined

import penstock as tf

learn = tf.contrib.learn

X = np.linspace(-1, 1, 64).astype(np.float32)[:, None]
Y = (3 * X[:, 0]).astype(np.float32)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    predicted = tf.matmul(features, tf.get_variable("w", [1, 1]))[:, 0]
    loss = None if labels is None else tf.losses.mean_squared_error(labels, predicted)
    train_op = None
    if mode == learn.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(params["rate"])
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, {"y": predicted}, loss, train_op)


def as_tensors() -> Any:
    return tf.constant(X), tf.constant(Y)


def line(config: Any) -> Any:
    return learn.Estimator(model_fn, config=config, params={"rate": 0.5})


def test_estimator_of_arrays(tmp_path: Any) -> None:
    estimator = line(learn.RunConfig(model_dir=str(tmp_path)))
    assert estimator.fit(X, Y, steps=100, batch_size=32) is estimator
    metric = learn.MetricSpec(tf.metrics.mean_absolute_error, prediction_key="y")
    results = estimator.evaluate(X, Y, metrics={"error": metric})
    assert results["error"] < 0.05 and results["global_step"] == 100
    predicted = estimator.predict(X[:3], as_iterable=False)["y"]
    np.testing.assert_allclose(predicted, Y[:3], atol=0.1)


def test_experiment(tmp_path: Any) -> None:
    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        return learn.Experiment(
            line(run_config), as_tensors, as_tensors, train_steps=60, eval_steps=1
        )

    config = learn.RunConfig(model_dir=str(tmp_path))
    results, exported = learn_runner.run(experiment_fn, run_config=config)
    assert results["global_step"] == 60 and results["loss"] < 0.1 and exported == []
    with pytest.raises(ValueError, match="non-existent task fly"):
        learn_runner.run(experiment_fn, run_config=config, schedule="fly")
    with pytest.raises(ValueError, match="Must set value for `output_dir` or `run_config`"):
        learn_runner.run(experiment_fn)


def test_a_configuration_that_tells_itself_by_its_fields(tmp_path: Any) -> None:
    class OwnConfig(learn.RunConfig):
        def uid(self, whitelist: Any = None) -> str:
            changing = {f"_{name}" for name in run_config._DEFAULT_UID_WHITE_LIST}
            return repr(sorted((k, v) for k, v in vars(self).items() if k not in changing))

    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        return learn.Experiment(line(run_config), as_tensors, as_tensors, train_steps=1)

    config = OwnConfig(model_dir=str(tmp_path))
    results, _ = learn_runner.run(experiment_fn, run_config=config)
    assert results["global_step"] == 1


def test_early_stopping_monitor(tmp_path: Any) -> None:
    config = learn.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=1)
    estimator = learn.Estimator(model_fn, config=config, params={"rate": 0.0})
    monitor = learn.monitors.ValidationMonitor(
        input_fn=as_tensors,
        eval_steps=1,
        every_n_steps=1,
        early_stopping_rounds=3,
        check_interval_secs=None,
    )
    estimator.fit(input_fn=as_tensors, steps=50, monitors=[monitor])
    assert monitor.early_stopped
    assert estimator.get_variable_value("global_step") < 20


def test_canned_estimators(tmp_path: Any) -> None:
    columns = learn.infer_real_valued_columns_from_input(X)
    labels = (Y > 0).astype(int)
    classifier = learn.DNNClassifier([8], columns, model_dir=str(tmp_path / "classifier"))
    classifier.fit(X, labels, steps=100)
    assert classifier.evaluate(X, labels, steps=1)["accuracy"] > 0.9
    assert list(classifier.predict_classes(X[[0, -1]])) == [0, 1]
    regressor = learn.SKCompat(
        learn.LinearRegressor(
            columns,
            model_dir=str(tmp_path / "regressor"),
            optimizer=tf.train.GradientDescentOptimizer(0.5),
        )
    )
    regressor.fit(X, Y, steps=100)
    assert regressor.score(X, Y)["loss"] < 0.01


def test_vocabulary_processor(tmp_path: Any) -> None:
    processor = learn.preprocessing.VocabularyProcessor(4, min_frequency=1)
    texts = ["The cat sat", "the cat sat on the mat", "a dog"]
    found = list(processor.fit_transform(texts))
    assert [row.tolist() for row in found] == [[0, 1, 2, 0], [3, 1, 2, 0], [0, 0, 0, 0]]
    assert len(processor.vocabulary_) == 4
    path = str(tmp_path / "vocabulary")
    processor.save(path)
    restored = learn.preprocessing.VocabularyProcessor.restore(path)
    assert next(restored.transform(["the sat"])).tolist() == [3, 2, 0, 0]
    assert list(restored.reverse([[3, 1]])) == ["the cat"]
    with open(path, "wb") as file:
        file.write(b"\x80\x04N.")
    with pytest.raises(ValueError, match="pickled"):
        learn.preprocessing.VocabularyProcessor.restore(path)


def test_datasets_come_from_files(tmp_path: Any) -> None:
    path = tmp_path / "flowers.csv"
    path.write_text("2,3,a,b\n1.0,2.0,3.0,0\n4.0,5.0,6.0,1\n")
    found = learn.datasets.load_iris(str(path))
    assert found.data.tolist() == [[1, 2, 3], [4, 5, 6]] and found.target.tolist() == [0, 1]
    with pytest.raises(FileNotFoundError, match="downloads nothing"):
        learn.datasets.base.maybe_download("x", str(tmp_path), "somewhere")


def test_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"ps": ["p:1"], "worker": ["w:1", "w:2"]}
    tf_config = f'{{"cluster": {str(cluster).replace(chr(39), chr(34))}, "task": ' + (
        '{"type": "worker", "index": 1}}'
    )
    monkeypatch.setenv("TF_CONFIG", tf_config)
    config = learn.RunConfig()
    assert (config.master, config.is_chief, config.num_ps_replicas) == ("grpc://w:2", False, 1)
    assert os.environ["TF_CONFIG"] == tf_config


def test_a_head_by_the_likelihood_of_a_distribution():
    made = tf.contrib.distributions.estimator_head_distribution_regression(
        lambda logits: tf.distributions.Normal(logits[..., 0], tf.nn.softplus(logits[..., 1])),
        logits_dimension=2,
    )
    ops = made.create_model_fn_ops(
        {},
        mode=tf.contrib.learn.ModeKeys.TRAIN,
        labels=[[-1.0], [1.0]],
        train_op_fn=lambda loss: tf.no_op(),
        logits=tf.constant([[0.0, -1.0], [1.0, 0.5]]),
    )
    with tf.Session() as session:
        loss, scores = session.run([ops.loss, ops.predictions["scores"]])
    assert loss == pytest.approx(2.873014)  # TensorFlow 1.15's
    assert scores.tolist() == [0.0, 1.0]
    assert len(made.distributions) == 1
    with pytest.raises(TypeError, match="is no function"):
        tf.contrib.distributions.estimator_head_distribution_regression("normal")


def test_multipliers_are_for_embeddings_alone() -> None:
    language = tf.contrib.layers.sparse_column_with_hash_bucket("language", 10)
    for column, is_embedding in (
        (tf.contrib.layers.one_hot_column(language), False),
        (tf.contrib.layers.embedding_column(language, dimension=1), True),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.train.create_global_step()
            features = {"language": tf.SparseTensor([[0, 0], [1, 0]], ["en", "fr"], [2, 1])}
            params = {
                "dnn_feature_columns": [column],
                "head": learn.multi_class_head(2),
                "dnn_hidden_units": [1],
                "dnn_activation_fn": tf.nn.tanh,
                "embedding_lr_multipliers": {column: 0.0},
            }
            labels = tf.constant([[0], [1]])
            build = dnn_linear_combined._dnn_linear_combined_model_fn
            if not is_embedding:
                with pytest.raises(ValueError, match="can only be defined for embedding columns"):
                    build(features, labels, learn.ModeKeys.TRAIN, params)
                continue
            made = build(features, labels, learn.ModeKeys.TRAIN, params)
            (embedding,) = dnn_linear_combined._get_embedding_variable(
                column, "dnn", "dnn/input_from_feature_columns"
            )
            session.run(tf.global_variables_initializer())
            before = session.run(embedding)
            session.run(made.train_op)
            np.testing.assert_array_equal(session.run(embedding), before)
