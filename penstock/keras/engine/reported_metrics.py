"""The metrics of a model: which there are, and under which names they are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.keras import backend as K


class ReportedMetrics:
    """The properties of a model that tell its metrics."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the model has that this is mixed into."""

    @property
    def metrics(self) -> list[Any]:
        """The metrics of `compile`, of the model itself, and of its layers."""
        return [*self._compile_metrics_of_outputs, *self._added_metrics]

    @property
    def _compile_metrics_of_outputs(self) -> list[Any]:
        return [
            metric
            for endpoint in self._endpoints
            if endpoint.is_trained
            for metric in (*endpoint.metrics, *endpoint.weighted_metrics)
        ]

    @property
    def _added_metrics(self) -> list[Any]:
        """What `add_metric` added, and metrics that are attributes, each once."""
        of_layers = _metrics_of_layers(self._layers)
        # A model of layers was given a layer for each metric, behind all others.
        several = (
            [*of_layers, *self._metrics] if self._is_graph_network else [*self._metrics, *of_layers]
        )
        return list({id(metric): metric for metric in several}.values())

    @property
    def _compile_metrics(self) -> Any:
        """What `compile` was told of metrics."""
        return self._compile_arguments.get("metrics") or []

    @property
    def _compile_weighted_metrics(self) -> Any:
        """What `compile` was told of weighted metrics."""
        return self._compile_arguments.get("weighted_metrics")

    @property
    def metrics_names(self) -> list[str]:
        """The names of the loss and the metrics; of parts inside layers there are none."""
        names = ["loss"]
        if len(self._endpoints) > 1:
            names += [endpoint.loss_name for endpoint in self._endpoints if endpoint.is_trained]
        names += [metric.name for metric in self._compile_metrics_of_outputs]
        return names + self._names_of_added_metrics

    @property
    def _names_of_added_metrics(self) -> list[str]:
        owners = [*self.layers, self]
        return [metric.name for owner in owners for metric in getattr(owner, "_metrics", ())]

    @property
    def _reported_names(self) -> list[str]:
        """A name for each value of a step."""
        return ["loss", *(metric.name for metric, _ in self._metric_results)]

    def reset_metrics(self) -> None:
        """Sets the metrics to zero."""
        from penstock.keras.metrics import Metric

        reported = [metric for metric, _ in getattr(self, "_metric_results", ())]
        variables = []
        for metric in reported:
            if type(metric).reset_states is Metric.reset_states:
                variables += metric.variables
            else:
                metric.reset_states()
        K.batch_set_value([(v, np.zeros(v.shape.as_list())) for v in variables])

    def _added_metric_results(self) -> list[tuple[Any, Any]]:
        """(metric, tensor of its value) of what `add_metric` added, in the order of `metrics`."""
        found: dict[int, tuple[Any, Any]] = {}
        for layer in (self, *self.submodules):
            for tensor in layer._metrics_tensors.values():
                found.setdefault(id(tensor._metric_obj), (tensor._metric_obj, tensor))
        order = [id(metric) for metric in self._added_metrics]
        first = [found.pop(each) for each in order if each in found]
        return first + list(found.values())


def _metrics_of_layers(layers: Any) -> list[Any]:
    """Metrics of layers and of those inside; of models without what `compile` was told."""
    found = []
    for layer in layers:
        if isinstance(layer, ReportedMetrics):
            found += layer._added_metrics
        else:
            found += getattr(layer, "metrics", ())
    return found
