"""`tf.keras.estimator`: models as estimators."""

from __future__ import annotations

import importlib
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras import models
from penstock.keras.models import clone_model
from penstock.keras.optimizers.tf_optimizer import TFOptimizer
from penstock.keras.utils.serialization import custom_object_scope

__all__ = ["model_to_estimator"]


def _estimators() -> Any:
    """`tf.estimator`, which is loaded when it is used."""
    return importlib.import_module("penstock.estimator")


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: Any = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: Any = None,
) -> Any:
    """An estimator of a compiled model, which starts with the model's weights.

    Args:
      keras_model_path: HDF5 file to read the model from.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError("Give either `keras_model` or `keras_model_path`, and one of them")
    if keras_model is None:
        keras_model = models.load_model(keras_model_path, custom_objects)
    if not keras_model.optimizer:
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    weights = keras_model.get_weights()
    return _estimators().Estimator(
        _model_fn(keras_model, weights, custom_objects), model_dir=model_dir, config=config
    )


def _model_fn(keras_model: Any, weights: list[Any], custom_objects: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        is_training = mode == _estimators().ModeKeys.TRAIN
        K.set_learning_phase(int(is_training))
        with custom_object_scope(custom_objects or {}):
            inputs = _in_order(features, keras_model.input_names)
            model = clone_model(keras_model, input_tensors=inputs)
        _start_with(model.weights, weights)
        outputs = dict(zip(keras_model.output_names, model.outputs, strict=True))
        if mode == _estimators().ModeKeys.PREDICT:
            return _estimators().EstimatorSpec(mode, predictions=outputs)
        given = keras_model._compile_arguments
        optimizer = keras_model.optimizer
        model.compile(
            optimizer=_optimizer_again(optimizer),
            loss=given["loss"],
            metrics=given["metrics"],
            loss_weights=given["loss_weights"],
            target_tensors=_in_order(labels, keras_model.output_names),
        )
        # An estimator initializes local variables before it evaluates.
        for metric in model.metrics:
            for variable in metric.variables:
                tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, variable)
        metrics = {
            metric.name: (metric.result(), tensor) for metric, tensor in model._metric_results
        }
        if not is_training:
            return _estimators().EstimatorSpec(
                mode, predictions=outputs, loss=model.total_loss, eval_metric_ops=metrics
            )
        with tf.name_scope("training"):
            updates = model.optimizer.get_updates(model.total_loss, model.trainable_weights)
            updates = updates + model.get_updates_for(None) + model.get_updates_for(model.inputs)
        step = tf.train.get_or_create_global_step()
        if model.optimizer.iterations is not step:
            updates.append(tf.assign_add(step, 1))
        train_op = tf.group(*updates)
        return _estimators().EstimatorSpec(
            mode, predictions=outputs, loss=model.total_loss, train_op=train_op
        )

    return model_fn


def _in_order(given: Any, names: list[str]) -> list[Any]:
    if isinstance(given, dict):
        missing = [name for name in names if name not in given]
        if missing:
            raise KeyError(
                f"The dictionary passed into features does not have the expected inputs keys "
                f"defined in the keras model: {missing}"
            )
        return [given[name] for name in names]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _optimizer_again(optimizer: Any) -> Any:
    """A new optimizer like one, whose variables belong to another graph."""
    if hasattr(optimizer, "get_config") and hasattr(optimizer, "_weights"):
        return type(optimizer).from_config(optimizer.get_config())
    # Its steps are the estimator's.
    return TFOptimizer(optimizer.optimizer, iterations=tf.train.get_or_create_global_step())


def _start_with(variables: list[Any], values: list[Any]) -> None:
    """Makes values the initial ones: an estimator initializes a graph of its own."""
    for variable, value in zip(variables, values, strict=True):
        variable._initializer_op = variable.assign(value).op
