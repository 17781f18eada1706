"""`tf.estimator.Estimator`: training, evaluation, prediction, export, and what they demand."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import penstock as tf

est = tf.estimator

X = np.linspace(-1, 1, 64).astype(np.float32)[:, None]
Y = 3 * X[:, 0] + 1


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    """A line through points."""
    predicted = tf.layers.dense(features["x"], 1, name="line")[:, 0]
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions={"y": predicted, "twice": 2 * predicted})
    loss = tf.losses.mean_squared_error(labels, predicted)
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    return est.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        predictions={"y": predicted},
        eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, predicted)},
    )


def as_dataset() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(16)


def as_tensors() -> Any:
    return {"x": tf.constant(X)}, tf.constant(Y)


def once() -> Any:
    return est.inputs.numpy_input_fn({"x": X}, Y, batch_size=16, shuffle=False)


def serving() -> Any:
    with tf.Graph().as_default():
        return est.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 1], name="x")}
        )


@pytest.fixture
def line(tmp_path: Any) -> Any:
    config = est.RunConfig(save_checkpoints_steps=50, tf_random_seed=1)
    return est.Estimator(model_fn, str(tmp_path / "model"), config, params={"rate": 0.1})


@pytest.mark.parametrize(
    "input_fn",
    [
        as_dataset,
        as_tensors,
        est.inputs.numpy_input_fn({"x": X}, Y, 16, num_epochs=None, shuffle=True),
    ],
)
def test_converges_whatever_the_input_is(line: Any, input_fn: Any) -> None:
    assert line.train(input_fn, steps=200) is line
    results = line.evaluate(once())
    assert results["global_step"] == 200
    assert results["loss"] < 1e-3 and results["error"] < 0.05
    assert line.get_variable_names() == ["global_step", "line/bias", "line/kernel"]
    assert line.get_variable_value("line/kernel") == pytest.approx(3, abs=0.1)
    assert line.latest_checkpoint().endswith("model.ckpt-200")


def test_training_goes_on_from_the_checkpoint(line: Any) -> None:
    line.train(as_dataset, max_steps=30)
    line.train(as_dataset, max_steps=40)
    line.train(as_dataset, steps=5)
    assert line.get_variable_value("global_step") == 45
    line.train(as_dataset, max_steps=45)  # there is nothing left to do
    assert line.get_variable_value("global_step") == 45


def test_predictions(line: Any) -> None:
    line.train(as_dataset, steps=10)
    inputs = est.inputs.numpy_input_fn({"x": X[:5]}, batch_size=2, shuffle=False)
    single = list(line.predict(inputs))
    assert len(single) == 5 and set(single[0]) == {"y", "twice"}
    batches = list(line.predict(inputs, predict_keys=["twice"], yield_single_examples=False))
    assert [len(batch["twice"]) for batch in batches] == [2, 2, 1]
    np.testing.assert_allclose(batches[0]["twice"][0], 2 * single[0]["y"], rtol=1e-6)
    with pytest.raises(ValueError, match="Expected to run at least one output"):
        next(line.predict(inputs, predict_keys=["z"]))


def test_results_are_written_for_tensorboard(line: Any) -> None:
    line.train(as_dataset, steps=3)
    line.evaluate(once(), name="other")
    (path,) = tf.gfile.Glob(os.path.join(line.eval_dir("other"), "events.*"))
    values = {v.tag: v for e in tf.train.summary_iterator(path) for v in e.summary.value}
    assert set(values) == {"loss", "error", "checkpoint_path"}
    trained = tf.gfile.Glob(os.path.join(line.model_dir, "events.*"))
    tags = {v.tag for f in trained for e in tf.train.summary_iterator(f) for v in e.summary.value}
    assert "loss" in tags


def test_hooks_and_listeners_are_called(line: Any) -> None:
    seen: list[Any] = []

    class Hook(est.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append("run")

    class Listener(est.CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: Any) -> None:
            seen.append(int(global_step_value))

    line.train(as_dataset, hooks=[Hook()], steps=3, saving_listeners=[Listener()])
    assert seen == [0, "run", "run", "run", 3]


def test_warm_start(line: Any, tmp_path: Any) -> None:
    line.train(as_dataset, steps=20)
    other = est.Estimator(
        model_fn,
        str(tmp_path / "other"),
        params={"rate": 1e-9},
        warm_start_from=est.WarmStartSettings(line.model_dir, vars_to_warm_start="line/kernel"),
    )
    other.train(as_dataset, steps=1)
    kernel = line.get_variable_value("line/kernel")
    np.testing.assert_allclose(other.get_variable_value("line/kernel"), kernel, rtol=1e-5)
    assert other.get_variable_value("line/bias") == pytest.approx(0, abs=1e-6)


def test_exported_model_serves(line: Any) -> None:
    line.train(as_dataset, steps=200)
    extra = os.path.join(line.model_dir, "checkpoint")
    path = line.export_savedmodel(
        os.path.join(line.model_dir, "saved"), serving(), assets_extra={"notes/it": extra}
    )
    assert tf.gfile.Exists(os.path.join(path, b"assets.extra/notes/it"))
    with tf.Session(graph=tf.Graph()) as session:
        model = tf.saved_model.loader.load(session, ["serve"], path)
        signature = model.signature_def["serving_default"]
        found = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[2.0]]})
    assert found == pytest.approx(7, abs=0.05)


def test_exported_classifier_parses_examples(tmp_path: Any) -> None:
    columns = [tf.feature_column.numeric_column("x")]
    classifier = est.LinearClassifier(columns, str(tmp_path / "model"))
    classifier.train(
        est.inputs.numpy_input_fn({"x": X[:, 0]}, (Y > 1).astype(int), shuffle=False), steps=1
    )
    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver = est.export.build_parsing_serving_input_receiver_fn(spec)
    path = classifier.export_saved_model(str(tmp_path / "saved"), receiver)
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(0.5)
    with tf.Session(graph=tf.Graph()) as session:
        model = tf.saved_model.loader.load(session, ["serve"], path)
        assert set(model.signature_def) == {
            "classification",
            "predict",
            "regression",
            "serving_default",
        }
        signature = model.signature_def["classification"]
        scores, classes = session.run(
            [signature.outputs["scores"].name, signature.outputs["classes"].name],
            {signature.inputs["inputs"].name: [example.SerializeToString()]},
        )
    assert scores.shape == (1, 2) and scores[0, 1] > 0.5
    assert classes.tolist() == [[b"0", b"1"]]


def test_export_of_all_modes(line: Any) -> None:
    line.train(as_dataset, steps=1)
    with tf.Graph().as_default():
        supervised = est.experimental.build_raw_supervised_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 1])}, tf.placeholder(tf.float32, [None])
        )
    path = line.experimental_export_all_saved_models(
        os.path.join(line.model_dir, "saved"),
        {
            est.ModeKeys.TRAIN: supervised,
            est.ModeKeys.EVAL: supervised,
            est.ModeKeys.PREDICT: serving(),
        },
    )
    for tag, key in (("train", "train"), ("eval", "eval"), ("serve", "serving_default")):
        with tf.Session(graph=tf.Graph()) as session:
            assert key in tf.saved_model.loader.load(session, [tag], path).signature_def


def test_train_and_evaluate(line: Any) -> None:
    exporters = [
        est.FinalExporter("final", serving()),
        est.LatestExporter("latest", serving(), exports_to_keep=1),
        est.BestExporter("best", serving()),
    ]
    results, exported = est.train_and_evaluate(
        line,
        est.TrainSpec(as_dataset, max_steps=100),
        est.EvalSpec(once(), steps=None, exporters=exporters, throttle_secs=0),
    )
    assert results["global_step"] == 100
    assert len(exported) == 3 and all(tf.gfile.IsDirectory(path) for path in exported)
    assert len(tf.gfile.ListDirectory(os.path.join(line.model_dir, "export", "latest"))) == 1


def test_more_metrics(line: Any) -> None:
    line.train(as_dataset, steps=1)

    def largest(labels: Any, predictions: Any) -> Any:
        return {"mean": tf.metrics.mean(predictions["y"])}

    assert "mean" in est.add_metrics(line, largest).evaluate(once())
    with pytest.raises(ValueError, match="not expected args"):
        est.add_metrics(line, lambda nothing: {})


def test_early_stopping(line: Any) -> None:
    line.evaluate(once(), steps=1)  # of the model as it is initialized
    hook = est.experimental.stop_if_higher_hook(
        line, "loss", 0.0, run_every_secs=None, run_every_steps=1
    )
    line.train(as_dataset, hooks=[hook], steps=50)
    assert line.get_variable_value("global_step") == 1


def test_in_memory_evaluation(line: Any) -> None:
    hook = est.experimental.InMemoryEvaluatorHook(line, once(), every_n_iter=5)
    line.train(as_dataset, hooks=[hook], steps=12)
    (path,) = tf.gfile.Glob(os.path.join(line.eval_dir(), "events.*"))
    steps = [e.step for e in tf.train.summary_iterator(path) if e.summary.value]
    assert steps == [0, 5, 10, 12]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model_fn": None}, "model_fn must be provided"),
        ({"model_fn": lambda labels: None}, "must include features argument"),
        ({"model_fn": lambda features: None, "params": {"a": 1}}, "does not include params"),
        ({"model_fn": lambda features, other: None}, "not expected args"),
        ({"model_fn": lambda features: None, "config": 3}, "must be an instance of `RunConfig`"),
    ],
)
def test_wrong_arguments(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        est.Estimator(**arguments)


def test_wrong_calls(line: Any) -> None:
    with pytest.raises(ValueError, match="both steps and max_steps"):
        line.train(as_dataset, steps=1, max_steps=1)
    with pytest.raises(ValueError, match="Must specify steps > 0"):
        line.train(as_dataset, steps=0)
    with pytest.raises(TypeError, match="Hooks must be a SessionRunHook"):
        line.train(as_dataset, hooks=["hook"], steps=1)
    with pytest.raises(ValueError, match="Could not find trained model"):
        line.get_variable_names()
    with pytest.raises(ValueError, match="Couldn't find trained model"):
        line.export_saved_model("somewhere", serving())
    with pytest.raises(ValueError, match="len 2 tuple"):
        line.train(lambda: (1, 2, 3), steps=1)


def test_members_are_not_overridden() -> None:
    class Wrong(est.Estimator):
        def predict(self, *args: Any, **kwargs: Any) -> Any:
            return None

    with pytest.raises(ValueError, match=r"does override \['predict'\]"):
        Wrong(model_fn, params={})
