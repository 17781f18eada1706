"""The canned estimators of tf.contrib.learn: names and values are those of TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.contrib.column_scenarios import numbers, varied

layers, learn = tf.contrib.layers, tf.contrib.learn


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def input_fn(labels: Any) -> Any:
    def made() -> Any:
        places = [[0, 0], [1, 0], [1, 1], [3, 0]]
        features = {
            "w": tf.SparseTensor(places, ["a", "b", "c", "a"], [4, 2]),
            "x": tf.constant(numbers(4, 2), tf.float32),
            "age": tf.constant([[5.0], [20.0], [33.0], [70.0]]),
            "weight": tf.constant([[1.0], [2.0], [0.5], [1.0]]),
        }
        return features, tf.constant(labels)

    return made


TWO = input_fn([[0], [1], [1], [0]])
NUMBERS = input_fn([[0.5], [1.0], [-2.0], [3.0]])


def columns() -> Any:
    word = layers.sparse_column_with_hash_bucket("w", 5)
    age = layers.bucketized_column(layers.real_valued_column("age"), [18, 30, 65])
    embedding = layers.embedding_column(word, 3, initializer=varied(tf))
    return word, layers.real_valued_column("x", 2), age, embedding


def values(estimator: Any) -> dict[str, Any]:
    names = estimator.get_variable_names()
    return {name: estimator.get_variable_value(name).ravel() for name in names}


def test_linear_classifier(tmp_path: Any) -> None:
    word, x, age, _ = columns()
    chosen = [word, x, age, layers.crossed_column([word, age], 20)]
    estimator = learn.LinearClassifier(chosen, model_dir=str(tmp_path))
    found = values(estimator.fit(input_fn=TWO, steps=3))
    slot = "linear/age_bucketized_X_w/weights/cketized_X_w/weights/part_0/Ftrl_1"
    for name, expected in (
        ("linear/age_bucketized/weights", [-0.1834, 0.1701, 0.2004, -0.1829]),
        (slot, [0.0, -0.3074]),
        ("linear/bias_weight", [0.0063]),
        ("linear/w/weights", [0.0, 0.0, 0.2748]),
        ("linear/x/weight", [0.1697, -0.1191]),
    ):
        np.testing.assert_allclose(found[name][: len(expected)], expected, atol=6e-5, err_msg=name)
    assert list(estimator.predict(input_fn=TWO)) == [0, 1, 1, 0]
    assert next(estimator.predict_proba(input_fn=TWO)).shape == (2,)
    mine = {("mine", "classes"): tf.contrib.metrics.streaming_accuracy}
    metrics = estimator.evaluate(input_fn=TWO, steps=1, metrics=mine)
    assert metrics["mine"] == metrics["accuracy"] == 1.0
    assert metrics["auc"] == pytest.approx(1.0, abs=1e-5)
    assert metrics["recall/positive_threshold_0.500000_mean"] == 1.0


def test_linear_regressor_with_weights(tmp_path: Any) -> None:
    word, x, age, _ = columns()
    estimator = learn.LinearRegressor(
        [word, x, age], model_dir=str(tmp_path), weight_column_name="weight"
    )
    found = values(estimator.fit(input_fn=NUMBERS, steps=3))
    np.testing.assert_allclose(found["linear/bias_weight"], [0.2864], atol=6e-5)
    np.testing.assert_allclose(found["linear/x/weight"], [-0.3683, -0.3118], atol=6e-5)
    error = {"error": tf.contrib.metrics.streaming_mean_squared_error}
    metrics = estimator.evaluate(input_fn=NUMBERS, steps=1, metrics=error)
    assert metrics["loss"] == pytest.approx(0.7447, abs=6e-5)
    assert metrics["error"] > 0 and len(list(estimator.predict_scores(input_fn=NUMBERS))) == 4


def test_names_of_networks(tmp_path: Any) -> None:
    _, x, age, embedding = columns()
    estimator = learn.DNNClassifier(
        [3, 2], [x, embedding, age], model_dir=str(tmp_path), dropout=0.5, gradient_clip_norm=1.0
    )
    shapes = {
        name: len(value) for name, value in values(estimator.fit(input_fn=TWO, steps=1)).items()
    }
    embeddings = "dnn/input_from_feature_columns/w_embedding/weights"
    assert shapes == {
        "dnn/binary_logistic_head/dnn/learning_rate": 1,
        "dnn/hiddenlayer_0/biases": 3,
        "dnn/hiddenlayer_0/biases//hiddenlayer_0/biases/part_0/Adagrad": 3,
        "dnn/hiddenlayer_0/weights": 27,
        "dnn/hiddenlayer_0/weights/hiddenlayer_0/weights/part_0/Adagrad": 27,
        "dnn/hiddenlayer_1/biases": 2,
        "dnn/hiddenlayer_1/biases//hiddenlayer_1/biases/part_0/Adagrad": 2,
        "dnn/hiddenlayer_1/weights": 6,
        "dnn/hiddenlayer_1/weights/hiddenlayer_1/weights/part_0/Adagrad": 6,
        embeddings: 15,
        f"{embeddings}/s/w_embedding/weights/part_0/Adagrad": 15,
        "dnn/logits/biases": 1,
        "dnn/logits/biases/dnn/dnn/logits/biases/part_0/Adagrad": 1,
        "dnn/logits/weights": 2,
        "dnn/logits/weights/nn/dnn/logits/weights/part_0/Adagrad": 2,
        "global_step": 1,
    }


@pytest.mark.parametrize(("counts_once", "steps"), [(False, 4), (True, 3)])
def test_sum_of_both(tmp_path: Any, counts_once: bool, steps: int) -> None:
    """Each part counts its steps unless told otherwise: after 3 of them there are 4 then."""
    word, x, _, embedding = columns()
    estimator = learn.DNNLinearCombinedRegressor(
        str(tmp_path),
        linear_feature_columns=[word],
        dnn_feature_columns=[x, embedding],
        dnn_hidden_units=[3],
        fix_global_step_increment_bug=counts_once,
        embedding_lr_multipliers={embedding: 2.0},
    )
    found = values(estimator.fit(input_fn=NUMBERS, steps=3))
    assert found["global_step"] == [steps]
    assert {"regression_head/dnn/learning_rate", "regression_head/linear/learning_rate"} <= set(
        found
    )
    assert "linear/w/weights/inear/w/weights/part_0/Ftrl" in found


def test_heads_of_linear_models(tmp_path: Any) -> None:
    word, x, _, _ = columns()
    head = learn.multi_head(
        [learn.regression_head(head_name="a"), learn.binary_svm_head(head_name="b")], [1.0, 0.5]
    )
    estimator = learn.LinearEstimator([word, x], head, model_dir=str(tmp_path))
    estimator.fit(input_fn=TWO, steps=3)
    rows = list(estimator.predict(input_fn=TWO))
    np.testing.assert_allclose(
        [row["a", "scores"] for row in rows], [0.2077, 0.8459, 0.4784, -0.0278], atol=6e-5
    )
    assert [int(row["b", "classes"]) for row in rows] == [0, 1, 1, 0]
    assert {"loss", "loss/a", "loss/b", "accuracy/b"} <= set(
        estimator.evaluate(input_fn=TWO, steps=1)
    )


def test_names_of_classes(tmp_path: Any) -> None:
    word, x, _, _ = columns()
    labels = input_fn([["p"], ["q"], ["r"], ["p"]])
    estimator = learn.LinearClassifier(
        [word, x], model_dir=str(tmp_path), n_classes=3, optimizer="SGD", label_keys=list("pqr")
    )
    estimator.fit(input_fn=labels, steps=20)
    assert set(estimator.predict(input_fn=labels)) <= {b"p", b"q", b"r"}
    assert estimator.evaluate(input_fn=labels, steps=1)["accuracy"] > 0.4


def test_head_with_any_number_of_classes() -> None:
    head = learn.multi_label_head(3, metric_class_ids=[0, 2], enable_centered_bias=True)
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 0], tf.int64), [2, 2])
    made = head.create_model_fn_ops(
        {},
        learn.ModeKeys.TRAIN,
        labels,
        learn.no_op_train_fn,
        logits=tf.constant(numbers(2, 3), tf.float32),
    )
    assert {"auc/class0", "labels/actual_label_mean/class2"} <= set(made.eval_metric_ops)
    assert [v.op.name for v in tf.trainable_variables()] == [
        "multi_label_head/centered_bias_weight"
    ]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        loss = session.run(made.loss)
        logits = numbers(2, 3)
        expected = np.logaddexp(0, logits) - logits * [[1, 0, 1], [1, 0, 0]]
        assert loss == pytest.approx(expected.mean(), rel=1e-5)
        session.run(made.train_op)
        assert np.any(session.run(tf.trainable_variables()[0]) != 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: learn.multi_class_head(1), "n_classes must be > 1 for classification: 1"),
        (lambda: learn.multi_class_head(2, metric_class_ids=[0]), "metric_class_ids invalid"),
        (lambda: learn.multi_class_head(2, label_keys=["a", "b"]), "label_keys is not supported"),
        (lambda: learn.multi_class_head(3, label_keys=["a"]), "must equal n_classes"),
        (lambda: learn.multi_class_head(3, metric_class_ids=[3]), r"Class ID 3 not in \[0, 3\)"),
        (lambda: learn.multi_class_head(3, loss_fn=lambda labels, logits: 0), "weights not found"),
        (lambda: learn.multi_head([learn.regression_head()]), "must have names"),
        (lambda: learn.multi_head([], [1.0]), "must have same size"),
        (lambda: learn.DNNLinearCombinedClassifier(), "must be defined"),
    ],
)
def test_what_heads_refuse(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_columns_of_arrays() -> None:
    (column,) = learn.infer_real_valued_columns_from_input(np.zeros([5, 3]))
    assert (column.name, column.dimension, column.dtype) == ("", 3, tf.float64)
