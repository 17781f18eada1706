"""`tf.layers.batch_normalization`."""

from __future__ import annotations

from typing import Any

from penstock.layers.base import Layer
from penstock.layers.identifiers import ONES, ZEROS
from penstock.layers.kinds import batch_normalization as kind

__all__ = ["BatchNormalization", "batch_normalization"]


class BatchNormalization(kind.BatchNormalization, Layer):
    """Batch normalization with variables in a variable scope.

    The operations that update the moving averages are in the collection `UPDATE_OPS`: a training
    step must run them.
    """


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = ZEROS,
    gamma_initializer: Any = ONES,
    moving_mean_initializer: Any = ZEROS,
    moving_variance_initializer: Any = ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Any:
    """Normalizes each feature by its mean and variance, then scales and shifts it.

    The operations that update the moving averages are in the collection `UPDATE_OPS`: a training
    step must run them.

    Args:
      axis: axis of the features, or a list of axes.
      training: a Python bool or a tensor; whether to use the batch's statistics.
      fused: whether to use the fused op; None uses it where possible.
    """
    layer = BatchNormalization(
        axis=axis,
        momentum=momentum,
        epsilon=epsilon,
        center=center,
        scale=scale,
        beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer,
        moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer,
        beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer,
        beta_constraint=beta_constraint,
        gamma_constraint=gamma_constraint,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_momentum,
        fused=fused,
        trainable=trainable,
        virtual_batch_size=virtual_batch_size,
        adjustment=adjustment,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs, training=training)


BatchNorm = BatchNormalization
batch_norm = batch_normalization
