"""Metrics that a layer adds, and how they are found again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import penstock as tf
from penstock.keras.engine.call_effects import refuse_in_branch
from penstock.layers.call_context import call_context


class AddedMetrics:
    """What a layer has for metrics: `add_metric` and `metrics`."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the layer has that this is mixed into."""

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> Any:
        """Adds a tensor whose value `fit` and `evaluate` report.

        Args:
          aggregation: "mean" for the mean over batches; None for a value that a metric computed.
        """
        from penstock.keras.metrics import Mean

        metric = getattr(value, "_metric_obj", None)
        self._check_metric(value, aggregation, name, metric)
        refuse_in_branch(value, "add_metric")
        known = self._known_metric(name if metric is None else metric.name)
        if metric is None:
            metric = known or Mean(name=name)
            value = metric(value)
        if not any(metric is each for each in self._metrics):
            self._metrics.append(metric)
        self._metrics_tensors[metric.name] = value
        return value

    def _check_metric(
        self, value: Any, aggregation: str | None, name: str | None, metric: Any
    ) -> None:
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        if metric is None and name is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum("
                "inputs), name='mean_activation', aggregation='mean')`"
            )
        is_symbolic = isinstance(value, tf.Tensor) and not value._op.graph.is_eager
        if not call_context.in_call and not is_symbolic:
            raise ValueError(f"Expected a symbolic Tensor for the metric value, received: {value}")
        if metric is not None and getattr(self, "_is_graph_network", False):
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a "
                "Functional Model is not supported. Please pass the Tensor to monitor directly."
            )
        if aggregation is None and metric is None:
            raise ValueError(
                "We do not support adding an aggregated metric result tensor that is not the "
                "output of a `tf.keras.metrics.Metric` metric instance. Such a value could not be "
                "reset after an epoch. Give what a metric computed, or aggregation='mean'."
            )

    def _known_metric(self, name: str | None) -> Any:
        """The layer's metric of a name; ValueError if there are several."""
        found = [metric for metric in self._metrics if metric.name == name]
        if len(found) > 1:
            raise ValueError(
                "Please provide different names for the metrics you have added. We found "
                f'{len(found)} metrics with the name: "{name}"'
            )
        return found[0] if found else None

    @property
    def metrics(self) -> list[Any]:
        """The metrics that were added, also to layers inside."""
        return self._metrics + self._of_sublayers("metrics")
