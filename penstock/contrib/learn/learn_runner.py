"""`tf.contrib.learn.learn_runner`: runs an `Experiment`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.learn.experiment import Experiment
from penstock.contrib.learn.run_config import RunConfig, TaskType
from penstock.contrib.training.hparam import HParams


def run(
    experiment_fn: Callable[..., Any],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Makes an `Experiment` and runs one of its methods.

    Args:
      experiment_fn: makes it, of `output_dir`, or of `run_config` and `hparams`.
      output_dir: the directory of the model; or
      run_config: a `tf.contrib.learn.RunConfig` with such a directory, and
      hparams: hyperparameters.
      schedule: the name of the method; what the task of the cluster is for by default.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _made_with_config(experiment_fn, run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = _checked(experiment_fn(output_dir=output_dir))
    config = run_config or experiment.estimator.config
    return _execute_schedule(experiment, schedule or _default_schedule(config))


def tune(experiment_fn: Callable[..., Any], tuner: Any) -> None:
    """Lets a tuner run experiments until it has no further trial.

    Args:
      experiment_fn: makes an `Experiment` of `run_config` and `hparams`.
      tuner: its `next_trial` tells whether there is one, its `run_experiment` takes the function.
    """

    def make(run_config: Any, hparams: Any) -> Any:
        return _made_with_config(experiment_fn, run_config, hparams, require_hparams=True)

    while tuner.next_trial():
        tuner.run_experiment(make)


def _checked(experiment: Any) -> Any:
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "Experiment builder did not return an Experiment instance, got "
            f"{type(experiment)} instead."
        )
    return experiment


def _made_with_config(
    experiment_fn: Any, run_config: Any, hparams: Any, require_hparams: bool = False
) -> Any:
    if not isinstance(run_config, RunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    if hparams is not None and not isinstance(hparams, HParams):
        raise ValueError("`hparams` must be `HParams` instance")
    if require_hparams and hparams is None:
        raise ValueError("`hparams` cannot be `None`.")
    expected = run_config.uid()
    experiment = _checked(experiment_fn(run_config, hparams))
    used = experiment.estimator.config
    if not hasattr(used, "uid"):
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. It "
            "is likely a different `RunConfig` is passed to `Estimator` or the `config` "
            "constructor argument in `Estimator` is not set."
        )
    if used.uid() != expected:
        raise RuntimeError(
            "`RunConfig` instance is expected to be used by the `Estimator` inside the "
            f"`Experiment`. expected {expected}, but got {used.uid()}"
        )
    return experiment


def _execute_schedule(experiment: Any, schedule: str) -> Any:
    if not hasattr(experiment, schedule):
        raise ValueError(f"Schedule references non-existent task {schedule}")
    task = getattr(experiment, schedule)
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()


def _default_schedule(config: Any) -> str:
    cluster = config.cluster_spec if config else None
    if not cluster or sum(len(cluster.job_tasks(job)) for job in cluster.jobs) <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    schedules = {
        TaskType.MASTER: "train_and_evaluate",
        TaskType.PS: "run_std_server",
        TaskType.WORKER: "train",
    }
    if config.task_type not in schedules:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return schedules[config.task_type]
