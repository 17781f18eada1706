"""Estimators made of others: with more metrics, with features among predictions, with clipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.argument_names import call_with_named, fn_args
from penstock.estimator.estimator import Estimator
from penstock.estimator.export.outputs import PredictOutput
from penstock.estimator.mode_keys import ModeKeys
from penstock.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_METRIC_FN_ARGUMENTS = {"features", "labels", "predictions", "config"}


def _with_model_fn(estimator: Any, model_fn: Callable[..., Any]) -> Estimator:
    return Estimator(
        model_fn=model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )


def add_metrics(estimator: Any, metric_fn: Callable[..., Any]) -> Estimator:
    """An Estimator with more metrics.

    Args:
      estimator: an Estimator.
      metric_fn: returns metrics by name; it may take `features`, `labels`, `predictions` and
        `config`.
    """
    others = list(set(fn_args(metric_fn)) - _METRIC_FN_ARGUMENTS)
    if others:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {others}")

    def new_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        more = call_with_named(
            metric_fn,
            features=features,
            labels=labels,
            predictions=spec.predictions,
            config=config,
        )
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    return _with_model_fn(estimator, new_model_fn)


def forward_features(
    estimator: Any, keys: Any = None, sparse_default_values: Any = None
) -> Estimator:
    """An Estimator whose predictions hold features of the input too, e.g. an id.

    Args:
      estimator: an Estimator with predictions by name.
      keys: one feature's name, or several; all features by default.
      sparse_default_values: for features that are sparse, what fills their dense tensors.
    """
    if keys is not None and not isinstance(keys, str):
        keys = tuple(keys)
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(
                    "All items in the given keys list should be a string. There exist items with "
                    f"type: {type(key)}"
                )
    wanted = (keys,) if isinstance(keys, str) else keys

    def new_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if predictions is None:
            return spec
        if not isinstance(predictions, dict):
            raise ValueError(
                "Predictions should be a dict to be able to forward features. "
                f"Given: {type(predictions)}"
            )
        forwarded = _forwarded(features, wanted, sparse_default_values, predictions)
        updated = spec._replace(predictions={**predictions, **forwarded})
        if mode != ModeKeys.PREDICT:
            return updated
        outputs = dict(updated.export_outputs)
        for key in ("predict", DEFAULT_SERVING_SIGNATURE_DEF_KEY):
            if isinstance(outputs.get(key), PredictOutput):
                outputs[key] = PredictOutput({**outputs[key].outputs, **forwarded})
        return updated._replace(export_outputs=outputs)

    return _with_model_fn(estimator, new_model_fn)


def _forwarded(
    features: Any, keys: Any, sparse_default_values: Any, predictions: dict[str, Any]
) -> dict[str, Any]:
    found = {}
    for key in keys or features.keys():
        if key not in features:
            raise ValueError(f"keys should be exist in features. Key ({key}) is not in features.")
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in predictions."
            )
        feature = features[key]
        if isinstance(feature, tf.SparseTensor):
            default = (sparse_default_values or {}).get(key)
            feature = tf.sparse_tensor_to_dense(feature, default_value=default or _zero(feature))
        elif not isinstance(feature, tf.Tensor):
            raise ValueError(f"Forwarded feature ({key}) should be a Tensor.")
        found[key] = feature
    return found


def _zero(feature: Any) -> Any:
    return "" if feature.dtype == tf.string else 0


class _ClippedGradients(tf.train.Optimizer):
    """An optimizer whose gradients are changed before they are applied."""

    def __init__(self, optimizer: Any, transform_grads_fn: Callable[[Any], Any], name: str):
        super().__init__(use_locking=False, name=name)
        self._optimizer = optimizer
        self._transform_grads_fn = transform_grads_fn

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        changed = self._transform_grads_fn(grads_and_vars)
        return self._optimizer.apply_gradients(changed, global_step=global_step, name=name)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return list(self._optimizer.get_slot_names())


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> tf.train.Optimizer:
    """An optimizer that clips gradients so that their common norm is not above `clip_norm`."""

    def clip(grads_and_vars: Any) -> Any:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, clip_norm)
        return list(zip(clipped, variables, strict=True))

    return _ClippedGradients(optimizer, clip, name=f"ClipByNorm{optimizer.get_name()}")
