"""`tf.contrib.learn.Experiment`: an estimator with what it is trained and evaluated on."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.learn.export_strategy import ExportStrategy
from penstock.contrib.learn.monitors import ValidationMonitor, replace_monitors_with_hooks
from penstock.contrib.learn.roles import Evaluable, Trainable
from penstock.contrib.learn.run_config import Environment, RunConfig
from penstock.estimator.argument_names import fn_args
from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.platform import logging
from penstock.platform.compat import as_bytes
from penstock.train import server_lib
from penstock.train.checkpoint_state import latest_checkpoint


class Experiment:
    """Trains and evaluates an estimator.

    Args:
      estimator: an Estimator of `tf.estimator`, or what is `Evaluable` and `Trainable`.
      train_input_fn: gives features and labels to train on.
      eval_input_fn: gives features and labels to evaluate on.
      eval_metrics: `MetricSpec`s by name, for an Estimator of `tf.contrib.learn`.
      train_steps: up to which global step to train; until the input ends by default.
      eval_steps: how many batches to evaluate on; until the input ends if None.
      train_monitors: hooks of training.
      eval_hooks: hooks of evaluation.
      eval_delay_secs: how long to wait before the first evaluation.
      continuous_eval_throttle_secs: how long to wait between evaluations.
      min_eval_frequency: evaluate every so many steps of training, if there is a new checkpoint;
        never during training if 0.
      delay_workers_by_global_step: whether workers wait for the chief's steps, not for some time.
      export_strategies: one `ExportStrategy`, or several, to call after an evaluation.
      train_steps_per_iteration: how many steps `continuous_train_and_eval` makes at a time.
      checkpoint_and_export: whether to evaluate and export with each checkpoint of training.
      saving_listeners: `CheckpointSaverListener`s of training.
      check_interval_secs: how often to look for a new checkpoint during training.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ):
        is_core = isinstance(estimator, CoreEstimator)
        if is_core and eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
            )
        for role in (Evaluable, Trainable):
            if not is_core and not isinstance(estimator, role):
                raise ValueError(
                    f"`estimator` must implement `tf.contrib.learn.{role.__name__}` or "
                    "`tf.estimator.Estimator`."
                )
        if not is_core and saving_listeners is not None:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._is_core = is_core
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._train_monitors = list(train_monitors or ())
        self._eval_hooks = list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._steps_per_iteration = train_steps_per_iteration
        self._saving_listeners = saving_listeners
        self._checkpoint_and_export = checkpoint_and_export
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._check_interval_secs = check_interval_secs
        self._export_strategies: tuple[Any, ...] = ()
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Adds hooks of training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> tuple[Any, ...]:
        """Sets other export strategies, and returns those before."""
        old, given = self._export_strategies, new_export_strategies or ()
        strategies = (given,) if isinstance(given, ExportStrategy) else tuple(given)
        for strategy in strategies:
            if not isinstance(strategy, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable of "
                    f"ExportStrategy, or `None`, found {strategy}."
                )
        self._export_strategies = strategies
        return old

    # Schedules ----------------------------------------------------------------------------------

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains; a task of a cluster waits first, the later the higher its number is."""
        config = self._estimator.config
        in_cluster = config.cluster_spec and config.master
        if isinstance(config, RunConfig):
            if in_cluster and config.environment not in (Environment.LOCAL, Environment.GOOGLE):
                self._start_server()
        elif in_cluster:
            raise ValueError(
                "Experiment: in a cluster the estimator's config must be a "
                f"tf.contrib.learn.RunConfig, got {type(config)}"
            )
        waiting: list[Any] = []
        if delay_secs is None:
            task_id = config.task_id or 0
            delay_secs = min(60, task_id * 5)
            if self._delay_workers_by_global_step:
                steps = int(8000.0 * math.log(task_id + 1))
                waiting, delay_secs = [tf.train.GlobalStepWaiterHook(steps)], 0
        if delay_secs > 0:
            logging.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._call_train(max_steps=self._train_steps, more_hooks=waiting)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates once."""
        delay_secs = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay_secs:
            logging.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._call_evaluate(input_fn=self._eval_input_fn, name=name or "one_pass")

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Trains with evaluations now and then, evaluates at the end, and exports."""
        monitors = self._train_monitors
        config = self._estimator.config
        often = config.save_checkpoints_secs or config.save_checkpoints_steps
        exporting = self._exporting_hook(config) if self._checkpoint_and_export and often else None
        if exporting is not None:
            self._train_monitors = [*monitors, exporting.hook]
        elif self._min_eval_frequency:
            validation = ValidationMonitor(
                input_fn=self._eval_input_fn,
                eval_steps=self._eval_steps,
                metrics=self._eval_metrics,
                every_n_steps=self._min_eval_frequency,
                check_interval_secs=self._check_interval_secs,
                hooks=self._eval_hooks,
            )
            self._train_monitors = [*monitors, validation]
        try:
            self.train(delay_secs=0)
        finally:
            self._train_monitors = monitors
        if exporting is not None:
            return exporting.eval_result, exporting.export_results
        results = self._call_evaluate(input_fn=self._eval_input_fn)
        return results, self._maybe_export(results)

    def _exporting_hook(self, config: Any) -> _EvalAndExportListener:
        """A listener, and the hook that tells it of checkpoints."""
        model_dir = self._estimator.model_dir
        evaluate = functools.partial(self._call_evaluate, input_fn=self._eval_input_fn)
        listener = _EvalAndExportListener(evaluate, self._maybe_export, model_dir)
        listener.hook = tf.train.CheckpointSaverHook(
            checkpoint_dir=model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            listeners=[listener],
        )
        return listener

    def local_run(self) -> tuple[Any, list[Any]]:
        """`train_and_evaluate` with the frequency for local runs."""
        saved = self._min_eval_frequency
        self._min_eval_frequency = self._local_eval_frequency or 0
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = saved

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates new checkpoints, until training is done or a function says no."""
        self._continuous_eval(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
            export=True,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """`continuous_eval` on what is trained on."""
        self._continuous_eval(
            self._train_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            True,
            continuous_eval_predicate_fn,
            export=False,
        )

    def _continuous_eval(
        self,
        input_fn: Any,
        name: str,
        delay_secs: float | None,
        throttle_secs: float | None,
        only_once: bool,
        predicate: Any,
        export: bool,
    ) -> None:
        if predicate is not None and not callable(predicate):
            raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
        throttle_secs = self._throttle_secs if throttle_secs is None else throttle_secs
        time.sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        previous, results = None, None
        while predicate is None or _goes_on(predicate, results, previous):
            if self._has_training_stopped(results):
                return
            start = time.time()
            latest = latest_checkpoint(self._estimator.model_dir)
            results = {}
            if latest and not (only_once and latest == previous):
                results = self._call_evaluate(input_fn=input_fn, name=name, checkpoint_path=latest)
                results = results or {}
                if export:
                    self._maybe_export(results, checkpoint_path=latest)
                previous = latest
            time.sleep(max(0, throttle_secs - (time.time() - start)))

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[..., bool] | None = None
    ) -> tuple[Any, Any]:
        """Trains some steps, evaluates, and so on until training is done."""
        predicate = continuous_eval_predicate_fn
        if predicate is not None and not callable(predicate):
            raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
        steps = self._steps_per_iteration
        if steps is None:
            steps = int(self._train_steps / 10) if self._train_steps is not None else 1000
        results, exported, latest = None, None, None
        while predicate is None or _goes_on(predicate, results, latest):
            if self._has_training_stopped(results):
                break
            self._call_train(steps=steps)
            latest = latest_checkpoint(self._estimator.model_dir)
            results = self._call_evaluate(
                input_fn=self._eval_input_fn, name="one_pass", checkpoint_path=latest
            )
            exported = self._maybe_export(results)
        return results, exported

    def run_std_server(self) -> None:
        """Runs a server of the cluster, for ever."""
        self._start_server().join()

    def test(self) -> Any:
        """Trains one step and evaluates one batch, to see that all works."""
        self._call_train(steps=1)
        results = self._call_evaluate(input_fn=self._eval_input_fn, name="one_pass", steps=1)
        self._maybe_export(results)
        return results

    # Parts --------------------------------------------------------------------------------------

    def _has_training_stopped(self, results: Any) -> bool:
        step = (results or {}).get(tf.GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)

    def _start_server(self) -> Any:
        config = self._estimator.config
        known = config.cluster_spec and config.task_type and config.master
        if not known or config.task_id is None:
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, master, and "
                "task in RunConfig or set the TF_CONFIG environment variable."
            )
        server = server_lib.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=getattr(config, "tf_config", None),
            start=False,
        )
        server.start()
        return server

    def _call_train(
        self,
        steps: int | None = None,
        max_steps: int | None = None,
        more_hooks: Sequence[Any] = (),
    ) -> Any:
        hooks = replace_monitors_with_hooks([*self._train_monitors, *more_hooks], self._estimator)
        if self._is_core:
            return self._estimator.train(
                input_fn=self._train_input_fn,
                steps=steps,
                max_steps=max_steps,
                hooks=hooks,
                saving_listeners=self._saving_listeners,
            )
        return self._estimator.fit(
            input_fn=self._train_input_fn, steps=steps, max_steps=max_steps, monitors=hooks
        )

    def _call_evaluate(
        self,
        input_fn: Any,
        name: str | None = None,
        checkpoint_path: Any = None,
        steps: int | None = None,
    ) -> Any:
        arguments = {
            "input_fn": input_fn,
            "steps": steps or self._eval_steps,
            "name": name,
            "checkpoint_path": checkpoint_path,
            "hooks": self._eval_hooks,
        }
        if not self._is_core:
            arguments["metrics"] = self._eval_metrics
        return self._estimator.evaluate(**arguments)

    def _maybe_export(self, results: Any, checkpoint_path: Any = None) -> list[Any]:
        base = os.path.join(as_bytes(self._estimator.model_dir), b"export")
        return [
            strategy.export(
                self._estimator,
                os.path.join(base, as_bytes(strategy.name)),
                checkpoint_path=checkpoint_path,
                eval_result=results,
            )
            for strategy in self._export_strategies
        ]


class _EvalAndExportListener(tf.train.CheckpointSaverListener):
    """Evaluates and exports each checkpoint that is saved; the last results are kept."""

    hook: Any

    def __init__(self, eval_fn: Callable[..., Any], export_fn: Callable[..., Any], model_dir: Any):
        self._eval_fn = eval_fn
        self._export_fn = export_fn
        self._model_dir = model_dir
        self._latest_path: str | None = None
        self.eval_result: Any = None
        self.export_results: Any = None

    def after_save(self, session: Any, global_step_value: Any) -> None:
        latest = latest_checkpoint(self._model_dir)
        if not latest or latest == self._latest_path:
            logging.warning("Skipping evaluation and export: there is no new checkpoint.")
            return
        self._latest_path = latest
        self.eval_result = self._eval_fn(name="intermediate_export", checkpoint_path=latest)
        self.export_results = self._export_fn(self.eval_result, checkpoint_path=latest)


def _goes_on(predicate: Callable[..., bool], results: Any, checkpoint_path: Any) -> bool:
    if "checkpoint_path" in fn_args(predicate):
        return bool(predicate(results, checkpoint_path=checkpoint_path))
    return bool(predicate(results))
