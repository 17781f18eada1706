"""Hooks of training that evaluate, or wait for the last checkpoint."""

from __future__ import annotations

import time
from typing import Any

import penstock as tf
from penstock.estimator import evaluation_summaries
from penstock.estimator.estimator import saved_global_step
from penstock.estimator.estimator_checks import checked_hooks
from penstock.train.basic_session_run_hooks import StopAtStepHook
from penstock.train.evaluation import _evaluate_once, _StopAfterNEvalsHook
from penstock.train.global_step import get_or_create_global_step_read
from penstock.train.hook_timers import SecondOrStepTimer
from penstock.train.scaffold import Scaffold
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates during training, with the values that variables have then, not with checkpoints.

    Args:
      estimator: the Estimator that is trained.
      input_fn: returns features and labels to evaluate on.
      steps: how many batches; until the input ends by default.
      hooks: `SessionRunHook`s of the evaluation.
      name: tells the results of several evaluations apart.
      every_n_iter: evaluate every so many steps.
    """

    def __init__(
        self,
        estimator: Any,
        input_fn: Any,
        steps: int | None = None,
        hooks: Any = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._name = name
        self._hooks = checked_hooks(hooks)
        if steps is not None:
            self._hooks.append(_StopAfterNEvalsHook(num_evals=steps))
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the graph of the evaluation."""
        self._timer.reset()
        self._iter_count = 0
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._scaffold, self._update_op, self._values, self._all_hooks = (
                self._estimator._evaluate_build_graph(
                    self._input_fn, self._hooks, checkpoint_path=None
                )
            )
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._assignments = {}
            for variable in tf.global_variables():
                value = tf.placeholder(variable.dtype.base_dtype)
                self._assignments[variable.name] = value, tf.assign(variable, value)

    def after_create_session(self, session: Any, coord: Any) -> None:
        if tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables."
            )
        self._trained = {
            variable.name: variable
            for variable in tf.global_variables()
            if variable.name in self._assignments
        }
        self._evaluate(session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        self._evaluate(session)

    def _evaluate(self, train_session: Any) -> None:
        values = train_session.run(self._trained)

        def copy_variables(scaffold: Any, session: Any) -> None:
            placeholders = {self._assignments[name][0]: v for name, v in values.items()}
            session.run([self._assignments[name][1] for name in values], placeholders)

        scaffold = Scaffold(init_fn=copy_variables, copy_from_scaffold=self._scaffold)
        with self._graph.as_default():
            results = _evaluate_once(
                checkpoint_path=None,
                master=self._estimator._config.evaluation_master,
                scaffold=scaffold,
                eval_ops=self._update_op,
                final_ops=self._values,
                hooks=self._all_hooks,
                config=self._estimator._session_config,
            )
        evaluation_summaries.write(self._estimator.eval_dir(self._name), results, None)
        self._timer.update_last_triggered_step(self._iter_count)


class _StopAtCheckpointStepHook(SessionRunHook):
    """Stops a worker once there is a checkpoint of the last step."""

    def __init__(self, model_dir: Any, last_step: int, wait_after_file_check_secs: float):
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_after_file_check_secs

    def begin(self) -> None:
        self._global_step_tensor = get_or_create_global_step_read()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if saved_global_step(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_secs)


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that stops the chief at a step, and workers when the checkpoint of it is there."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
