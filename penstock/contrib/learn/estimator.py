"""`tf.contrib.learn.Estimator`: the older way to call `tf.estimator.Estimator`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.learn.fitting_errors import NotFittedError
from penstock.contrib.learn.learn_io.data_feeder import setup_train_data_feeder
from penstock.contrib.learn.metric_spec import MetricSpec
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps
from penstock.contrib.learn.monitor_base import replace_monitors_with_hooks
from penstock.contrib.learn.roles import Evaluable, Trainable
from penstock.contrib.learn.tensor_signature import (
    create_example_parser_from_signatures,
    create_placeholders_from_signatures,
    create_signatures,
    tensors_compatible,
)
from penstock.contrib.learn.utils.export import export_estimator
from penstock.contrib.learn.utils.saved_models import (
    GraphRewriteSpec,
    write_saved_model,
)
from penstock.estimator.argument_names import fn_args
from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.estimator.estimator import rows_of, updates_and_values
from penstock.estimator.estimator_spec import EstimatorSpec

_LOSS = "loss"
_AS_IT_IS = (GraphRewriteSpec(("serve",), ()),)


class BaseEstimator(Evaluable, Trainable):
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
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        feed, hooks = _input_fn(x, y, input_fn, None, batch_size, shuffle=True, epochs=None)
        hooks += replace_monitors_with_hooks(monitors, self)
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
        feed, own_hooks = _input_fn(x, y, input_fn, feed_fn, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        self._check_fitted(checkpoint_path)
        all_hooks = [*(hooks or ()), *own_hooks]
        return self._evaluate(feed, steps, metrics, name, checkpoint_path, all_hooks)

    def _check_fitted(self, checkpoint_path: Any = None) -> None:
        if not checkpoint_path and not tf.train.latest_checkpoint(self.model_dir):
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")

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
        feed, hooks = _input_fn(x, None, input_fn, None, batch_size)
        self._check_fitted()
        batches = _begun(self._batches(feed, outputs, hooks))
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

    def _batches(self, feed: Any, outputs: Any, hooks: list[Any]) -> Any:
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

        found: Any = self._core.predict(
            watched, predict_keys=outputs, hooks=hooks, yield_single_examples=False
        )
        for batch in found:
            yield batch
            if is_constant and not hooks:
                found.close()


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
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        own_dir = getattr(config, "model_dir", None)
        if own_dir and model_dir and own_dir != model_dir:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values. "
                f"In constructor: '{model_dir}', in RunConfig: '{own_dir}' "
            )
        self._user_model_fn = model_fn
        self._user_params = params
        self._engineer = feature_engineering_fn
        self._extra_metrics: dict[str, Any] = {}
        self._signatures: dict[str, Any] = {}
        if params is not None and model_fn is not None and "params" not in fn_args(model_fn):
            raise ValueError(
                f"Estimator's model_fn ({model_fn}) does not have a params argument, but params "
                f"({params}) were passed to the Estimator's constructor."
            )

        def core_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._spec(features, labels, mode, config)

        super().__init__(_CoreEstimator(core_model_fn, model_dir, config))

    @property
    def params(self) -> Any:
        return self._user_params

    def _spec(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        if mode == ModeKeys.INFER:
            labels = create_placeholders_from_signatures(self._signatures.get("Labels"))
        else:
            self._check_inputs(features, labels)
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        found = self._model_of(features, labels, mode, config)
        spec = found.estimator_spec() if isinstance(found, ModelFnOps) else found
        if mode != ModeKeys.EVAL or not self._extra_metrics:
            return spec
        more = dict(
            _metric_ops(name, metric, features, labels, spec.predictions)
            for name, metric in sorted(self._extra_metrics.items(), key=lambda item: str(item[0]))
        )
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    def _model_of(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        named = {
            "mode": mode,
            "params": self._user_params,
            "config": config,
            "model_dir": self.model_dir,
        }
        assert self._user_model_fn is not None, "an Estimator without a model_fn has no model"
        wanted = fn_args(self._user_model_fn)
        found = self._user_model_fn(
            features, labels, **{name: named[name] for name in named if name in wanted}
        )
        if not isinstance(found, tuple | list) or isinstance(found, ModelFnOps | EstimatorSpec):
            return found
        if len(found) != 3:
            raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
        predictions, loss, train_op = found
        return ModelFnOps(mode, predictions, loss, train_op)

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Remembers the signatures of the first inputs; ValueError where later ones differ."""
        for what, given in (("Features", features), ("Labels", labels)):
            known = self._signatures.get(what)
            if known is None:
                self._signatures[what] = create_signatures(given)
            elif given is not None and not tensors_compatible(given, known):
                raise ValueError(
                    f"{what} are incompatible with given information. Given {what.lower()}: "
                    f"{given}, required signatures: {known}."
                )

    def _get_predict_ops(self, features: Any) -> Any:
        labels = create_placeholders_from_signatures(self._signatures.get("Labels"))
        return self._inferred(features, labels)

    def _inferred(self, features: Any, labels: Any = None) -> Any:
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        return self._model_of(features, labels, ModeKeys.INFER, self.config)

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        known = self._signatures.get("Features")
        if known is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return create_example_parser_from_signatures(known, examples_batch)

    def export(
        self,
        export_dir: Any,
        input_fn: Callable[..., Any] | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Callable[..., Any] | None = None,
        prediction_key: str | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
        checkpoint_path: Any = None,
    ) -> Any:
        """Writes a session bundle, and returns its directory.

        Args:
          input_fn: gives features of the estimator and a placeholder of serialized Examples; as
            training had them by default. Without `use_deprecated_input_fn` it takes nothing.
          input_feature_key: which of the features are the Examples, then.
          signature_fn: gives the signatures of Examples, features and predictions.
          prediction_key: which of the predictions is exported; all by default.
          exports_to_keep: how many exports to keep; all by default.
        """
        return export_estimator(
            self,
            export_dir,
            signature_fn=signature_fn,
            prediction_key=prediction_key,
            input_fn=input_fn,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
            checkpoint_path=checkpoint_path,
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        graph_rewrite_specs: Any = _AS_IT_IS,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel into a new directory, and returns its path.

        Args:
          default_output_alternative_key: which of several heads' outputs is the default signature.
          assets_extra: files to copy into `assets.extra`, by their path there.
          graph_rewrite_specs: the tags of the model; transformed copies are not supported.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        self._check_fitted(checkpoint_path)
        return write_saved_model(
            self,
            export_dir_base,
            serving_input_fn,
            default_output_alternative_key,
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path or tf.train.latest_checkpoint(self.model_dir),
            graph_rewrite_specs=graph_rewrite_specs,
            strip_default_attrs=strip_default_attrs,
        )

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


def _begun(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches; the model is built now, so that its errors are raised here."""
    first = list(islice(batches, 1))
    return chain(first, batches)


def _input_fn(
    x: Any,
    y: Any,
    input_fn: Any,
    feed_fn: Any,
    batch_size: int | None,
    shuffle: bool = False,
    epochs: int | None = 1,
) -> tuple[Any, list[Any]]:
    """A function that gives the inputs, and the hooks that feed them."""
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return input_fn, [] if feed_fn is None else [tf.train.FeedFnHook(feed_fn)]
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    if tf.contrib.framework.is_tensor(x) or tf.contrib.framework.is_tensor(y):
        raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    if feed_fn is not None:
        raise ValueError("Can not provide both feed_fn and x or y.")
    x = x if isinstance(x, dict) or hasattr(x, "shape") or hasattr(x, "__next__") else np.asarray(x)
    feeder = setup_train_data_feeder(x, y, None, batch_size, shuffle, epochs)
    return feeder.input_builder, [tf.train.FeedFnHook(feeder.get_feed_dict_fn())]
