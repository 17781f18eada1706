"""The configuration of TPUs; what is of no use without them is kept and ignored."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.estimator.cluster_task import ClusterTask, TaskType
from penstock.estimator.run_config import RunConfig as CoreRunConfig


class InputPipelineConfig:
    """How many input functions feed the cores of a TPU."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


def _check_positive(value: Any, name: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value < 1:
        raise ValueError(f"{name} must be positive, got {value}")


#: How long a loop on a TPU runs: a number of iterations ("count"), or of "seconds".
IterationsPerLoopCounter = namedtuple("IterationsPerLoopCounter", ["value", "unit"])

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_iterations_per_loop(iterations_per_loop: Any) -> IterationsPerLoopCounter:
    """Reads a number of iterations, or a time: `3600s`, `60m` or `1h`."""
    found = re.fullmatch(r"([1-9]\d*)([smh]?)", str(iterations_per_loop))
    if found is None:
        raise ValueError(
            "TPUConfig: `iterations_per_loop` must be positive: a number of iterations, or a time "
            f"in seconds, minutes or hours (`3600s`, `60m`, `1h`); got {iterations_per_loop!r}."
        )
    value, suffix = int(found[1]), found[2]
    if not suffix:
        return IterationsPerLoopCounter(value, "count")
    return IterationsPerLoopCounter(value * _SECONDS[suffix], "seconds")


def _job_name() -> str | None:
    """The name of the TPUs' job in TF_CONFIG."""
    service = json.loads(os.environ.get("TF_CONFIG", "{}")).get("service", {})
    name: str | None = service.get("tpu_worker_job_name")
    return name


class TPUConfig(
    namedtuple(
        "TPUConfig",
        [
            "iterations_per_loop",
            "num_shards",
            "num_cores_per_replica",
            "per_host_input_for_training",
            "tpu_job_name",
            "initial_infeed_sleep_secs",
            "input_partition_dims",
            "eval_training_input_configuration",
            "experimental_host_call_every_n_steps",
        ],
    )
):
    """Settings of a TPU."""

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: Any = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        parse_iterations_per_loop(iterations_per_loop)
        if num_shards is not None:
            _check_positive(num_shards, "TPUConfig num_shards")
        if initial_infeed_sleep_secs:
            _check_positive(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError(
                    "input_partition_dims must be a list/tuple with one or two elements, got "
                    f"{input_partition_dims}."
                )
            if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
            if num_cores_per_replica is None:
                raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
        if eval_training_input_configuration not in (
            InputPipelineConfig.PER_HOST_V1,
            InputPipelineConfig.SLICED,
        ):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        if num_cores_per_replica not in (None, 1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError(
                "num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got "
                f"{num_cores_per_replica}"
            )
        if per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        elif per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name or _job_name(),
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


class RunConfig(CoreRunConfig):
    """A `tf.estimator.RunConfig` with the settings of a TPU.

    Args:
      tpu_config: a `TPUConfig`.
      evaluation_master: the target of sessions for evaluation; `master` by default.
      master: the target of sessions.
      cluster: a cluster resolver instead of `master`.
      **kwargs: arguments of `tf.estimator.RunConfig`.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        if cluster is not None:
            master = cluster.master()
        if master is not None:
            self._task = dataclasses.replace(self._task, master=master)
        evaluates_with = evaluation_master
        if evaluates_with is None:
            evaluates_with = self._task.evaluation_master
            # For an evaluator, whoever manages the cluster has decided.
            if not evaluates_with and self.task_type != TaskType.EVALUATOR:
                evaluates_with = self._task.master
        self._task = dataclasses.replace(self._task, evaluation_master=evaluates_with)
        if cluster is not None:
            self._join(cluster.cluster_spec())

    def _join(self, cluster_spec: Any) -> None:
        """Lets sessions know the cluster that a resolver found."""
        self._task = dataclasses.replace(self._task, cluster_spec=cluster_spec)
        if self._session_config is None:
            self._session_config = tf.ConfigProto(
                allow_soft_placement=True, isolate_session_state=True
            )
        if self._session_config.HasField("cluster_def"):
            raise ValueError(
                "RunConfig: with a ClusterResolver, session_config.cluster_def must not be set."
            )
        if cluster_spec:
            self._session_config.cluster_def.CopyFrom(cluster_spec.as_cluster_def())

    def _session_config_of(self, task: ClusterTask) -> Any:
        return None  # one session drives all tasks: it must see all devices

    @property
    def tpu_config(self) -> TPUConfig:
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        return self._cluster

    def replace(self, **kwargs: Any) -> Any:
        """A copy with other properties; `tpu_config` can be replaced too."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        replaced = super().replace(**kwargs)
        replaced._tpu_config = tpu_config
        return replaced
