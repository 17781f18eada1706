"""Specs, configurations, outputs, receivers, inputs and heads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import penstock as tf

est = tf.estimator
Modes = est.ModeKeys


@pytest.fixture(autouse=True)
def _new_graph() -> Any:
    with tf.Graph().as_default():
        yield


# EstimatorSpec -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: est.EstimatorSpec(Modes.TRAIN), ValueError, "Missing train_op"),
        (
            lambda: est.EstimatorSpec(Modes.TRAIN, train_op=tf.no_op()),
            ValueError,
            "Missing loss",
        ),
        (lambda: est.EstimatorSpec(Modes.EVAL), ValueError, "Missing loss"),
        (lambda: est.EstimatorSpec(Modes.PREDICT), ValueError, "Missing predictions"),
        (
            lambda: est.EstimatorSpec(Modes.EVAL, loss=tf.constant([1.0, 2.0])),
            ValueError,
            "Loss must be scalar",
        ),
        (lambda: est.EstimatorSpec(Modes.EVAL, loss=1.0), TypeError, "loss must be Tensor"),
        (
            lambda: est.EstimatorSpec(Modes.PREDICT, predictions={"a": 1.0}),
            TypeError,
            r"predictions\[a\] must be Tensor",
        ),
        (
            lambda: est.EstimatorSpec(
                Modes.EVAL, loss=tf.constant(1.0), eval_metric_ops={"m": tf.constant(1.0)}
            ),
            TypeError,
            r"must be \(metric_value, update_op\)",
        ),
        (
            lambda: est.EstimatorSpec(Modes.EVAL, loss=tf.constant(1.0), evaluation_hooks=[1]),
            TypeError,
            "must be SessionRunHook",
        ),
        (
            lambda: est.EstimatorSpec(
                Modes.PREDICT,
                predictions=tf.constant(1.0),
                export_outputs={
                    name: est.export.PredictOutput(tf.constant(1.0)) for name in ("a", "b")
                },
            ),
            ValueError,
            "none of them is specified as the default",
        ),
    ],
)
def test_wrong_specs(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_tensors_of_another_graph() -> None:
    loss = tf.constant(1.0)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be from the default graph"):
        est.EstimatorSpec(Modes.EVAL, loss=loss)


def test_spec() -> None:
    spec = est.EstimatorSpec(Modes.EVAL, loss=tf.constant([1.0]))
    assert spec.loss.shape.as_list() == []
    assert spec.predictions == {} and spec.eval_metric_ops == {} and spec.training_hooks == ()
    with pytest.raises(ValueError, match="mode of EstimatorSpec cannot be changed"):
        spec._replace(mode=Modes.TRAIN)


# RunConfig ---------------------------------------------------------------------------------------


def test_defaults_of_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    config = est.RunConfig()
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (600, None)
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, True)
    assert (config.num_worker_replicas, config.num_ps_replicas, config.master) == (1, 0, "")
    replaced = config.replace(save_checkpoints_steps=5, model_dir="m")
    assert (replaced.save_checkpoints_secs, replaced.save_checkpoints_steps) == (None, 5)
    with pytest.raises(ValueError, match="Replacing master is not supported"):
        config.replace(master="x")
    with pytest.raises(ValueError, match="cannot be both set"):
        est.RunConfig(save_checkpoints_secs=1, save_checkpoints_steps=1)
    with pytest.raises(ValueError, match="log_step_count_steps should be > 0"):
        est.RunConfig(log_step_count_steps=0)


CLUSTER = {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1", "p:2"]}


@pytest.mark.parametrize(
    ("task", "master", "is_chief", "global_id"),
    [
        ({"type": "chief", "index": 0}, "grpc://c:1", True, 0),
        ({"type": "worker", "index": 1}, "grpc://w:2", False, 2),
        ({"type": "ps", "index": 0}, "grpc://p:1", False, 3),
        ({"type": "evaluator", "index": 0}, "", False, None),
    ],
)
def test_tasks_of_a_cluster(
    monkeypatch: pytest.MonkeyPatch, task: Any, master: str, is_chief: bool, global_id: int | None
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": task}))
    config = est.RunConfig()
    assert (config.task_type, config.task_id) == (task["type"], task["index"])
    assert (config.master, config.is_chief) == (master, is_chief)
    assert config.global_id_in_cluster == global_id
    evaluates = task["type"] == "evaluator"
    assert config.num_ps_replicas == (0 if evaluates else 2)
    assert config.num_worker_replicas == (0 if evaluates else 3)


@pytest.mark.parametrize(
    ("task", "master", "is_chief"),
    [
        ({"type": "worker", "index": 0}, "grpc://w:1", True),
        ({"type": "worker", "index": 1}, "grpc://w:2", False),
        ({"type": "evaluator", "index": 0}, "", False),
    ],
)
def test_workers_with_a_strategy_need_no_chief(
    monkeypatch: pytest.MonkeyPatch, task: Any, master: str, is_chief: bool
) -> None:
    cluster = {"worker": ["w:1", "w:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    options = tf.contrib.distribute.DistributeConfig(train_distribute=strategy)
    for given in {"train_distribute": strategy}, {"experimental_distribute": options}:
        config = est.RunConfig(**given)
        assert (config.task_type, config.task_id) == (task["type"], task["index"])
        assert (config.master, config.is_chief) == (master, is_chief)
    with pytest.raises(ValueError, match='must have one "chief" node'):
        est.RunConfig(eval_distribute=strategy)


@pytest.mark.parametrize(
    ("tf_config", "message"),
    [
        ({"cluster": {"worker": ["w:1"]}}, 'must have one "chief" node'),
        ({"cluster": CLUSTER}, "task type must be set"),
        ({"cluster": CLUSTER, "task": {"type": "chief"}}, "task index must be set"),
        ({"cluster": CLUSTER, "task": {"type": "x", "index": 0}}, "not a valid task_type"),
        ({"cluster": CLUSTER, "task": {"type": "ps", "index": 9}}, "not a valid task_id"),
        ({"task": {"type": "ps"}}, "task type must be WORKER"),
        ({"model_dir": ""}, "model_dir in TF_CONFIG should be non-empty"),
    ],
)
def test_wrong_clusters(monkeypatch: pytest.MonkeyPatch, tf_config: Any, message: str) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(tf_config))
    with pytest.raises(ValueError, match=message):
        est.RunConfig()


# Specs of training and evaluation ----------------------------------------------------------------


def test_wrong_train_and_eval_specs() -> None:
    with pytest.raises(TypeError, match="`input_fn` must be callable"):
        est.TrainSpec("x")
    with pytest.raises(ValueError, match="max_steps > 0"):
        est.TrainSpec(print, max_steps=0)
    with pytest.raises(TypeError, match="`exporters` must be an Exporter"):
        est.EvalSpec(print, exporters=[1])
    exporters = [est.FinalExporter("a", print), est.LatestExporter("a", print)]
    with pytest.raises(ValueError, match="must have unique names"):
        est.EvalSpec(print, exporters=exporters)
    with pytest.raises(ValueError, match="must include best_eval_result"):
        est.BestExporter(compare_fn=lambda a, b: True)


# Export ------------------------------------------------------------------------------------------


def test_outputs_and_receivers() -> None:
    number, text = tf.constant([1.0]), tf.constant(["a"])
    with pytest.raises(ValueError, match="scores must be a float32 Tensor"):
        est.export.ClassificationOutput(scores=text)
    with pytest.raises(ValueError, match="At least one of scores and classes"):
        est.export.ClassificationOutput()
    with pytest.raises(ValueError, match="Regression input must be a single string Tensor"):
        est.export.RegressionOutput(number).as_signature_def({"x": number})
    signature = est.export.PredictOutput(number).as_signature_def({"x": number})
    assert signature.method_name == "tensorflow/serving/predict"
    assert set(signature.outputs) == {"output"}
    receiver = est.export.ServingInputReceiver(number, number, {"other": text})
    assert set(receiver.features) == {"feature"} and set(receiver.receiver_tensors) == {"input"}
    assert set(receiver.receiver_tensors_alternatives["other"]) == {"input"}
    assert est.export.TensorServingInputReceiver(number, number).features is number
    with pytest.raises(ValueError, match="feature x must be a Tensor"):
        est.export.ServingInputReceiver({"x": 1}, number)


# Inputs ------------------------------------------------------------------------------------------


def batches(input_fn: Any) -> list[Any]:
    found = []
    with tf.Graph().as_default():
        tensors = input_fn()
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(session.run(tensors))
    return found


def test_arrays_in_order() -> None:
    x, y = {"a": np.arange(5), "b": np.arange(10).reshape(5, 2)}, np.arange(5) * 10
    found = batches(est.inputs.numpy_input_fn(x, y, batch_size=2, num_epochs=2, shuffle=False))
    rows = np.concatenate([features["a"] for features, _ in found])
    np.testing.assert_array_equal(rows, [0, 1, 2, 3, 4] * 2)
    for features, labels in found:
        np.testing.assert_array_equal(labels, features["a"] * 10)
        np.testing.assert_array_equal(features["b"][:, 0], features["a"] * 2)
    assert [len(labels) for _, labels in found] == [2] * 5


def test_arrays_in_random_order() -> None:
    x = np.arange(50)
    found = batches(est.inputs.numpy_input_fn(x, batch_size=8, shuffle=True))
    rows = np.concatenate(found)
    assert sorted(rows) == list(range(50)) and list(rows) != list(range(50))


def test_wrong_arrays() -> None:
    x = np.arange(4)
    with pytest.raises(ValueError, match="shuffle must be provided"):
        est.inputs.numpy_input_fn(x)
    with pytest.raises(ValueError, match="Length of tensors in x and y is mismatched"):
        est.inputs.numpy_input_fn(x, x[:3], shuffle=False)()
    with pytest.raises(TypeError, match="x must be a dict or array"):
        est.inputs.numpy_input_fn([1], shuffle=False)()
    with pytest.raises(ValueError, match="duplicate keys"):
        est.inputs.numpy_input_fn({"a": x}, {"a": x}, shuffle=False)()


# Heads -------------------------------------------------------------------------------------------


def evaluated(head: Any, logits: Any, labels: Any, features: Any = None) -> dict[str, float]:
    spec = head.create_estimator_spec(features or {}, Modes.EVAL, logits, labels)
    metrics = spec.eval_metric_ops
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        session.run([update for _, update in metrics.values()])
        values = session.run({name: value for name, (value, _) in metrics.items()})
        return {"loss": session.run(spec.loss), **values}


def test_binary_head_with_thresholds() -> None:
    head = est.BinaryClassHead(thresholds=[0.25], name="h")
    found = evaluated(head, tf.constant([[2.0], [-0.5]]), tf.constant([[1], [0]]))
    losses = [np.log1p(np.exp(-2.0)), np.log1p(np.exp(-0.5))]
    assert found["loss"] == pytest.approx(np.mean(losses), rel=1e-5)
    assert found["accuracy/h"] == 1.0
    assert found["accuracy/positive_threshold_0.25/h"] == 0.5
    assert found["recall/positive_threshold_0.25/h"] == pytest.approx(1.0)


def test_multi_label_head() -> None:
    head = est.MultiLabelHead(3, classes_for_class_based_metrics=[1])
    labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], np.array([2, 0, 1], np.int64), [2, 2])
    logits = tf.constant([[-1.0, -1.0, 2.0], [1.0, 1.0, -2.0]])
    found = evaluated(head, logits, labels)
    signs = np.array([[1, 1, -1], [-1, -1, 1]])
    values = np.array([[-1.0, -1.0, 2.0], [1.0, 1.0, -2.0]])
    assert found["loss"] == pytest.approx(np.log1p(np.exp(signs * values)).mean(), rel=1e-5)
    assert found["auc"] == pytest.approx(1.0, abs=1e-3)
    assert "probability_mean/class1" in found


def test_poisson_and_logistic_heads() -> None:
    found = evaluated(
        est.PoissonRegressionHead(compute_full_loss=False), tf.constant([[1.0]]), tf.constant([2.0])
    )
    assert found["loss"] == pytest.approx(np.exp(1.0) - 2.0, rel=1e-5)
    assert found["prediction/mean"] == pytest.approx(np.exp(1.0), rel=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Labels must be in range \[0, 1\]"):
        evaluated(est.LogisticRegressionHead(), tf.constant([[1.0]]), tf.constant([2.0]))


def test_several_heads() -> None:
    head = est.MultiHead(
        [est.BinaryClassHead(name="a"), est.RegressionHead(name="b")], head_weights=[1.0, 2.0]
    )
    assert head.logits_dimension == 2
    logits = tf.constant([[0.0, 3.0]])
    labels = {"a": tf.constant([[1]]), "b": tf.constant([[1.0]])}
    found = evaluated(head, logits, labels)
    assert found["loss"] == pytest.approx(np.log(2.0) + 2 * 4.0, rel=1e-5)
    assert found["loss/b"] == pytest.approx(4.0) and "accuracy/a" in found
    spec = head.create_estimator_spec({}, Modes.PREDICT, logits)
    assert ("b", "predictions") in spec.predictions
    assert {"a", "b", "a/predict", "predict", "serving_default"} <= set(spec.export_outputs)
    with pytest.raises(ValueError, match=r"missing values for head\(s\): \['b'\]"):
        head.create_estimator_spec({}, Modes.EVAL, logits, {"a": labels["a"]})


def test_wrong_heads() -> None:
    with pytest.raises(ValueError, match="n_classes must be > 2"):
        est.MultiClassHead(2)
    with pytest.raises(ValueError, match="Invalid loss_reduction"):
        est.RegressionHead(loss_reduction="none")
    with pytest.raises(ValueError, match="loss_fn must contain argument: logits"):
        est.RegressionHead(loss_fn=lambda labels: labels)
    logits, labels = tf.constant([[1.0]]), tf.constant([[1.0, 2.0]])
    with pytest.raises(ValueError, match="Mismatched label shape"):
        est.RegressionHead().create_estimator_spec({}, Modes.EVAL, logits, labels)
    with pytest.raises(ValueError, match="You must provide a labels Tensor"):
        est.RegressionHead().create_estimator_spec({}, Modes.EVAL, logits)


def test_results_have_their_own_digits_in_the_log() -> None:
    from penstock.estimator import evaluation_summaries

    results = {"loss": np.float32(0.1), "name": b"x", "global_step": 3}
    assert evaluation_summaries._as_text(results) == "global_step = 3, loss = 0.1"
