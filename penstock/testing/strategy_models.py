"""Small models that tests of strategies train: TensorFlow's `single_loss_example`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.data import Dataset
from penstock.distribute.training_steps import StandardSingleLossStep
from penstock.ir.collections import GraphKeys
from penstock.keras.optimizers import OptimizerV2
from penstock.layers import BatchNormalization, Dense
from penstock.ops.control import control_dependencies, get_collection
from penstock.ops.math import reduce_mean, reduce_sum
from penstock.ops.shaping import reshape

_Made = tuple[Callable[..., Any], Callable[[], Any], Any]


def single_loss_example(
    optimizer_fn: Callable[[], Any],
    distribution: Any,
    use_bias: bool = False,
    iterations_per_step: int = 1,
) -> tuple[StandardSingleLossStep, Any]:
    """The training step of a layer of one unit that learns to be 1, and the layer."""
    layer = Dense(1, use_bias=use_bias)
    step = StandardSingleLossStep(
        lambda: Dataset.from_tensors([[1.0]]).repeat(),
        lambda _, x: _squared_error(layer, x),
        optimizer_fn(),
        distribution,
        iterations_per_step,
    )
    return step, layer


def minimize_loss_example(
    optimizer: Any, use_bias: bool = False, use_callable_loss: bool = True
) -> _Made:
    """A model function of a layer that learns to be 1, its dataset function, and the layer."""
    layer = Dense(1, use_bias=use_bias)

    def model_fn(x: Any) -> Any:
        def loss() -> Any:
            return _squared_error(layer, x)

        if isinstance(optimizer, OptimizerV2):
            return optimizer.minimize(loss, lambda: layer.trainable_variables)
        return optimizer.minimize(loss if use_callable_loss else loss())

    def dataset_fn() -> Any:
        return Dataset.from_tensors([[1.0]]).repeat().batch(1, drop_remainder=True)

    return model_fn, dataset_fn, layer


def batchnorm_example(
    optimizer_fn: Callable[[], Any],
    batch_per_epoch: int = 1,
    momentum: float = 0.9,
    renorm: bool = False,
    update_ops_in_replica_mode: bool = False,
) -> _Made:
    """A model function with batch normalization, its dataset function, and that layer."""
    optimizer = optimizer_fn()
    batchnorm = BatchNormalization(renorm=renorm, momentum=momentum, fused=False)
    layer = Dense(1, use_bias=False)

    def model_fn(x: Any) -> Any:
        def loss() -> Any:
            y = batchnorm(x, training=True)
            updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops_in_replica_mode else []
            with control_dependencies(updates):
                return reduce_mean(reduce_sum(layer(y)) - 1.0)

        if isinstance(optimizer, OptimizerV2):
            return optimizer.minimize(loss, lambda: layer.trainable_variables)
        return optimizer.minimize(loss)

    def dataset_fn() -> Any:
        # Batches of 16 rows of 8 rising numbers; each begins 100 above the one before.
        first = np.arange(128, dtype=np.float32).reshape(16, 8)
        batches = np.stack([first + 100 * number for number in range(batch_per_epoch)])
        return Dataset.from_tensor_slices(batches).repeat()

    return model_fn, dataset_fn, batchnorm


def _squared_error(layer: Any, x: Any) -> Any:
    error = reshape(layer(x), []) - 1.0
    return error * error
