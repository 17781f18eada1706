"""`tf.estimator.train_and_evaluate`: training with evaluations, alone or as a task of a cluster."""

from __future__ import annotations

import json
import os
import time
from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.distribute.coordinator import CoordinatorMode
from penstock.estimator import coordinated
from penstock.estimator.cluster_task import TaskType
from penstock.estimator.estimator import Estimator
from penstock.estimator.remote_cluster import train_and_evaluate as train_on_remote_cluster
from penstock.estimator.specs import EvalSpec, TrainSpec, checked_hooks
from penstock.platform import logging
from penstock.platform.compat import as_str_any
from penstock.train import basic_session_run_hooks, server_lib
from penstock.train.recording_hooks import CheckpointSaverListener
from penstock.train.session_run_hook import SessionRunHook

_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
_TRAINER_JOBS = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)


def train_and_evaluate(estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec) -> Any:
    """Trains, and evaluates after checkpoints; in a cluster, does this task's part of it.

    Args:
      estimator: the Estimator.
      train_spec: what to train on.
      eval_spec: what to evaluate on, and what to export after it.

    Returns:
      When it runs alone: the metrics of the last evaluation and the results of its exporters.
    """
    _check_eval_spec(eval_spec)
    executor = _TrainingExecutor(estimator=estimator, train_spec=train_spec, eval_spec=eval_spec)
    config = estimator.config
    mode = getattr(config, "_distribute_coordinator_mode", None)
    if mode == CoordinatorMode.STANDALONE_CLIENT:
        return train_on_remote_cluster(estimator, train_spec, eval_spec, _TrainingExecutor)
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  "
            f"Given task id {config.task_id}"
        )
    if mode == CoordinatorMode.INDEPENDENT_WORKER and config._is_coordinated:
        return coordinated.train_and_evaluate(estimator, train_spec, eval_spec, _TrainingExecutor)
    return executor.run()


def _check_eval_spec(eval_spec: Any) -> None:
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(
            f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}"
        )


class _EvalStatus:
    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class _EvalResult(namedtuple("EvalResult", ["status", "metrics", "checkpoint_path"])):
    """What became of an attempt to evaluate."""

    __slots__ = ()

    def __new__(cls, status: str, metrics: Any = None, checkpoint_path: Any = None) -> _EvalResult:
        return super().__new__(cls, status, metrics, checkpoint_path)


class _StopAtSecsHook(SessionRunHook):
    """Stops training some seconds after it began."""

    def __init__(self, stop_after_secs: float):
        self._stop_after_secs = stop_after_secs
        self._start_time = 0.0

    def begin(self) -> None:
        self._start_time = time.time()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if time.time() - self._start_time >= self._stop_after_secs:
            run_context.request_stop()


class _ContinuousEvalListener:
    """May end the loop of training and evaluation, by returning False."""

    def before_eval(self) -> bool:
        return True

    def after_eval(self, eval_result: _EvalResult) -> bool:
        return True


class _CheckpointEvaluator:
    """Evaluates and exports the latest checkpoint, each once."""

    def __init__(self, estimator: Any, eval_spec: EvalSpec, max_training_steps: int | None):
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_training_steps = max_training_steps
        self._previous_checkpoint: Any = None
        self._last_warning_time = 0.0
        self.is_final_export_triggered = False

    def evaluate_and_export(self) -> tuple[_EvalResult, list[Any]]:
        latest = self._estimator.latest_checkpoint()
        if not latest:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
            )
            return _EvalResult(_EvalStatus.MISSING_CHECKPOINT), []
        if latest == self._previous_checkpoint:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as "
                "evaluation results are expected to be same for the same checkpoint."
            )
            return _EvalResult(_EvalStatus.NO_NEW_CHECKPOINT), []
        metrics = self._estimator.evaluate(
            input_fn=self._eval_spec.input_fn,
            steps=self._eval_spec.steps,
            name=self._eval_spec.name,
            checkpoint_path=latest,
            hooks=self._eval_spec.hooks,
        )
        _check_metrics(metrics)
        result = _EvalResult(_EvalStatus.EVALUATED, metrics, latest)
        steps = self._max_training_steps
        is_final = bool(steps) and metrics[tf.GraphKeys.GLOBAL_STEP] >= steps
        exported = [
            self._export(exporter, result, is_final) for exporter in self._eval_spec.exporters
        ]
        self.is_final_export_triggered = self.is_final_export_triggered or is_final
        self._last_warning_time = 0.0
        self._previous_checkpoint = latest
        return result, exported

    def _export(self, exporter: Any, result: _EvalResult, is_final: bool) -> Any:
        directory = os.path.join(as_str_any(self._estimator.model_dir), "export", exporter.name)
        return exporter.export(
            estimator=self._estimator,
            export_path=directory,
            checkpoint_path=result.checkpoint_path,
            eval_result=result.metrics,
            is_the_final_export=is_final,
        )

    def _warn(self, message: str) -> None:
        """Warns, but not more than once in ten minutes."""
        now = time.time()
        if now - self._last_warning_time > 600:
            logging.warning(message)
            self._last_warning_time = now


def _check_metrics(metrics: Any) -> None:
    if not metrics:
        raise ValueError("Internal error: `Estimator.evaluate` should never return empty metrics.")
    if not isinstance(metrics, dict):
        raise TypeError(f"`Estimator.evaluate` should return dict. Given {type(metrics)}.")
    if tf.GraphKeys.GLOBAL_STEP not in metrics:
        raise ValueError(
            "Internal error: `Estimator.evaluate` result should have `global_step` in result. "
            f"Given {metrics}"
        )


class _NewCheckpointListenerForEvaluate(CheckpointSaverListener):
    """Evaluates when a checkpoint was saved, but not the one before the first step."""

    def __init__(
        self,
        evaluator: _CheckpointEvaluator,
        eval_throttle_secs: float,
        listener: _ContinuousEvalListener,
    ):
        self._evaluator = evaluator
        self._eval_throttle_secs = eval_throttle_secs
        self._listener = listener
        self.eval_result: _EvalResult | None = None
        self.export_results: Any = None

    def begin(self) -> None:
        self._timer = basic_session_run_hooks.SecondOrStepTimer(every_secs=self._eval_throttle_secs)
        self._is_first_run = True

    def after_save(self, session: Any, global_step_value: Any) -> Any:
        if self._is_first_run:
            self._is_first_run = False
            return None
        if not self._listener.before_eval():
            logging.info("Ending training, as the listener's before_eval asks for.")
            return True
        if not self._timer.should_trigger_for_step(global_step_value):
            logging.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._eval_throttle_secs,
            )
            return None
        self._evaluate(global_step_value)
        if not self._listener.after_eval(self.eval_result):  # type: ignore[arg-type]
            logging.info("Ending training, as the listener's after_eval asks for.")
            return True
        return None

    def end(self, session: Any, global_step_value: Any) -> None:
        if global_step_value != self._timer.last_triggered_step() and self._listener.before_eval():
            self._evaluate(global_step_value)
            self._listener.after_eval(self.eval_result)  # type: ignore[arg-type]

    def _evaluate(self, global_step_value: Any) -> None:
        self._timer.update_last_triggered_step(global_step_value)
        self.eval_result, self.export_results = self._evaluator.evaluate_and_export()
        if self.eval_result.status != _EvalStatus.EVALUATED:
            raise RuntimeError(
                "There was no new checkpoint after the training. Eval status: "
                f"{self.eval_result.status}"
            )


class _TrainingExecutor:
    """The parts of `train_and_evaluate` that tasks of a cluster play, and the one without."""

    _Evaluator = _CheckpointEvaluator

    def __init__(
        self,
        estimator: Any,
        train_spec: Any,
        eval_spec: Any,
        train_hooks: Any = None,
        continuous_eval_listener: Any = None,
    ):
        if not isinstance(estimator, Estimator):
            raise TypeError(
                f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
            )
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(
                f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}"
            )
        if eval_spec and not isinstance(eval_spec, EvalSpec):
            raise TypeError(
                "`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: "
                f"{type(eval_spec)}"
            )
        listener = continuous_eval_listener
        if listener and not isinstance(listener, _ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._estimator = estimator
        self._train_spec = train_spec
        self._eval_spec = eval_spec
        self._train_hooks = checked_hooks(train_hooks)
        self._continuous_eval_listener = listener or _ContinuousEvalListener()

    @property
    def estimator(self) -> Any:
        return self._estimator

    def run(self) -> Any:
        """Plays the part that the Estimator's configuration says."""
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means TF_CONFIG "
                "environment is not set correctly."
            )
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. To train and evaluate locally "
                "(non-distributed), leave `cluster` and `task` out of TF_CONFIG."
            )
        parts = {
            TaskType.CHIEF: self.run_chief,
            TaskType.EVALUATOR: self.run_evaluator,
            TaskType.MASTER: self.run_master,
            TaskType.PS: self.run_ps,
            TaskType.WORKER: self.run_worker,
        }
        if config.task_type not in parts:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types are "
                f"{sorted(parts)}"
            )
        parts[config.task_type]()
        return None

    def run_chief(self) -> None:
        self._start_distributed_training()

    def run_worker(self) -> None:
        self._start_distributed_training()

    def run_master(self) -> None:
        """The chief of an older kind of cluster, which evaluates too."""
        _check_eval_spec(self._eval_spec)
        listener = self._evaluating_listener(_ContinuousEvalListener())
        self._start_distributed_training([listener])

    def run_ps(self) -> None:
        server = self._start_std_server(self._estimator.config)
        if server is not None:
            server.join()

    def run_local(self) -> tuple[Any, Any]:
        _check_eval_spec(self._eval_spec)
        config = self._estimator.config
        logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            "save_checkpoints_steps %s or save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        listener = self._evaluating_listener(self._continuous_eval_listener)
        self._train([listener])
        result = listener.eval_result
        return (result.metrics if result else None), listener.export_results

    def _evaluating_listener(
        self, listener: _ContinuousEvalListener
    ) -> _NewCheckpointListenerForEvaluate:
        return _NewCheckpointListenerForEvaluate(
            self._evaluator(), self._eval_spec.throttle_secs, listener
        )

    def _evaluator(self) -> _CheckpointEvaluator:
        return _CheckpointEvaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)

    def _train(self, saving_listeners: Any) -> None:
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=saving_listeners,
        )

    def _start_std_server(self, config: Any) -> Any:
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError(
                "Could not start server; be sure to specify cluster_spec, task_type, and task in "
                "RunConfig or set the TF_CONFIG environment variable."
            )
        if not config.master:
            jobs = config.cluster_spec.jobs
            is_only_node = len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1
            if is_only_node and config.task_type in _TRAINER_JOBS:
                logging.info("Starting no server: there is only one node in the cluster.")
                return None
            raise RuntimeError(
                "Could not start server; be sure to specify master in RunConfig or set the "
                "TF_CONFIG environment variable."
            )
        logging.info("Start Tensorflow server.")
        session_config = tf.ConfigProto(log_device_placement=False)
        if config.session_config is not None:
            session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
        server = server_lib.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=session_config,
            start=False,
            protocol=config.protocol,
        )
        server.start()
        return server

    def _start_distributed_training(self, saving_listeners: Any = None) -> None:
        config = self._estimator.config
        if json.loads(os.environ.get("TF_CONFIG") or "{}").get("environment") != "google":
            self._start_std_server(config)
        if config.task_type == TaskType.WORKER and config.train_distribute is None:
            # Workers start one after another, so that they don't all wait for the first step.
            # Those of a strategy wait for each other in each step.
            longest = config.experimental_max_worker_delay_secs
            delay = min(
                _MAX_DELAY_SECS if longest is None else int(longest),
                (config.task_id + 1) * _DELAY_SECS_PER_WORKER,
            )
            if delay > 0:
                logging.info("Waiting %d secs before starting training.", delay)
                time.sleep(delay)
        self._train(saving_listeners)

    def run_evaluator(self) -> None:
        """Evaluates new checkpoints until training has reached its last step."""
        _check_eval_spec(self._eval_spec)
        if self._eval_spec.start_delay_secs:
            logging.info("Waiting %f secs before starting eval.", self._eval_spec.start_delay_secs)
            time.sleep(self._eval_spec.start_delay_secs)
        evaluator = self._evaluator()
        result, stop = None, False
        while not stop and not self._has_reached_the_end(result):
            result, stop = self._execute_evaluator_once(
                evaluator, self._continuous_eval_listener, self._eval_spec.throttle_secs
            )

    def _has_reached_the_end(self, result: _EvalResult | None) -> bool:
        if result is None or result.status != _EvalStatus.EVALUATED:
            return False
        step, last = result.metrics.get(tf.GraphKeys.GLOBAL_STEP), self._train_spec.max_steps
        return bool(step and last and step >= last)

    def _execute_evaluator_once(
        self,
        evaluator: _CheckpointEvaluator,
        listener: _ContinuousEvalListener,
        throttle_secs: float,
    ) -> tuple[_EvalResult | None, bool]:
        start = time.time()
        if not listener.before_eval():
            return None, True
        result, _ = evaluator.evaluate_and_export()
        if not listener.after_eval(result):
            return result, True
        rest = throttle_secs - (time.time() - start)
        if rest > 0:
            logging.info("Waiting %f secs before starting next eval run.", rest)
            time.sleep(rest)
        elif throttle_secs == 0 and result.status != _EvalStatus.EVALUATED:
            logging.warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding "
                "(next) new checkpoint. Please consider to increase it."
            )
        return result, False
