"""`tf.contrib.learn.MetricSpec`: a metric, and which predictions and labels it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.estimator.argument_names import fn_args

_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


class MetricSpec:
    """A metric of an evaluation.

    Args:
      metric_fn: a function such as `tf.metrics.accuracy`.
      prediction_key: which of the predictions it takes; the only one by default.
      label_key: which of the labels.
      weight_key: which feature gives the weights; none by default.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ):
        names = fn_args(metric_fn)
        self._labels_argument = _the_one_of(_LABELS, names)
        self._predictions_argument = _the_one_of(_PREDICTIONS, names)
        self._weights_argument = _the_one_of(_WEIGHTS, names)
        if label_key is not None and self._labels_argument is None:
            raise ValueError(f"{set(_LABELS)} missing from {_name_of(metric_fn)}({names}).")
        if weight_key is not None and self._weights_argument is None:
            raise ValueError(f"{set(_WEIGHTS)} missing from {_name_of(metric_fn)}({names}).")
        self._function = metric_fn
        self.prediction_key = prediction_key
        self.label_key = label_key
        self.weight_key = weight_key

    def metric_fn(self, labels: Any = None, predictions: Any = None, weights: Any = None) -> Any:
        """The metric as a function of labels, predictions and weights, whatever it calls them."""
        named: dict[str, Any] = {}
        if self._labels_argument:
            named[self._labels_argument] = labels
        if weights is not None and self._weights_argument:
            named[self._weights_argument] = weights
        if self._predictions_argument:
            return self._function(**named, **{self._predictions_argument: predictions})
        names = fn_args(self._function)
        if self._labels_argument and names and self._labels_argument == names[0]:
            del named[self._labels_argument]
            return self._function(labels, predictions, **named)
        return self._function(predictions, **named)

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The value of the metric and its update, for tensors of a model."""
        weights = inputs[self.weight_key] if self.weight_key else None
        return self.metric_fn(
            labels=_chosen("label", labels, self.label_key),
            predictions=_chosen("prediction", predictions, self.prediction_key),
            weights=weights,
        )

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={_name_of(self._function)}, "
            f"prediction_key={self.prediction_key}, label_key={self.label_key}, "
            f"weight_key={self.weight_key})"
        )


def _name_of(function: Any) -> str:
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__name__", inner))


def _the_one_of(candidates: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    found = [name for name in candidates if name in names]
    if len(found) > 1:
        raise ValueError(
            f"Ambiguous arguments {set(found)}, must provide only one of {set(candidates)}."
        )
    return found[0] if found else None


def _chosen(what: str, given: Any, key: str | None) -> Any:
    if key:
        if not isinstance(given, dict):
            raise ValueError(
                f"MetricSpec with {what}_key specified requires {what}s dict, got {given}.\n"
                f"You must not provide a {what}_key if you only have a single Tensor as {what}s."
            )
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if not isinstance(given, dict):
        return given
    if len(given) != 1:
        raise ValueError(
            f"MetricSpec without specified {what}_key requires {what}s tensor or single element "
            f"dict, got {given}"
        )
    return next(iter(given.values()))
