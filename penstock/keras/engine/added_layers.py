"""Losses and metrics that were added to a network of layers from outside, as layers of it."""

from __future__ import annotations

from typing import Any

from penstock.keras.engine.layer import Layer


class AddLoss(Layer):
    """Hands its inputs on and adds them as a loss.

    Args:
      unconditional: whether the loss depends on no inputs.
    """

    _CONFIG = ("unconditional",)

    def __init__(self, unconditional: bool, **kwargs: Any):
        super().__init__(autocast=False, **kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        self.add_loss(inputs, inputs=None if self.unconditional else inputs)
        return inputs


class AddMetric(Layer):
    """Hands its inputs on and adds them as a metric.

    Args:
      aggregation: "mean", or None.
      metric_name: the metric's name.
    """

    _CONFIG = ("aggregation", "metric_name")

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs: Any) -> Any:
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs
