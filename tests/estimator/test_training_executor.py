"""The parts of `train_and_evaluate` in a cluster, with an Estimator that only notes its calls."""

import json
from unittest import mock

import pytest
from penstock.python.estimator import run_config, training
from penstock.python.training import server_lib

import penstock as tf


def _estimator(job, index, first="chief", **others):
    cluster = {first: ["host0:0"], "ps": ["host1:1"], "worker": ["host2:2", "host3:3"], **others}
    settings = {"cluster": cluster, "task": {"type": job, "index": index}}
    with mock.patch.dict("os.environ", {"TF_CONFIG": json.dumps(settings)}):
        config = run_config.RunConfig()
    estimator = mock.Mock(spec=tf.estimator.Estimator, config=config)
    estimator.evaluate.return_value = {tf.GraphKeys.GLOBAL_STEP: 5}
    return estimator


def _executor(estimator):
    train_spec = mock.Mock(spec=training.TrainSpec, hooks=[], max_steps=5)
    eval_spec = mock.Mock(spec=training.EvalSpec, exporters=[])
    return training._TrainingExecutor(estimator, train_spec, eval_spec)


@pytest.mark.parametrize("job", ["chief", "master"])
def test_a_leader_starts_its_server_and_trains(job):
    estimator = _estimator(job, 0, first=job)
    with mock.patch.object(server_lib, "Server") as server:
        getattr(_executor(estimator), f"run_{job}")()
    assert server.return_value.start.called
    listeners = estimator.train.call_args[1]["saving_listeners"]
    assert len(listeners or ()) == (1 if job == "master" else 0)


def test_a_train_spec_has_the_fields_of_release_1_15():
    assert training.TrainSpec._fields == ("input_fn", "max_steps", "hooks")
    with pytest.raises(TypeError, match="All hooks must be `SessionRunHook` instances"):
        training.TrainSpec(lambda: 1, hooks=[object()])


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("local", "`task.type` in TF_CONFIG cannot be `local`"),
        ("zoo", "Task type zoo is not supported. Supported task types are ((?!local).)*$"),
    ],
)
def test_jobs_that_nobody_plays(job, message):
    with pytest.raises(ValueError, match=message):
        _executor(_estimator(job, 0, **{job: ["host4:4"]})).run()


@pytest.mark.parametrize("member", ["train", "latest_checkpoint", "model_dir"])
def test_a_subclass_keeps_what_all_estimators_do(member):
    class Other(tf.estimator.Estimator):
        def __init__(self):
            super().__init__(lambda features: features)

    setattr(Other, member, lambda self: None)
    with pytest.raises(ValueError, match=rf"cannot override members of Estimator.*\['{member}'\]"):
        Other()


def test_a_configuration_of_no_known_mode_is_run_by_the_executor():
    estimator = mock.Mock(spec=tf.estimator.Estimator)
    specs = {"train_spec": mock.Mock(), "eval_spec": mock.Mock(spec=tf.estimator.EvalSpec)}
    with mock.patch.object(training, "_TrainingExecutor") as made:
        training.train_and_evaluate(estimator, **specs)
    made.assert_called_with(estimator=estimator, **specs)
    assert made.return_value.run.called
