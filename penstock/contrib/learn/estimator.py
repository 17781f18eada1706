"""`tf.contrib.learn.Estimator`: the older way to call `tf.estimator.Estimator`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.learn.metric_spec import MetricSpec
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps
from penstock.contrib.learn.monitors import replace_monitors_with_hooks
from penstock.estimator.argument_names import call_with_named
from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.estimator.estimator import rows_of, updates_and_values
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.inputs.numpy_io import numpy_input_fn

_LOSS = "loss"


class BaseEstimator:
    """An estimator with `fit`, on top of one with `train`."""

    def __init__(self, core: CoreEstimator):
        self._core = core

    @property
    def model_dir(self) -> Any:
        return self._core.model_dir

    @property
    def config(self) -> Any:
        return self._core.config

    @property
    def params(self) -> Any:
        return self._core.params

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        return self._core.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        return self._core.get_variable_value(name)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains the model, from the latest checkpoint on.

        Args:
          x: arrays of features, with
          y: their labels; or
          input_fn: a function that gives features and labels.
          steps: how many steps to make, or
          max_steps: up to which global step to train.
          batch_size: the size of batches of arrays; all of them by default.
          monitors: hooks.
        """
        hooks = replace_monitors_with_hooks(monitors, self)
        feed = _input_fn(x, y, input_fn, batch_size, for_ever=True, shuffle=True)
        self._core.train(feed, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Any = None,
    ) -> Any:
        """Trains the model by some steps more; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> Any:
        """The metrics of the model, by name; see `fit`.

        Args:
          metrics: `MetricSpec`s by name, or functions of predictions and labels.
          checkpoint_path: which checkpoint to evaluate; the latest by default.
        """
        feed = _input_fn(x, y, input_fn, batch_size, for_ever=False, shuffle=False)
        return self._evaluate(feed, steps, metrics, name, checkpoint_path, hooks)

    def _evaluate(
        self, feed: Any, steps: Any, metrics: Any, name: Any, checkpoint_path: Any, hooks: Any
    ) -> Any:
        if metrics:
            raise ValueError("This estimator has metrics of its own: metrics must be None.")
        return self._core.evaluate(
            feed, steps=steps, hooks=hooks, checkpoint_path=checkpoint_path, name=name
        )

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions for features: one after another, or all in an array.

        Args:
          outputs: which of the predictions; all by default.
          as_iterable: give them one after another.
          iterate_batches: give whole batches.
        """
        feed = _input_fn(x, None, input_fn, batch_size, for_ever=False, shuffle=False)
        batches = self._batches(feed, outputs)
        found = batches if iterate_batches else (row for batch in batches for row in rows_of(batch))
        if as_iterable:
            return found
        rows = list(found)
        if rows and isinstance(rows[0], dict):
            return {key: np.array([row[key] for row in rows]) for key in rows[0]}
        return np.array(rows)

    def _predicted(
        self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool
    ) -> Any:
        """One of the predictions, by its key."""
        found = self.predict(x, input_fn, batch_size, [key], as_iterable)
        return (row[key] for row in found) if as_iterable else found[key]

    def _batches(self, feed: Any, outputs: Any) -> Any:
        """The batches of predictions: one, if nothing in the input could ever end it."""
        is_constant = False

        def watched() -> Any:
            nonlocal is_constant
            given = feed()
            operations = tf.get_default_graph().get_operations()
            is_constant = not tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS) and not any(
                operation.type.startswith("Iterator") for operation in operations
            )
            return given

        found: Any = self._core.predict(watched, predict_keys=outputs, yield_single_examples=False)
        for batch in found:
            yield batch
            if is_constant:
                found.close()

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel into a new directory, and returns its path."""
        return self._core.export_savedmodel(
            export_dir_base,
            _receiver_fn(serving_input_fn),
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )


class _CoreEstimator(CoreEstimator):
    """The estimator behind: a model may have a metric of its own by the name of the loss."""

    _may_override = True

    def _metrics_with_loss(self, spec: EstimatorSpec) -> tuple[Any, dict[str, Any]]:
        if _LOSS not in spec.eval_metric_ops:
            return super()._metrics_with_loss(spec)
        return updates_and_values(spec.eval_metric_ops)


class Estimator(BaseEstimator):
    """An estimator of a model function.

    Args:
      model_fn: a function of `features`, `labels`, and if it names them `mode`, `params`,
        `config` and `model_dir`, that returns a `ModelFnOps`, or predictions, loss and training
        operation.
      model_dir: the directory of checkpoints and event files.
      config: a `RunConfig`.
      params: what the model function gets as `params`.
      feature_engineering_fn: changes features and labels first.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        self._user_model_fn = model_fn
        self._user_params = params
        self._engineer = feature_engineering_fn
        self._extra_metrics: dict[str, Any] = {}
        self._default_alternative: str | None = None

        def core_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._spec(features, labels, mode, config)

        super().__init__(_CoreEstimator(core_model_fn, model_dir, config))

    @property
    def params(self) -> Any:
        return self._user_params

    def _spec(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        found = call_with_named(
            self._user_model_fn,
            features=features,
            labels=labels,
            targets=labels,
            mode=mode,
            params=self._user_params,
            config=config,
            model_dir=self.model_dir,
        )
        if isinstance(found, tuple | list) and not isinstance(found, ModelFnOps | EstimatorSpec):
            if len(found) != 3:
                raise ValueError(
                    "Unrecognized value returned by model_fn, please return ModelFnOps."
                )
            predictions, loss, train_op = found
            found = ModelFnOps(mode, predictions, loss, train_op)
        spec = (
            found.estimator_spec(self._default_alternative)
            if isinstance(found, ModelFnOps)
            else found
        )
        if mode != ModeKeys.EVAL or not self._extra_metrics:
            return spec
        more = dict(
            _metric_ops(name, metric, features, labels, spec.predictions)
            for name, metric in self._extra_metrics.items()
        )
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel into a new directory, and returns its path.

        Args:
          default_output_alternative_key: which of several heads' outputs is the default signature.
        """
        self._default_alternative = default_output_alternative_key
        try:
            return super().export_savedmodel(
                export_dir_base,
                serving_input_fn,
                default_output_alternative_key,
                assets_extra,
                as_text,
                checkpoint_path,
                strip_default_attrs,
            )
        finally:
            self._default_alternative = None

    def _evaluate(
        self, feed: Any, steps: Any, metrics: Any, name: Any, checkpoint_path: Any, hooks: Any
    ) -> Any:
        self._extra_metrics = metrics or {}
        try:
            return super()._evaluate(feed, steps, None, name, checkpoint_path, hooks)
        finally:
            self._extra_metrics = {}


def _metric_ops(
    name: Any, metric: Any, features: Any, labels: Any, predictions: Any
) -> tuple[str, Any]:
    """The name and the operations of a metric: a name may be a pair, with a prediction's."""
    if isinstance(metric, MetricSpec):
        return name, metric.create_metric_ops(features, labels, predictions)
    if isinstance(name, tuple):
        if len(name) != 2:
            raise ValueError(
                f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2."
            )
        if not isinstance(predictions, dict):
            raise ValueError(
                "Metrics passed provide (name, prediction), but predictions are not dict. "
                f"Metrics: {name}, Predictions: {predictions}."
            )
        return name[0], metric(predictions[name[1]], labels)
    if isinstance(predictions, dict):
        raise ValueError(
            "Metrics passed provide only name, no prediction, but predictions are dict. "
            f"Metrics: {name}, Labels: {labels}."
        )
    return name, metric(predictions, labels)


class SKCompat:
    """An estimator with the methods of scikit-learn's: whole arrays in, whole arrays out."""

    def __init__(self, estimator: BaseEstimator):
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Any = None,
    ) -> Any:
        """Trains on arrays; see `Estimator.fit`."""
        self._estimator.fit(
            x, y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors
        )
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
    ) -> Any:
        """The metrics for arrays; see `Estimator.evaluate`."""
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """The predictions for arrays, as arrays; see `Estimator.predict`."""
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)


def _input_fn(
    x: Any, y: Any, input_fn: Any, batch_size: int | None, for_ever: bool, shuffle: bool
) -> Any:
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    x = x if isinstance(x, dict) else np.asarray(x)
    length = len(next(iter(x.values())) if isinstance(x, dict) else x)
    labels = y if y is None or isinstance(y, dict) else np.asarray(y)
    return numpy_input_fn(
        x,
        labels,
        batch_size=batch_size or length,
        num_epochs=None if for_ever else 1,
        shuffle=shuffle,
        queue_capacity=max(1000, 2 * (batch_size or length)),
    )


def _receiver_fn(serving_input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """A function that gives a `ServingInputReceiver`, whether that or `InputFnOps` are given."""

    def receiver_fn() -> Any:
        given = serving_input_fn()
        if hasattr(given, "receiver_tensors"):
            return given
        features, _, inputs = given
        return tf.estimator.export.ServingInputReceiver(features, inputs)

    return receiver_fn
