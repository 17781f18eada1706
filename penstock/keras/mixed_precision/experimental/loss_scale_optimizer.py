"""An optimizer that scales the loss, so that gradients of 16 bits don't vanish."""

from __future__ import annotations

from typing import Any, NoReturn

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.optimizers.base import OptimizerV2
from penstock.layers.smart_cond import smart_cond
from penstock.train import loss_scale as loss_scales

__all__ = ["LossScaleOptimizer"]


def _of_optimizer(name: str) -> Any:
    """A property that the optimizer inside has."""

    def get(self: LossScaleOptimizer) -> Any:
        return getattr(self._optimizer, name)

    def set_(self: LossScaleOptimizer, value: Any) -> None:
        setattr(self._optimizer, name, value)

    return property(get, set_)


class LossScaleOptimizer(OptimizerV2):
    """Lets another optimizer train on a scaled loss, and scales its gradients back.

    Who computes gradients with a tape does so of `get_scaled_loss(loss)` and applies
    `get_unscaled_gradients(gradients)`.

    Args:
      opt: the optimizer.
      loss_scale: a number, "dynamic", or a `tf.train.experimental.LossScale`. With a dynamic one, a
        step whose gradients are not finite changes nothing but the loss scale.
    """

    def __init__(self, opt: Any, loss_scale: Any):
        _check(opt)
        self._hyper = {}  # those of the optimizer inside
        self._slots = {}  # they are, and are saved as, those of the optimizer inside
        self._name = opt._name
        self._optimizer = opt
        scale: Any = loss_scales.get(loss_scale)
        self._loss_scale = scale
        owned = {"base_optimizer": opt, "loss_scale": scale}
        for name, value in owned.items():
            self._track_trackable(value, name)
        for variable in scale._weights.values():
            K.track_variable(variable)

    iterations = _of_optimizer("iterations")
    learning_rate = lr = _of_optimizer("learning_rate")

    @property
    def loss_scale(self) -> Any:
        """The loss scale."""
        return self._loss_scale

    def get_scaled_loss(self, loss: Any) -> Any:
        """A loss, or function that makes one, times the loss scale."""
        scale = self._loss_scale()
        if callable(loss) and not isinstance(loss, (tf.Tensor, tf.Variable)):
            return lambda: _times(loss(), scale)
        return _times(loss, scale)

    def get_unscaled_gradients(self, grads: Any) -> list[Any]:
        """Gradients of a scaled loss as those of the loss."""
        back = 1.0 / self._loss_scale()
        return [None if gradient is None else _times(gradient, back) for gradient in grads]

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None
    ) -> list[tuple[Any, Any]]:
        scaled = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        gradients, variables = zip(*scaled, strict=True) if scaled else ((), ())
        return list(zip(self.get_unscaled_gradients(gradients), variables, strict=True))

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        optimizer = self._optimizer
        return self.get_unscaled_gradients(
            optimizer.get_gradients(self.get_scaled_loss(loss), params)
        )

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """The operation that changes variables by gradients, if they are finite."""
        if tf.distribute.in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        # Replicas decide together: one for itself could not wait for the others in a branch.
        between = tf.distribute.get_replica_context().merge_call
        return between(self._apply_between_replicas, args=(tuple(grads_and_vars), name))

    def _apply_between_replicas(self, strategy: Any, pairs: Any, name: str | None) -> Any:
        local = strategy.experimental_local_results
        gradients = [part for gradient, _ in pairs for part in local(gradient)]
        adapted, should_apply = self._loss_scale.update(gradients)

        def applied() -> Any:
            each = strategy.extended.call_for_each_replica
            done = each(self._optimizer.apply_gradients, args=(pairs, name))
            return tf.group(local(done))

        return tf.group(smart_cond(should_apply, applied, tf.no_op), adapted)

    # What the optimizer inside has ----------------------------------------------------------------

    @property
    def weights(self) -> list[Any]:
        return self._optimizer.weights

    def variables(self) -> list[Any]:
        return self._optimizer.variables()

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def get_config(self) -> NoReturn:
        """Refused, as in TensorFlow 1.15."""
        raise NotImplementedError("get_config() is not yet implemented for LossScaleOptimizers")

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> NoReturn:
        """Refused, as in TensorFlow 1.15."""
        raise NotImplementedError("from_config() is not yet implemented for LossScaleOptimizers")


def _check(opt: Any) -> None:
    if not isinstance(opt, OptimizerV2):
        raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
    # Gradients would be clipped while they are scaled.
    for limit in ("clipnorm", "clipvalue"):
        if hasattr(opt, limit):
            raise ValueError(
                f"LossScaleOptimizer does not support wrapping optimizers with a {limit}, got "
                f"{limit}={getattr(opt, limit)} of {opt}"
            )


def _times(value: Any, factor: Any) -> Any:
    if isinstance(value, tf.IndexedSlices):
        return tf.IndexedSlices(_times(value.values, factor), value.indices, value.dense_shape)
    return value * tf.cast(factor, value.dtype)
