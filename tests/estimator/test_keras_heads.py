"""Heads whose metrics are objects, for training, evaluation and prediction."""

import numpy as np
import pytest

import penstock as tf
from penstock.estimator.heads.keys import PredictionKeys
from penstock.estimator.keras_heads import SequentialHeadWrapper, base_head_names

est = tf.estimator
LOGITS = np.array([[45.0], [-41.0]], np.float32)


def spec_of(head, mode, logits, labels=None, features=None, **more):
    features = {"x": tf.constant([[1.0], [2.0]]), **(features or {})}
    labels = None if labels is None else tf.convert_to_tensor(labels)
    return head.create_estimator_spec(features, mode, tf.constant(logits), labels, **more)


def measured(spec):
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        session.run([update for _, update in spec.eval_metric_ops.values()])
        values = {key: value for key, (value, _) in spec.eval_metric_ops.items()}
        return session.run(spec.loss), session.run(values)


def test_two_classes_are_measured_by_objects():
    head = est.BinaryClassHead(thresholds=[0.25], name="h")
    metrics = head.metrics()
    assert isinstance(metrics["auc/h"], tf.keras.metrics.AUC)
    assert metrics["auc/h"].name == "auc"
    assert metrics["accuracy/positive_threshold_0.25/h"].name == (
        "accuracy/positive_threshold_0.25/h"
    )
    loss, found = measured(spec_of(head, "eval", LOGITS, [[1], [1]]))
    assert loss == pytest.approx(20.5)
    assert found["accuracy/h"] == 0.5
    assert found["accuracy_baseline/h"] == 1.0
    assert found["average_loss/h"] == pytest.approx(20.5)
    assert found["recall/positive_threshold_0.25/h"] == 0.5


def test_weights_and_sums():
    head = est.BinaryClassHead(weight_column="w", loss_reduction=tf.keras.losses.Reduction.SUM)
    features = {"w": tf.constant([[1.0], [0.1]])}
    loss, found = measured(spec_of(head, "eval", LOGITS, [[1], [1]], features))
    assert loss == pytest.approx(4.1)
    assert found["average_loss"] == pytest.approx(4.1 / 1.1)
    assert found["label/mean"] == 1.0


def test_one_class_of_several_with_names():
    head = est.MultiClassHead(3, label_vocabulary=["a", "b", "c"])
    logits = np.array([[10, 0, 0], [0, 10, 0]], np.float32)
    loss, found = measured(spec_of(head, "eval", logits, [["b"], ["b"]]))
    assert loss == pytest.approx(5.0, rel=1e-3)
    assert found["accuracy"] == 0.5
    spec = spec_of(head, "infer", logits)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(spec.predictions[PredictionKeys.CLASSES]).tolist() == [[b"a"], [b"b"]]
    assert set(spec.export_outputs) == {"serving_default", "classification", "predict"}


def test_any_number_of_classes():
    head = est.MultiLabelHead(2, thresholds=[0.5], classes_for_class_based_metrics=[1])
    logits = np.array([[-10.0, 10.0], [-15.0, 10.0]], np.float32)
    loss, found = measured(spec_of(head, "eval", logits, [[1, 0], [1, 1]]))
    assert loss == pytest.approx(0.5 * (10.0 + 7.5), rel=1e-3)
    assert found["accuracy/positive_threshold_0.5"] == 0.25
    assert found["probability_mean/class1"] == pytest.approx(1.0, abs=1e-3)
    assert set(spec_of(head, "infer", logits).predictions) == {"logits", "probabilities"}


def test_numbers_and_their_regularization():
    head = est.RegressionHead(inverse_link_fn=tf.exp)
    logits = np.array([[0.0], [1.0]], np.float32)
    losses = [tf.constant(1.0), tf.constant(2.0)]
    loss, found = measured(
        spec_of(head, "eval", logits, [[1.0], [3.0]], regularization_losses=losses)
    )
    assert loss == pytest.approx(2.5 + 3.0)
    assert found["regularization_loss"] == 3.0
    assert found["prediction/mean"] == pytest.approx((1 + np.e) / 2)
    assert found["label/mean"] == 2.0


def test_training_by_an_optimizer_of_keras():
    tf.train.create_global_step()
    weights = tf.Variable([[1.0], [2.0]], use_resource=True)
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.iterations = tf.train.get_global_step()
    spec = est.RegressionHead().create_estimator_spec(
        {"x": tf.constant([[1.0]])},
        "train",
        weights * 2.0,
        tf.constant([[1.0], [1.0]]),
        optimizer=optimizer,
        trainable_variables=[weights],
        update_ops=[],
    )
    assert spec.train_op.name.startswith("training/")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(spec.train_op)
        np.testing.assert_allclose(session.run(weights), [[0.8], [1.4]], rtol=1e-5)
        assert session.run(tf.train.get_global_step()) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "cannot both be None"),
        ({"optimizer": "SGD", "train_op_fn": tf.identity}, "cannot both be set"),
        ({"optimizer": "SGD"}, "not a tf.keras.optimizers.Optimizer"),
        ({"train_op_fn": tf.identity, "update_ops": 1}, "update_ops should be a list or a tuple"),
    ],
)
def test_what_training_refuses(more, message):
    with pytest.raises(ValueError, match=message):
        spec_of(est.RegressionHead(), "train", LOGITS, [[1.0], [1.0]], **more)


def test_an_optimizer_of_keras_wants_to_know_the_variables():
    optimizer = tf.keras.optimizers.SGD(0.1)
    for variables, message in ((None, "cannot be None"), ({1}, "should be a list or a tuple")):
        with pytest.raises(ValueError, match=message):
            spec_of(
                est.RegressionHead(),
                "train",
                LOGITS,
                [[1.0], [1.0]],
                optimizer=optimizer,
                trainable_variables=variables,
            )


def test_several_heads_are_measured_together():
    heads = [est.MultiLabelHead(2, name="a"), est.RegressionHead(name="b")]
    head = est.MultiHead(heads, head_weights=[1.0, 2.0])
    logits = np.array([[-10.0, 10.0, 3.0], [-15.0, 10.0, 4.0]], np.float32)
    labels = {"a": tf.constant([[1, 0], [1, 1]]), "b": tf.constant([[1.0], [1.0]])}
    spec = head.create_estimator_spec(
        {"x": tf.constant([[1.0]])}, "eval", tf.constant(logits), labels
    )
    loss, found = measured(spec)
    assert loss == pytest.approx(8.75 + 2 * 6.5, rel=1e-3)
    assert found["loss/b"] == 6.5
    assert found["average_loss/a"] == pytest.approx(8.75, rel=1e-3)
    assert ("b", "predictions") in spec.predictions


def test_steps_of_sequences():
    head = SequentialHeadWrapper(est.BinaryClassHead(name="h"), "mask")
    assert head.name == "h_sequential"
    logits = np.array([[[1.0], [-1.0], [9.0]], [[2.0], [9.0], [9.0]]], np.float32)
    mask = {"mask": tf.constant([[True, True, False], [True, False, False]])}
    _, found = measured(spec_of(head, "eval", logits, [[1, 1, 0], [1, 0, 0]], mask))
    assert found["accuracy/h"] == pytest.approx(2 / 3)
    assert found["label/mean/h"] == 1.0
    assert "mask" in spec_of(head, "infer", logits, features=mask).predictions
    with pytest.raises(ValueError, match="should be included in the features dictionary"):
        head.loss(tf.constant(logits), tf.constant([[1, 1, 0], [1, 0, 0]]), features={})


def test_heads_of_users():
    class Own(est.Head):
        name = logits_dimension = loss_reduction = None

        def loss(self, *args, **kwargs):
            return None

        predictions = metrics = update_metrics = loss

    with pytest.raises(NotImplementedError, match="Subclasses of Head must implement"):
        Own().create_estimator_spec(None, None, None)
    with pytest.raises(TypeError, match="abstract"):
        est.Head()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: est.BinaryClassHead(thresholds=[0.0]), "thresholds not in"),
        (lambda: est.BinaryClassHead(label_vocabulary="ab"), "should be a list or a tuple"),
        (lambda: est.BinaryClassHead(loss_reduction="none"), "Invalid loss_reduction: none"),
        (lambda: est.MultiClassHead(3, label_vocabulary=["a"]), "does not have"),
        (lambda: est.MultiClassHead(2), "n_classes must be > 2"),
        (lambda: est.MultiHead([est.RegressionHead()]), "must have name specified"),
        (lambda: SequentialHeadWrapper(est.MultiHead([est.RegressionHead(name="a")])), "MultiHead"),
    ],
)
def test_what_heads_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_labels_out_of_range_and_missing():
    labels = base_head_names.check_label_range(tf.placeholder_with_default([[3]], [1, 1]), 3)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Labels must be <= n_classes - 1"),
    ):
        session.run(labels)
    with pytest.raises(ValueError, match="Check that your data contains your label feature"):
        spec_of(est.RegressionHead(), "eval", LOGITS)
