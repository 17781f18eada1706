"""Checks of what models under strategies are given: values of replicas, callbacks, datasets."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.data.dataset import get_legacy_output_shapes
from penstock.keras import callbacks as keras_callbacks
from penstock.keras.optimizers import OptimizerV2
from penstock.ops.tensor_values import is_tensor
from penstock.platform import logging


def validate_callbacks(input_callbacks: Any, optimizer: Any) -> None:
    """Refuses callbacks that an optimizer of `tf.train` can't answer to."""
    schedulers = (keras_callbacks.LearningRateScheduler, keras_callbacks.ReduceLROnPlateau)
    for callback in input_callbacks or ():
        if isinstance(callback, schedulers) and not isinstance(optimizer, OptimizerV2):
            raise ValueError(
                f"You must specify a Keras Optimizer V2 when using {callback} callback with "
                "DistributionStrategy."
            )
        if isinstance(callback, keras_callbacks.TensorBoard) and getattr(
            callback, "write_grads", False
        ):
            logging.warning(
                "`write_grads` in the TensorBoard callback is not supported when using "
                "DistributionStrategy. Setting `write_grads` to `False`."
            )
            callback.write_grads = False


def validate_distributed_dataset_inputs(
    distribution_strategy: Any, x: Any, y: Any, sample_weights: Any = None
) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """The first replica's inputs, labels and weights, once those of all replicas agree."""
    inputs = validate_per_replica_inputs(distribution_strategy, x)
    labels, weights = (
        None if each is None else validate_per_replica_inputs(distribution_strategy, each)
        for each in (y, sample_weights)
    )
    return inputs, labels, weights


def validate_per_replica_inputs(distribution_strategy: Any, x: Any) -> list[Any]:
    """The first replica's value of each of a structure's tensors; ValueError if others differ."""
    firsts = []
    for value in tf.nest.flatten(x, expand_composites=True):
        if not is_tensor(value):
            raise ValueError(
                "Dataset input to the model should be tensors instead they are of type "
                f"{type(value)}"
            )
        parts = distribution_strategy.experimental_local_results(value)
        if not tf.executing_eagerly():
            validate_all_tensor_shapes(value, parts)
        validate_all_tensor_types(value, parts)
        firsts.append(parts[0])
    return firsts


def validate_all_tensor_types(x: Any, x_values: Any) -> None:
    """Raises ValueError if the replicas' tensors are of several types."""
    if any(value.dtype != x_values[0].dtype for value in x_values):
        raise ValueError(f"Input tensor dtypes do not match for distributed tensor inputs {x}")


def validate_all_tensor_shapes(x: Any, x_values: Any) -> None:
    """Raises ValueError if the replicas' tensors are of several static shapes."""
    first = x_values[0].shape.as_list()
    if any(value.shape.as_list() != first for value in x_values):
        raise ValueError(f"Input tensor shapes do not match for distributed tensor inputs {x}")


def validate_inputs(x: Any, y: Any) -> None:
    """Refuses iterators: strategies take datasets, of which they make iterators themselves."""
    if any(isinstance(each, tf.data.Iterator) for each in (x, y)):
        raise ValueError(
            "`DistributionStrategy` does not support inputs of type Iterator. You must pass a "
            "`tf.data.Dataset` object or a numpy array as input."
        )


def is_dataset_shape_fully_defined(dataset: Any) -> bool:
    """Whether all elements of a dataset have one shape that is known."""
    shapes = tf.nest.flatten(get_legacy_output_shapes(dataset))
    return all(shape.is_fully_defined() for shape in shapes)


def flatten_per_replica_values(distribution_strategy: Any, per_replica_values: Any) -> list[Any]:
    """The values of all replicas of all of a structure's elements, one after the other."""
    return [
        value
        for each in tf.nest.flatten(per_replica_values)
        for value in distribution_strategy.experimental_local_results(each)
    ]


def concat_along_batch_dimension(outputs: Any) -> Any:
    """Parts of a batch as one: arrays, sparse or ragged tensors."""
    if isinstance(outputs[0], tf.SparseTensor):
        return tf.sparse.concat(axis=0, sp_inputs=outputs)
    return tf.concat(outputs, axis=0)
