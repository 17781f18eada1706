"""`tf.estimator.RunConfig`: where and how an Estimator runs."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock.estimator.argument_names import fn_args
from penstock.estimator.cluster_task import ClusterTask, TaskType
from penstock.platform import logging

_USE_DEFAULT = object()

_SAVE_CKPT_ERR = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."

#: What `replace` can change.
_DEFAULT_REPLACEABLE_LIST = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
]

#: What a property must be, if it is set, and what to say if it isn't.
_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (bool, "model_dir should be non-empty"),
    "save_summary_steps": (lambda n: n >= 0, "save_summary_steps should be >= 0"),
    "save_checkpoints_steps": (lambda n: n >= 0, "save_checkpoints_steps should be >= 0"),
    "save_checkpoints_secs": (lambda n: n >= 0, "save_checkpoints_secs should be >= 0"),
    "session_config": (
        lambda config: isinstance(config, tf.ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    "keep_checkpoint_max": (lambda n: n >= 0, "keep_checkpoint_max should be >= 0"),
    "keep_checkpoint_every_n_hours": (
        lambda n: n > 0,
        "keep_checkpoint_every_n_hours should be > 0",
    ),
    "log_step_count_steps": (lambda n: n > 0, "log_step_count_steps should be > 0"),
    "tf_random_seed": (lambda seed: isinstance(seed, int), "tf_random_seed must be integer."),
    "experimental_max_worker_delay_secs": (
        lambda secs: isinstance(secs, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    "session_creation_timeout_secs": (
        lambda secs: secs > 0,
        "session_creation_timeout_secs should be > 0",
    ),
    "device_fn": (
        lambda fn: callable(fn) and set(fn_args(fn)) == {"op"},
        'device_fn must be callable with exactly one argument "op".',
    ),
    "protocol": (
        lambda protocol: protocol in ("grpc", "grpc+verbs"),
        "protocol should be grpc or grpc+verbs",
    ),
}


def get_default_session_config() -> Any:
    """The configuration of a session that an Estimator opens when none is given."""
    config = tf.ConfigProto(allow_soft_placement=True)
    rewrites = config.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return config


def path_to_str(path: Any) -> Any:
    """A path object as a string; anything else as it is."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path


class RunConfig:
    """Where an Estimator keeps its model, how often it saves, and on which cluster it runs.

    The cluster is read from the variable TF_CONFIG in the environment.

    Args:
      model_dir: the directory of checkpoints and event files.
      tf_random_seed: the seed of the graph.
      save_summary_steps: write summaries every so many steps.
      save_checkpoints_steps: save a checkpoint every so many steps, or
      save_checkpoints_secs: every so many seconds (600 by default).
      session_config: a `ConfigProto`.
      keep_checkpoint_max: how many checkpoints to keep; all if 0.
      keep_checkpoint_every_n_hours: keep one of each so many hours for good.
      log_step_count_steps: log the loss and the steps per second every so many steps.
      train_distribute: a distribution strategy for training.
      device_fn: a function from an operation to its device.
      protocol: the protocol of servers.
      eval_distribute: a distribution strategy for evaluation.
      experimental_distribute: options of distribution.
      experimental_max_worker_delay_secs: the longest a worker waits before it starts.
      session_creation_timeout_secs: how long a worker waits for the chief.
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_steps: Any = _USE_DEFAULT,
        save_checkpoints_secs: Any = _USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Any = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
    ):
        steps, secs = _checkpoint_frequency(save_checkpoints_steps, save_checkpoints_secs)
        tf_config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        if tf_config:
            logging.info("TF_CONFIG environment variable: %s", tf_config)
        by_option = experimental_distribute
        _check_given_once("train", train_distribute, by_option)
        _check_given_once("eval", eval_distribute, by_option)
        trained = train_distribute or (by_option and by_option.train_distribute)
        if trained or eval_distribute or by_option:
            from penstock.estimator import coordinated

            mode = coordinated.coordinator_mode(tf_config, trained, by_option)
            self._distribute_coordinator_mode = mode
            self._is_coordinated = coordinated.is_left_to_coordinator(mode, trained)
        is_no_task = self._is_coordinated and "task" not in tf_config
        self._task = self._task_of(
            {} if is_no_task else tf_config, has_strategy=trained is not None
        )
        RunConfig._replace(
            self,
            allowed_properties_list=_DEFAULT_REPLACEABLE_LIST,
            model_dir=_model_dir(tf_config, path_to_str(model_dir)),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=steps,
            save_checkpoints_secs=secs,
            session_config=(
                self._session_config_of(self._task)
                if session_config is None and not self._is_coordinated
                else session_config
            ),
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )

    def _task_of(self, tf_config: Mapping[str, Any], has_strategy: bool = False) -> ClusterTask:
        return ClusterTask.of(tf_config, has_strategy=has_strategy)

    def _session_config_of(self, task: ClusterTask) -> Any:
        return _session_config_in_cluster(task)

    def replace(self, **kwargs: Any) -> Any:
        """A copy with other properties; those of the cluster can't be changed."""
        return RunConfig._replace(
            copy.deepcopy(self), allowed_properties_list=_DEFAULT_REPLACEABLE_LIST, **kwargs
        )

    @staticmethod
    def _replace(
        config: Any, allowed_properties_list: list[str] | None = None, **kwargs: Any
    ) -> Any:
        allowed = allowed_properties_list or []
        for key, value in kwargs.items():
            if key not in allowed:
                raise ValueError(
                    f"Replacing {key} is not supported. Allowed properties are {allowed}."
                )
            setattr(config, f"_{key}", value)
        _settle_checkpoint_frequency(config, kwargs)
        for name, (holds, message) in _RULES.items():
            value = getattr(config, f"_{name}")
            if value is not None and not holds(value):
                raise ValueError(message)
        return config

    # Of the cluster -----------------------------------------------------------------------------

    @property
    def cluster_spec(self) -> Any:
        return self._task.cluster_spec

    @property
    def task_type(self) -> str | None:
        return self._task.task_type

    @property
    def task_id(self) -> int | None:
        return self._task.task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """The number of this task among all of the cluster."""
        return self._task.global_id_in_cluster

    @property
    def master(self) -> str:
        return self._task.master

    @property
    def evaluation_master(self) -> str:
        return self._task.evaluation_master

    @property
    def num_ps_replicas(self) -> int:
        return self._task.num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        return self._task.num_worker_replicas

    @property
    def is_chief(self) -> bool:
        return self._task.is_chief

    @property
    def service(self) -> dict[str, Any] | None:
        return self._task.service

    # Of the run ---------------------------------------------------------------------------------

    @property
    def model_dir(self) -> Any:
        return self._model_dir

    @property
    def tf_random_seed(self) -> int | None:
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int:
        return self._save_summary_steps

    @property
    def save_checkpoints_steps(self) -> int | None:
        return self._save_checkpoints_steps

    @property
    def save_checkpoints_secs(self) -> int | None:
        return self._save_checkpoints_secs

    @property
    def session_config(self) -> Any:
        return self._session_config

    @property
    def keep_checkpoint_max(self) -> int:
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        return self._log_step_count_steps

    @property
    def train_distribute(self) -> Any:
        options = self._experimental_distribute
        return self._train_distribute or (options and options.train_distribute)

    @property
    def eval_distribute(self) -> Any:
        options = self._experimental_distribute
        return self._eval_distribute or (options and options.eval_distribute)

    @property
    def device_fn(self) -> Any:
        return self._device_fn

    @property
    def protocol(self) -> str | None:
        return self._protocol

    @property
    def experimental_max_worker_delay_secs(self) -> int | None:
        return self._experimental_max_worker_delay_secs

    @property
    def session_creation_timeout_secs(self) -> float:
        return self._session_creation_timeout_secs

    _is_coordinated = False  # whether a coordinator has still to tell strategies of the cluster
    _distribute_coordinator_mode: str | None
    _model_dir: Any
    _tf_random_seed: int | None
    _save_summary_steps: int
    _save_checkpoints_steps: int | None
    _save_checkpoints_secs: int | None
    _session_config: Any
    _keep_checkpoint_max: int
    _keep_checkpoint_every_n_hours: float
    _log_step_count_steps: int | None
    _train_distribute: Any
    _eval_distribute: Any
    _experimental_distribute: Any
    _device_fn: Any
    _protocol: str | None
    _experimental_max_worker_delay_secs: int | None
    _session_creation_timeout_secs: float


def _check_given_once(what: str, strategy: Any, options: Any) -> None:
    if strategy and options and getattr(options, f"{what}_distribute"):
        raise ValueError(
            f"Either `{what}_distribute` or `experimental_distribute.{what}_distribute` can be set."
        )


def _checkpoint_frequency(steps: Any, secs: Any) -> tuple[Any, Any]:
    """Steps and seconds between checkpoints: at most one of them is set."""
    if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
        return None, 600
    steps = None if steps is _USE_DEFAULT else steps
    secs = None if secs is _USE_DEFAULT else secs
    if steps is not None and secs is not None:
        raise ValueError(_SAVE_CKPT_ERR)
    return steps, secs


def _settle_checkpoint_frequency(config: Any, replaced: Mapping[str, Any]) -> None:
    """The frequency that is set last counts, and not the other."""
    steps = replaced.get("save_checkpoints_steps")
    secs = replaced.get("save_checkpoints_secs")
    if steps is not None and secs is not None:
        raise ValueError(_SAVE_CKPT_ERR)
    if steps is not None:
        config._save_checkpoints_secs = None
    if secs is not None:
        config._save_checkpoints_steps = None


def _model_dir(tf_config: Mapping[str, Any], given: Any) -> Any:
    configured = tf_config.get("model_dir")
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    if configured == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if configured and given and configured != given:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the "
            f'model_dir in TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {configured}.\n'
        )
    if configured:
        logging.info("Using model_dir in TF_CONFIG: %s", configured)
    return given or configured


def _session_config_in_cluster(task: ClusterTask) -> Any:
    """A task of a cluster talks to the servers of variables alone, not to other workers."""
    if not task.cluster_spec:
        return None
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task.task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task.task_type or "")
    if filters is None:
        return None
    return tf.ConfigProto(allow_soft_placement=True, device_filters=filters)
