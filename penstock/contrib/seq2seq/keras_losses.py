"""The loss of predicted sequences, for models of Keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.loss import sequence_loss
from penstock.keras.losses import Loss

__all__ = ["SequenceLoss"]


class SequenceLoss(Loss):
    """`sequence_loss` as a loss of Keras; its weights are those of the steps."""

    def __init__(
        self,
        average_across_timesteps: bool = False,
        average_across_batch: bool = False,
        sum_over_timesteps: bool = True,
        sum_over_batch: bool = True,
        softmax_loss_function: Callable[..., Any] | None = None,
        name: str | None = None,
    ):
        super().__init__(name=name)
        self.average_across_timesteps = average_across_timesteps
        self.average_across_batch = average_across_batch
        self.sum_over_timesteps = sum_over_timesteps
        self.sum_over_batch = sum_over_batch
        self.softmax_loss_function = softmax_loss_function

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of classes and logits."""
        return sequence_loss(
            y_pred,
            y_true,
            sample_weight,
            average_across_timesteps=self.average_across_timesteps,
            average_across_batch=self.average_across_batch,
            sum_over_timesteps=self.sum_over_timesteps,
            sum_over_batch=self.sum_over_batch,
            softmax_loss_function=self.softmax_loss_function,
            name=self.name,
        )

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Each step's loss, all steps weighing the same."""
        weights = tf.ones(tf.shape(y_true), y_pred.dtype)
        return sequence_loss(y_pred, y_true, weights, False, False)
