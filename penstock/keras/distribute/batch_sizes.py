"""How arrays are cut into the batches that replicas share."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras.backend.v1_names import is_tpu_strategy


def global_batch_size_supported(distribution_strategy: Any) -> bool:
    """Whether a batch is that of all replicas together, not of each one."""
    return bool(distribution_strategy.extended._global_batch_size)


def get_input_params(
    distribution_strategy: Any,
    num_samples: int,
    steps: int | None,
    batch_size: int | None,
    mode: str | None = None,
) -> tuple[int, int]:
    """The number of steps and the batch size that go through so many samples.

    Args:
      steps: how many steps are wanted, if that is known.
      batch_size: the size that is wanted, if that is known.
      mode: "train", "test" or "predict"; some may end with a smaller batch.
    """
    replicas = distribution_strategy.num_replicas_in_sync
    is_per_replica = not global_batch_size_supported(distribution_strategy)
    may_be_partial = _may_be_partial(distribution_strategy, mode)
    whole = batch_size
    if batch_size is not None and is_per_replica:
        whole = batch_size * replicas
    if steps is None:
        whole = min(num_samples, 32) if whole is None else whole
        steps = _steps_for(num_samples, whole, may_be_partial)
    elif whole is None:
        whole = _size_for(num_samples, steps)
    else:
        _check_enough(num_samples, whole, steps, may_be_partial)
    if not is_per_replica:
        return steps, whole
    if whole % replicas:
        raise ValueError(
            f"The batch size ({whole}) could not be sharded evenly across the sync replicas "
            f"({replicas}) in the distribution strategy."
        )
    return steps, whole // replicas


def _may_be_partial(strategy: Any, mode: str | None) -> bool:
    if tf.executing_eagerly():
        return mode != "train" or not is_tpu_strategy(strategy)
    return mode == "train" or (mode in ("test", "predict") and is_tpu_strategy(strategy))


def _steps_for(samples: int, size: int, may_be_partial: bool) -> int:
    if may_be_partial:
        return int(np.ceil(samples / size))
    if samples % size:
        raise ValueError(f"The number of samples {samples} is not divisible by batch size {size}.")
    return samples // size


def _size_for(samples: int, steps: int) -> int:
    if samples % steps:
        raise ValueError(
            f"The number of samples {samples} is not divisible by steps {steps}. Please change the "
            "number of steps to a value that can consume all the samples"
        )
    return samples // steps


def _check_enough(samples: int, size: int, steps: int, may_be_partial: bool) -> None:
    needed = size * steps
    if may_be_partial:
        needed = size * (steps - 1) + 1 if steps > 1 else 0
    if samples < needed:
        raise ValueError(
            f"Number of samples {samples} is less than samples required for specified batch_size "
            f"{size} and steps {steps}"
        )
