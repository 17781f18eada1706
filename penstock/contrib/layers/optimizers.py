"""`optimize_loss`: one call for a training step with noise, clipping and summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import penstock as tf
from penstock.ir.composite import IndexedSlices
from penstock.train.moving_averages import assign_moving_average

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

GradientsAndVariables = list[tuple[Any, Any]]

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]

_NORMS = {"global_gradient_norm", "gradient_norm"}


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Any = None,
    variables: Sequence[Any] | None = None,
    name: Any = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Any:
    """The loss, as a tensor whose evaluation trains.

    Args:
      learning_rate: a float, which becomes a variable, or a scalar tensor.
      optimizer: a name of `OPTIMIZER_CLS_NAMES`, a class, an optimizer, or a function of the rate.
      gradient_noise_scale: deviation of noise to add to gradients.
      gradient_multipliers: factors by variable or by its name.
      clip_gradients: the greatest global norm, or a function of gradients and variables.
      learning_rate_decay_fn: a function of rate and step.
      update_ops: run before the loss; by default those of the collection `UPDATE_OPS`.
      summaries: which of `OPTIMIZER_SUMMARIES` to make.
    """
    loss = tf.convert_to_tensor(loss)
    tf.assert_scalar(loss)
    if global_step is None:
        global_step = tf.train.get_global_step()
    else:
        tf.train.assert_global_step(global_step)
    with tf.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = dict.fromkeys(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        if update_ops:
            loss = _after(list(update_ops), loss)
        rate = _learning_rate(learning_rate)
        shown = _checked_summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in shown:
                tf.summary.scalar("learning_rate", rate)
        chosen = _optimizer(optimizer, rate)
        gradients = chosen.compute_gradients(
            loss,
            tf.trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            gradients = _with_noise(gradients, gradient_noise_scale)
        if gradient_multipliers is not None:
            gradients = _multiplied(gradients, gradient_multipliers)
            if not gradients:
                raise ValueError(
                    "Empty list of (gradient, var) pairs encountered. This is most likely to be "
                    "caused by an improper value of gradient_multipliers."
                )
        if _NORMS & shown:
            _summarize_norm("global_norm/gradient_norm", gradients)
        clipped = _clipped(gradients, clip_gradients)
        if "loss" in shown:
            tf.summary.scalar("loss", loss)
        _summarize_gradients(clipped, shown)
        if clip_gradients is not None and _NORMS & shown:
            _summarize_norm("global_norm/clipped_gradient_norm", clipped)
        updates = chosen.apply_gradients(
            clipped, global_step=global_step if increment_global_step else None, name="train"
        )
        return _after([updates], loss)


def _after(operations: Sequence[Any], value: Any) -> Any:
    with (
        tf.name_scope(None, "control_dependency", [*operations, value]) as scope,
        tf.colocate_with(value),
        tf.control_dependencies(operations),
    ):
        return tf.identity(value, name=scope)


def _learning_rate(given: Any) -> Any:
    if given is None:
        return None
    if isinstance(given, tf.Tensor) and given.get_shape().ndims == 0:
        return given
    if isinstance(given, float):
        if given < 0.0:
            raise ValueError("Invalid learning_rate %s.", given)
        initializer = tf.constant_initializer(given)
        return tf.get_variable("learning_rate", [], trainable=False, initializer=initializer)
    raise ValueError(
        f"Learning rate should be 0d Tensor or float. Got {given} of type {type(given)}"
    )


def _checked_summaries(given: Sequence[str] | None) -> set[str]:
    if given is None:
        return {"loss", "learning_rate", "global_gradient_norm"}
    for each in given:
        if each not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{each}."
            )
    return set(given)


def _optimizer(given: Any, rate: Any) -> Any:
    """The optimizer, from all the ways to say which."""
    if isinstance(given, str):
        _require_rate(rate, "string", given)
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you "
                f"provided {given}."
            )
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    if isinstance(given, type) and issubclass(given, tf.train.Optimizer):
        _require_rate(rate, "class", given)
        return _made(given, rate)
    if isinstance(given, tf.train.Optimizer):
        return given
    if callable(given):
        made = given() if rate is None else given(rate)
        if not isinstance(made, tf.train.Optimizer):
            raise ValueError(
                f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
            )
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
        f"Optimizer or function with one argument. Got {given}."
    )


def _made(optimizer_class: Any, rate: Any) -> Any:
    return optimizer_class(learning_rate=rate)


def _require_rate(rate: Any, kind: str, given: Any) -> None:
    if rate is None:
        raise ValueError(
            f"Learning rate is None, but should be specified if optimizer is {kind} ({given})."
        )


def _summarize_norm(tag: str, gradients: GradientsAndVariables) -> None:
    tf.summary.scalar(tag, tf.global_norm([gradient for gradient, _ in gradients]))


def _summarize_gradients(gradients: GradientsAndVariables, shown: set[str]) -> None:
    for gradient, variable in gradients:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is None:
            continue
        tag = variable.name.replace(":", "_")
        if "gradients" in shown:
            tf.summary.histogram(f"gradients/{tag}", values)
        if "gradient_norm" in shown:
            tf.summary.scalar(f"gradient_norm/{tag}", tf.global_norm([values]))


def _clipped(gradients: GradientsAndVariables, clip: Any) -> GradientsAndVariables:
    if clip is None:
        return gradients
    if isinstance(clip, float):
        values, variables = zip(*gradients, strict=True)
        clipped, _ = tf.clip_by_global_norm(values, clip)
        return list(zip(clipped, variables, strict=True))
    if callable(clip):
        return list(clip(gradients))
    raise ValueError(f"Unknown type {type(clip)} for clip_gradients")


def _with_noise(gradients: GradientsAndVariables, scale: float) -> GradientsAndVariables:
    noisy: GradientsAndVariables = []
    for gradient, variable in gradients:
        if gradient is not None:
            is_sparse = isinstance(gradient, IndexedSlices)
            shape = gradient.dense_shape if is_sparse else gradient.get_shape()
            gradient = gradient + tf.truncated_normal(shape) * scale
        noisy.append((gradient, variable))
    return noisy


def _scaled(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _multiplied(
    gradients: GradientsAndVariables, multipliers: Mapping[Any, Any]
) -> GradientsAndVariables:
    multiplied: GradientsAndVariables = []
    for gradient, variable in gradients:
        key = variable if variable in multipliers else variable.name
        if gradient is not None and key in multipliers:
            factor = multipliers[key]
            if not isinstance(gradient, IndexedSlices):
                factor = tf.cast(factor, gradient.dtype)
            gradient = _scaled(gradient, factor)
        multiplied.append((gradient, variable))
    return multiplied


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: Any = None,
) -> Callable[[GradientsAndVariables], GradientsAndVariables]:
    """A function for `clip_gradients` that scales down gradients with unusually large norms.

    Args:
      std_factor: how many deviations above its mean the logarithm of a norm may be.
      decay: weight of the past in the moving averages of the logarithm and of its square.
      static_max_norm: the greatest norm in any case.
    """

    def gradient_clipping(grads_and_vars: GradientsAndVariables) -> GradientsAndVariables:
        norm = tf.global_norm([gradient for gradient, _ in grads_and_vars])
        greatest, mean = _adaptive_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            tf.summary.scalar("global_norm/adaptive_max_gradient_norm", greatest)
        factor = tf.where(norm < greatest, tf.ones_like(norm), tf.exp(mean) / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)
        return [
            (None if gradient is None else _scaled(gradient, factor), variable)
            for gradient, variable in grads_and_vars
        ]

    return gradient_clipping


def _adaptive_norm(
    norm: Any, std_factor: float, decay: Any, global_step: Any, epsilon: float, name: Any
) -> tuple[Any, Any]:
    """The greatest usual norm, and the mean of the logarithm of norms."""
    with tf.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        logarithm = tf.log(norm + epsilon)
        if global_step is not None:
            n = tf.cast(global_step, tf.float32)
            decay = tf.minimum(decay, n / (n + 1.0))
        mean = _moving_average("mean", logarithm, decay)
        variance = _moving_average("sq_mean", tf.square(logarithm), decay) - tf.square(mean)
        deviation = tf.sqrt(tf.maximum(epsilon, variance))
        return tf.exp(mean + std_factor * deviation), mean


def _moving_average(name: str, value: Any, decay: Any) -> Any:
    average = tf.get_variable(
        name,
        shape=value.get_shape(),
        dtype=value.dtype,
        initializer=tf.zeros_initializer(),
        trainable=False,
    )
    return assign_moving_average(average, value, decay, zero_debias=False)
