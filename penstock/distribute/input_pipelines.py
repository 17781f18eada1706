"""The inputs of replicas: iterators over datasets, and what their functions are told."""

from __future__ import annotations

import enum
from typing import Any

from penstock.ops.control import group


class InputReplicationMode(enum.Enum):
    """How an input function is used: one pipeline for each worker."""

    PER_WORKER = "PER_WORKER"


class InputContext:
    """What an input function may know of the cluster."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """A replica's part of a batch; ValueError if they can't have equal parts."""
        if global_batch_size % self._num_replicas_in_sync != 0:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync!r} "
            )
        return global_batch_size // self._num_replicas_in_sync


class DistributedIterator:
    """The inputs of the replicas; with one replica, those of a dataset."""

    def __init__(self, dataset: Any):
        self._iterator = dataset.make_initializable_iterator()

    @property
    def initializer(self) -> Any:
        return self._iterator.initializer

    def initialize(self) -> list[Any]:
        """The operations that start, or restart, the iterator."""
        return [self._iterator.initializer]

    def get_next(self, name: str | None = None) -> Any:
        """The next element."""
        return self._iterator.get_next(name)

    @property
    def output_types(self) -> Any:
        return self._iterator.output_types

    @property
    def output_shapes(self) -> Any:
        return self._iterator.output_shapes

    @property
    def output_classes(self) -> Any:
        return self._iterator.output_classes


class MultiStepContext:
    """What a step function of `experimental_run_steps_on_iterator` may hand out."""

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        return self._last_step_outputs

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Hands out a tensor of the last step."""
        self._last_step_outputs[name] = output

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        return self._non_tensor_outputs

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Hands out something that is not a tensor."""
        self._non_tensor_outputs[name] = output

    run_op: Any = None


def run_one_step(fn: Any, iterator: Any) -> MultiStepContext:
    """Builds a step function's operations for the next element."""
    made = MultiStepContext()
    made.run_op = group(fn(made, iterator.get_next()))
    return made
