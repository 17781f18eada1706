"""An estimator that trains a GAN: features are the generator's inputs, labels real data."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import estimator
from penstock.contrib.framework.variables import get_trainable_variables
from penstock.contrib.gan import eval as gan_eval
from penstock.contrib.gan import train as gan_train
from penstock.contrib.gan.models import _convert_tensor_or_l_or_d
from penstock.contrib.gan.namedtuples import GANLoss, GANModel

__all__ = ["GANEstimator", "SummaryType"]

_ModeKeys = estimator.ModeKeys


class SummaryType(enum.IntEnum):
    """What `GANEstimator` adds summaries of."""

    NONE = 0
    VARIABLES = 1
    IMAGES = 2
    IMAGE_COMPARISON = 3


_ADD: dict[SummaryType, Callable[..., None]] = {
    SummaryType.VARIABLES: gan_eval.add_gan_model_summaries,
    SummaryType.IMAGES: gan_eval.add_gan_model_image_summaries,
    SummaryType.IMAGE_COMPARISON: gan_eval.add_image_comparison_summaries,
}


def _told_mode(network: Callable[..., Any], mode: str) -> Callable[..., Any]:
    """A network with the estimator's mode filled in, if it asks for it."""
    if "mode" in inspect.signature(network).parameters:
        return functools.partial(network, mode=mode)
    return network


def _generator_alone(generator_fn: Callable[..., Any], generator_inputs: Any) -> GANModel:
    generator_fn = _told_mode(generator_fn, _ModeKeys.PREDICT)
    with tf.variable_scope("Generator") as scope:
        inputs = _convert_tensor_or_l_or_d(generator_inputs)
        generated = generator_fn(inputs)
    rest: list[Any] = [None] * 6
    return GANModel(inputs, generated, get_trainable_variables(scope), scope, generator_fn, *rest)


def _eval_spec(model: GANModel, loss: GANLoss, get_eval_metric_ops_fn: Any) -> Any:
    with tf.name_scope(None, "metrics", list(loss)):
        metrics = {
            "generator_loss": tf.metrics.mean(loss.generator_loss),
            "discriminator_loss": tf.metrics.mean(loss.discriminator_loss),
        }
        if get_eval_metric_ops_fn is not None:
            more = get_eval_metric_ops_fn(model)
            if not isinstance(more, dict):
                raise TypeError(f"get_eval_metric_ops_fn must return a dict, received: {more}")
            metrics.update(more)
    return estimator.EstimatorSpec(
        mode=_ModeKeys.EVAL,
        predictions=model.generated_data,
        loss=loss.generator_loss + loss.discriminator_loss,
        eval_metric_ops=metrics,
    )


class GANEstimator(estimator.Estimator):
    """Trains a generator against a discriminator, evaluates both, predicts generated data."""

    def __init__(
        self,
        model_dir: str | None = None,
        generator_fn: Any = None,
        discriminator_fn: Any = None,
        generator_loss_fn: Any = None,
        discriminator_loss_fn: Any = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_hooks_fn: Any = None,
        get_eval_metric_ops_fn: Any = None,
        add_summaries: Any = None,
        use_loss_summaries: bool | None = True,
        config: Any = None,
        warm_start_from: Any = None,
        is_chief: bool = True,
    ):
        """An estimator; networks are told `mode` if they have an argument of that name.

        Args:
          model_dir: where checkpoints are.
          generator_fn: see `tf.contrib.gan.gan_model`.
          discriminator_fn: see there.
          generator_loss_fn: a loss of a `GANModel`.
          discriminator_loss_fn: a loss of a `GANModel`.
          generator_optimizer: an optimizer, or a function that makes one.
          discriminator_optimizer: the same.
          get_hooks_fn: makes hooks of `GANTrainOps`; `get_sequential_train_hooks()` if None.
          get_eval_metric_ops_fn: makes a dictionary of metrics of a `GANModel`.
          add_summaries: a `SummaryType`, or several.
          use_loss_summaries: whether losses have summaries.
          config: a `RunConfig`.
          warm_start_from: a checkpoint, or `WarmStartSettings`.
          is_chief: whether hooks of synchronous optimizers are those of the chief.
        """
        if not callable(generator_loss_fn):
            raise ValueError("generator_loss_fn must be callable.")
        if not callable(discriminator_loss_fn):
            raise ValueError("discriminator_loss_fn must be callable.")
        if use_loss_summaries not in (True, False, None):
            raise ValueError("use_loss_summaries must be True, False or None.")
        if get_hooks_fn is not None and not callable(get_hooks_fn):
            raise TypeError("get_hooks_fn must be callable.")
        hooks_of = get_hooks_fn or gan_train.get_sequential_train_hooks()

        def training_spec(model: GANModel, loss: GANLoss) -> Any:
            of_generator, of_discriminator = (
                each() if callable(each) else each
                for each in (generator_optimizer, discriminator_optimizer)
            )
            train_ops = gan_train.gan_train_ops(
                model, loss, of_generator, of_discriminator, is_chief=is_chief
            )
            return estimator.EstimatorSpec(
                mode=_ModeKeys.TRAIN,
                loss=loss.generator_loss + loss.discriminator_loss,
                train_op=train_ops.global_step_inc_op,
                training_hooks=hooks_of(train_ops),
            )

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            if mode == _ModeKeys.PREDICT:
                if labels is not None:
                    raise ValueError(
                        f"`labels` must be `None` when mode is `predict`. Instead, found {labels}"
                    )
                generated = _generator_alone(generator_fn, features).generated_data
                return estimator.EstimatorSpec(mode=mode, predictions=generated)
            model = gan_train.gan_model(
                _told_mode(generator_fn, mode),
                _told_mode(discriminator_fn, mode),
                labels,
                features,
                check_shapes=False,
            )
            kinds = add_summaries if isinstance(add_summaries, (tuple, list)) else [add_summaries]
            with tf.name_scope(None):
                for kind in filter(None, kinds):
                    _ADD[kind](model)
            loss = GANLoss(
                generator_loss_fn(model, add_summaries=use_loss_summaries),
                discriminator_loss_fn(model, add_summaries=use_loss_summaries),
            )
            if mode == _ModeKeys.EVAL:
                return _eval_spec(model, loss, get_eval_metric_ops_fn)
            return training_spec(model, loss)

        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )
