"""What TensorFlow's own tests of estimators reach for: inner functions, and what they replace."""

from __future__ import annotations

import json
import tempfile
from typing import Any
from unittest import mock

import numpy as np
import pytest
from penstock.python.estimator import estimator as estimator_lib
from penstock.python.estimator import gc, model_fn, run_config, training
from penstock.python.estimator.canned import dnn, head, linear
from penstock.python.estimator.export import export
from penstock.python.estimator.export import function as export_functions
from penstock.python.training import server_lib
from penstock.python.training import training as train_lib

import penstock as tf


def inputs() -> Any:
    return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[1.0], [2.0]])


def counting_model(features, labels, mode):
    step = tf.assign_add(tf.train.get_global_step(), 1)
    return tf.estimator.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=step)


def cluster_config(task: str, index: int = 0) -> Any:
    cluster = {"chief": ["host0:0"], "worker": ["host3:3", "host4:4"], "ps": ["host1:1"]}
    text = json.dumps({"cluster": cluster, "task": {"type": task, "index": index}})
    with mock.patch.dict("os.environ", {"TF_CONFIG": text}):
        return run_config.RunConfig()


def test_filters_of_exports():
    paths = [gc.Path("/foo", n) for n in (0, 1, 3, 5, 6, 7, 8, 33)]
    kept = gc._one_of_every_n_export_versions(3)(paths)
    assert [path.export_version for path in kept] == [3, 6, 8, 33]
    largest = gc._largest_export_versions(2)
    assert [p.export_version for p in largest(paths)] == [8, 33]
    assert gc._negation(largest)(paths) == paths[:-2]
    assert gc._union(largest, gc._mod_export_version(5))(paths) == [paths[0], paths[3], *paths[-2:]]


def test_paths_of_exports(tmp_path):
    for name in ("7", "12", "other"):
        (tmp_path / name).mkdir()

    def numbered(path):
        name = path.path.rsplit("/", 1)[1]
        return path._replace(export_version=int(name)) if name.isdigit() else None

    found = gc._get_paths(str(tmp_path), numbered)
    assert sorted(path.export_version for path in found) == [7, 12]


def test_heads_that_make_their_own_specs():
    class Own(head._Head):
        def _create_tpu_estimator_spec(self, features, mode, logits, *args, **kwargs):
            return model_fn._TPUEstimatorSpec(mode="eval", loss=tf.constant(0.0))

    assert isinstance(Own().create_estimator_spec(None, None, None), tf.estimator.EstimatorSpec)
    nothing = head._Head()
    with pytest.raises(NotImplementedError, match="TPUEstimatorSpec not available"):
        nothing._create_tpu_estimator_spec(None, None, None)
    with pytest.raises(NotImplementedError, match="Subclasses of _Head must implement"):
        nothing.create_estimator_spec(None, None, None)


def test_heads_leave_the_variables_to_the_optimizer():
    class Recorder:
        def minimize(self, loss, global_step):  # no `var_list`
            return tf.assign_add(global_step, 1).op

    with tf.Graph().as_default():
        tf.train.create_global_step()
        spec = head._regression_head().create_estimator_spec(
            {"x": tf.constant([[1.0]])},
            "train",
            tf.constant([[1.0]]),
            labels=tf.constant([[2.0]]),
            optimizer=Recorder(),
        )
        assert spec.train_op is not None


def test_model_functions_and_sparsity():
    column = tf.feature_column.numeric_column("x")
    with tf.Graph().as_default():
        tf.train.create_global_step()
        features, labels = inputs()
        spec = dnn._dnn_model_fn(
            features, labels, "train", tf.estimator.RegressionHead(), [2], [column]
        )
        assert spec.loss.shape.as_list() == []
        zeros = linear._compute_fraction_of_zero([tf.constant([0.0, 1.0]), [tf.zeros([2])]])
        with tf.Session() as sess:
            assert sess.run(zeros) == 0.75


def test_estimators_open_the_session_of_the_training_module():
    with tempfile.TemporaryDirectory() as folder:
        config = cluster_config("chief").replace(model_dir=folder)
        trained = estimator_lib.EstimatorV2(counting_model, config=config)
        with mock.patch.object(train_lib, "MonitoredTrainingSession") as session:
            trained.train(inputs, steps=1)
        assert session.call_args[1]["checkpoint_dir"] == folder
        assert callable(estimator_lib._get_replica_device_setter(config))


def test_a_task_without_a_type_is_one_of_the_workers():
    settings = {"cluster": {"ps": ["a:1", "b:2"]}, "task": {"index": 1}}
    with mock.patch.dict("os.environ", {"TF_CONFIG": json.dumps(settings)}):
        config = tf.contrib.learn.RunConfig(master="grpc://c:3")
    with tf.Graph().as_default(), tf.device(estimator_lib._get_replica_device_setter(config)):
        devices = [tf.constant(1).device, tf.Variable(1).device, tf.Variable(2).device]
    assert devices == ["/job:worker", "/job:ps/task:0", "/job:ps/task:1"]


def test_executors_start_the_server_of_the_training_module():
    stand_in = mock.Mock(spec=tf.estimator.Estimator)
    stand_in.config = cluster_config("ps")
    executor = training._TrainingExecutor(stand_in, mock.Mock(spec=training.TrainSpec), None)
    with mock.patch.object(server_lib, "Server") as server:
        executor.run_ps()
    assert server.return_value.join.called
    with pytest.raises(TypeError, match="All hooks must be `SessionRunHook` instances"):
        training._TrainingExecutor(
            stand_in, mock.Mock(spec=training.TrainSpec), None, train_hooks=[object()]
        )


def test_metrics_of_keras_that_were_only_updated():
    with tf.Graph().as_default():
        mean = tf.keras.metrics.Mean()
        mean.update_state([2.0, 4.0])
        assert len(mean.updates) == 1
        spec = tf.estimator.EstimatorSpec(
            "eval", loss=tf.constant(1.0), eval_metric_ops={"mean": mean}
        )
        value, update = spec.eval_metric_ops["mean"]
        with tf.Session() as sess:
            sess.run(tf.variables_initializer(mean.variables))
            sess.run(update)
            assert sess.run(value) == 3.0


def test_receivers_like_an_input_function():
    make = export.build_supervised_input_receiver_fn_from_input_fn(inputs)
    with tf.Graph().as_default():
        receiver = make()
        assert receiver.features["x"].shape.as_list() == [None, 1]
        assert set(receiver.receiver_tensors) == {"x", "label"}


def test_receivers_take_tensors_with_labels():
    class Labeled:
        tensor = property(lambda self: tf.constant([1.0]))

    tf.register_tensor_conversion_function(
        Labeled, lambda value, dtype=None, name=None, as_ref=False: value.tensor
    )
    with tf.Graph().as_default():
        export.ServingInputReceiver(Labeled(), tf.constant(["a"]))
        with pytest.raises(ValueError, match="feature a must be a Tensor or SparseTensor"):
            export.ServingInputReceiver({"a": np.ones(1)}, tf.constant(["a"]))


def test_settings_of_sessions():
    with pytest.raises(ValueError, match="session_config must be instance of ConfigProto"):
        run_config.RunConfig(session_config={})
    with tempfile.TemporaryDirectory() as folder:
        default = estimator_lib.EstimatorV2(counting_model, model_dir=folder)._session_config
    rewrites = default.graph_options.rewrite_options
    assert rewrites.meta_optimizer_iterations == rewrites.ONE


def _doubled(features, labels, mode):
    step = tf.train.get_global_step()
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=2 * features)
    return tf.estimator.EstimatorSpec(
        mode, predictions=features * labels, loss=tf.constant(1.0), train_op=step.assign_add(1)
    )


def test_a_wrapped_model_function_trains_its_step():
    graph = export_functions._EstimatorWrappedGraph()
    features, labels = tf.constant(3), tf.constant(4)
    with pytest.raises(ValueError, match="wrap a model function first"):
        _ = graph.estimator_spec
    model = graph.wrap_model_fn(_doubled, "train", args=[features, labels, "train"], kwargs={})
    with tf.Session() as session:
        session.run(tf.variables_initializer(list(graph.variables.values())))
        assert session.run(model(features, labels)["predictions"]) == 12
        assert session.run(graph.global_step) == 1
    with pytest.raises(ValueError, match="only called once"):
        graph.wrap_model_fn(_doubled, "infer", args=[features, None, "infer"], kwargs={})


def test_receivers_are_functions_of_what_they_receive():
    def receive():
        first, second = tf.placeholder(tf.string), tf.placeholder(tf.string)
        joined = tf.strings.join([first, second])
        return tf.estimator.export.ServingInputReceiver(
            {"twice": tf.strings.join([joined, joined], ":")},
            {"a": first, "b": second},
            {"whole": joined},
        )

    made = export_functions._EstimatorWrappedGraph().wrap_input_receiver_fn(receive)
    by_name = {name: function for function, name in made}
    with tf.Session() as session:
        usual = by_name[None](tf.constant("1"), tf.constant("2"))
        assert session.run(usual) == {"twice": b"12:12"}
        assert session.run(by_name["whole"](tf.constant("3"))) == {"twice": b"3:3"}
