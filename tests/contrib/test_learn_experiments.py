"""`tf.contrib.learn.Experiment` with estimators of one's own, and `learn_runner`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import learn
from penstock.contrib.learn import learn_runner
from penstock.train import server_lib


class Counting(learn.Evaluable, learn.Trainable):
    """Counts how often it is trained and evaluated."""

    def __init__(self, model_dir: Path, config: Any = None):
        self.config = config or learn.RunConfig()
        self._model_dir = str(model_dir)
        self.calls: list[tuple[str, Any]] = []

    @property
    def model_dir(self) -> str:
        return self._model_dir

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append(("fit", kwargs["max_steps"]))

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append(("evaluate", kwargs["metrics"]))
        return {"global_step": 1}


def test_an_estimator_is_what_can_be_trained_and_evaluated(tmp_path: Path) -> None:
    counting = Counting(tmp_path)
    metrics = {"m": learn.MetricSpec(tf.metrics.mean)}
    experiment = learn.Experiment(
        counting,
        train_input_fn=None,
        eval_input_fn=lambda: None,
        eval_metrics=metrics,
        train_steps=7,
        min_eval_frequency=0,
    )
    assert experiment.train_and_evaluate() == ({"global_step": 1}, [])
    assert counting.calls == [("fit", 7), ("evaluate", metrics)]

    class Evaluated(learn.Evaluable):
        model_dir = ""

        def evaluate(self, *args: Any, **kwargs: Any) -> Any:
            return None

    with pytest.raises(ValueError, match=r"must implement `tf.contrib.learn.Trainable`"):
        learn.Experiment(Evaluated(), None, None)


def test_workers_wait_for_time_or_for_steps(tmp_path: Path, monkeypatch: Any) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setenv("TF_CONFIG", '{"task": {"index": 3}}')
    counting = Counting(tmp_path)
    learn.Experiment(counting, None, None).train()
    assert slept == [15]
    waiting: list[Any] = []
    monkeypatch.setattr(counting, "fit", lambda **kwargs: waiting.extend(kwargs["monitors"]))
    learn.Experiment(counting, None, None, delay_workers_by_global_step=True).train()
    assert slept == [15]
    assert isinstance(waiting[0], tf.train.GlobalStepWaiterHook)


def test_a_task_of_a_cluster_starts_its_server(tmp_path: Path, monkeypatch: Any) -> None:
    started: list[Any] = []

    class Server:
        def __init__(self, cluster: Any, **kwargs: Any):
            started.append(kwargs["job_name"])

        def start(self) -> None:
            started.append("start")

    monkeypatch.setattr(server_lib, "Server", Server)
    monkeypatch.setenv(
        "TF_CONFIG",
        '{"cluster": {"worker": ["a:1", "b:1"], "ps": ["c:1"]}, "environment": "cloud", '
        '"task": {"type": "worker", "index": 0}}',
    )
    config = learn.RunConfig(master="a:1")
    learn.Experiment(Counting(tmp_path, config), None, None).train(delay_secs=0)
    assert started == ["worker", "start"]


def test_checkpoints_are_evaluated_and_exported_as_they_are_saved(tmp_path: Path) -> None:
    data = np.linspace(0, 1, 8, dtype=np.float32).reshape(8, 1)

    def input_fn() -> Any:
        return {"x": tf.constant(data)}, tf.constant((data > 0.5).astype(np.int64))

    exported = []
    strategy = learn.ExportStrategy(
        "mine", lambda estimator, folder, checkpoint_path: exported.append(checkpoint_path)
    )
    classifier = learn.LinearClassifier(
        [tf.contrib.layers.real_valued_column("x")],
        model_dir=str(tmp_path),
        config=learn.RunConfig(save_checkpoints_steps=3),
    )
    experiment = learn.Experiment(
        classifier,
        input_fn,
        input_fn,
        train_steps=5,
        eval_steps=1,
        eval_delay_secs=0,
        export_strategies=strategy,
        checkpoint_and_export=True,
    )
    metrics, _ = experiment.train_and_evaluate()
    assert metrics["global_step"] == 5
    assert [path.rpartition("-")[2] for path in exported] == ["0", "3", "5"]


def test_a_tuner_is_asked_for_trials(tmp_path: Path) -> None:
    made = []

    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        made.append(hparams.rate)
        return learn.Experiment(Counting(tmp_path, run_config), None, None)

    class Tuner:
        def __init__(self) -> None:
            self.rates = [0.1, 0.2]

        def next_trial(self) -> bool:
            return bool(self.rates)

        def run_experiment(self, make: Any) -> None:
            config = learn.RunConfig(model_dir=str(tmp_path))
            make(run_config=config, hparams=tf.contrib.training.HParams(rate=self.rates.pop()))

    learn_runner.tune(experiment_fn, Tuner())
    assert made == [0.2, 0.1]

    class Careless(Tuner):
        def run_experiment(self, make: Any) -> None:
            make(run_config=learn.RunConfig(model_dir=str(tmp_path)), hparams=None)

    with pytest.raises(ValueError, match="`hparams` cannot be `None`"):
        learn_runner.tune(experiment_fn, Careless())
