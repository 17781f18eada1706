"""Sizes of batches that input layers fix."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.engine.model_inputs import get_static_batch_size


def check_batch_sizes_of_inputs(inputs: list[Any]) -> None:
    """ValueError for inputs of one model that fix different sizes of the batch."""
    sizes = [get_static_batch_size(each._keras_history.layer) for each in inputs]
    if len({size for size in sizes if size is not None}) > 1:
        raise ValueError(
            "The specified batch sizes of the Input Layers are incompatible. Found batch sizes: "
            f"{sizes}"
        )


def settled_batch_size(model: Any, data: Any, batch_size: int | None) -> int:
    """The size of batches of arrays: what was given, what the model's input fixes, or 32.

    Args:
      data: what the batches are taken from; a dataset gives them itself.
    """
    layers = model._layers
    fixed = get_static_batch_size(layers[0]) if layers else None
    if batch_size is not None:
        batch_size *= batches_of_a_step(model)
    if fixed is None:
        return batch_size or 32
    strategy = model._distribution_strategy
    replicas = 1 if strategy is None else strategy.num_replicas_in_sync
    if batch_size is not None:
        if batch_size % replicas:
            raise ValueError(
                f"a batch of {batch_size} can't be shared out evenly among {replicas} replicas"
            )
        if batch_size // replicas != fixed:
            raise ValueError(
                f"The `batch_size` argument value {batch_size // replicas} is incompatible with "
                f"the specified batch size of your Input Layer: {fixed}"
            )
    if isinstance(data, tf.data.Dataset):
        _check_batches_of_dataset(data, replicas // batches_of_a_step(model), fixed)
    return fixed * replicas


def batches_of_a_step(model: Any) -> int:
    """How many batches a step takes: one for each replica, with strategies of `tf.contrib`."""
    strategy = model._distribution_strategy
    if strategy is None or strategy.extended._global_batch_size:
        return 1
    return int(strategy.num_replicas_in_sync)


def _check_batches_of_dataset(dataset: Any, replicas: int, fixed: int) -> None:
    shape = tf.nest.flatten(tf.data.get_output_shapes(dataset))[0]
    given = shape.as_list()[0] if shape.ndims else None
    if given is None:
        return
    if given % replicas:
        raise ValueError(
            f"the dataset's batches of {given} can't be shared out evenly among {replicas} replicas"
        )
    if given // replicas != fixed:
        raise ValueError(
            f"The batch output shape of your `Dataset` is {given // replicas}, which is "
            f"incompatible with the specified batch size of your Input Layer: {fixed}"
        )
