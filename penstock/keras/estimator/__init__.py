"""`tf.keras.estimator`: models as estimators."""

from __future__ import annotations

import importlib
from typing import Any

import penstock as tf
from penstock.distribute.initial_values import start_with
from penstock.keras import backend as K
from penstock.keras import models
from penstock.keras.cloning import clone_model, in_place_subclassed_model_state_restoration
from penstock.keras.engine.sequential import Sequential
from penstock.keras.engine.training_data import per_output
from penstock.keras.metrics.base import clone_metric
from penstock.keras.optimizers.tf_optimizer import TFOptimizer
from penstock.keras.utils.serialization import custom_object_scope
from penstock.platform import logging

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
    checkpoint_format: Any = "saver",
) -> Any:
    """An estimator of a compiled model, which starts with the model's weights.

    A subclassed model gets new ones: it is emptied while the estimator builds its graph.

    Args:
      keras_model: the model; or
      keras_model_path: the HDF5 file to read it from.
      custom_objects: classes and functions by the names that the model's description has.
      model_dir: the directory of checkpoints and event files.
      config: a `RunConfig`.
      checkpoint_format: "checkpoint" or "saver"; checkpoints are by the names of variables.
    """
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    if not keras_model:
        keras_model = models.load_model(keras_model_path, custom_objects)
    if checkpoint_format not in (None, "checkpoint", "saver"):
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}'
        )
    if checkpoint_format != "saver" and _is_subclassed(keras_model):
        raise ValueError(
            "Object-based checkpoints are currently not supported with subclassed models."
        )
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    weights = [] if _is_subclassed(keras_model) else keras_model.get_weights()
    if _is_subclassed(keras_model) and keras_model.built:
        logging.warning(
            "The estimator of a model subclassed from `Model` does not start with the weights that "
            "the model has: they are initialized anew. The model itself keeps its own."
        )
    return _estimators().Estimator(
        _model_fn(keras_model, weights, custom_objects), model_dir=model_dir, config=config
    )


def _is_subclassed(model: Any) -> bool:
    """Whether a model is defined by its `call` alone."""
    return not (model._is_graph_network or isinstance(model, Sequential))


def _model_fn(keras_model: Any, weights: list[Any], custom_objects: Any) -> Any:
    modes = _estimators().ModeKeys

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        is_training = mode == modes.TRAIN
        K.set_learning_phase(int(is_training))
        features, sample_weights = _without_weights(features)
        optimizer, arguments = keras_model.optimizer, keras_model._compile_arguments
        with custom_object_scope(custom_objects or {}):
            model = _copy_on(keras_model, features)
        if weights:
            _start_with(model.weights, weights)
        made: dict[str, Any] = {}
        made["predictions"] = dict(zip(model.output_names, model.outputs, strict=True))
        if mode != modes.PREDICT:
            targets = _in_order(labels, model.output_names, "labels", "outputs")
            _compile_as(model, optimizer, arguments, targets, sample_weights)
            made["loss"] = model.total_loss
            made["eval_metric_ops"] = _compiled_metrics(model)
        if is_training:
            made["train_op"] = _train_op(model)
        if model is keras_model:
            in_place_subclassed_model_state_restoration(keras_model)
        return _estimators().EstimatorSpec(mode, **made)

    return model_fn


def _create_keras_model_fn(
    keras_model: Any, custom_objects: Any = None, save_object_ckpt: bool = False
) -> Any:
    """The model function of a compiled model, whose variables are initialized anew."""
    return _model_fn(keras_model, [], custom_objects)


def _copy_on(model: Any, features: Any) -> Any:
    """A model like this one on features; a subclassed one is emptied for it."""
    if not _is_subclassed(model):
        inputs = _in_order(features, model.input_names, "features", "inputs")
        return clone_model(model, input_tensors=inputs)
    count = len(features) if isinstance(features, dict) else 0
    names = [f"input_{number}" for number in range(1, count + 1)]
    inputs = _in_order(features, names, "features", "inputs")
    return models.clone_and_build_model(
        model,
        input_tensors=inputs[0] if len(inputs) == 1 else inputs,
        compile_clone=False,
        in_place_reset=True,
    )


def _without_weights(features: Any) -> tuple[Any, Any]:
    """Features, and the weights of examples that may be given with them."""
    if isinstance(features, dict) and set(features) == {"features", "sample_weights"}:
        return features["features"], features["sample_weights"]
    return features, None


def _in_order(given: Any, names: list[str], what: str, of_model: str) -> list[Any]:
    if isinstance(given, dict):
        different = set(given) ^ set(names)
        if different:
            raise KeyError(
                f"The dictionary passed into {what} does not have the expected {of_model} keys "
                f"defined in the keras model.\n\tExpected keys: {set(names)}\n\t{what} keys: "
                f"{set(given)}\n\tDifference: {different}"
            )
        return [given[name] for name in names]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _compile_as(
    model: Any, optimizer: Any, given: dict[str, Any], targets: list[Any], sample_weights: Any
) -> None:
    """Compiles a model as another was, whose optimizer and metrics belong to another graph."""
    model.compile(
        optimizer=_optimizer_again(optimizer),
        loss=given["loss"],
        metrics=tf.nest.map_structure(clone_metric, given["metrics"]),
        loss_weights=given["loss_weights"],
        sample_weight_mode=given["sample_weight_mode"],
        weighted_metrics=tf.nest.map_structure(clone_metric, given["weighted_metrics"]),
        target_tensors=targets,
    )
    if sample_weights is not None:
        in_order = per_output(sample_weights, model.output_names, "sample_weight")
        for endpoint, weight in zip(model._trained, in_order, strict=True):
            endpoint.sample_weight = weight
        model._add_losses()


def _compiled_metrics(model: Any) -> dict[str, Any]:
    """The metrics that the model was compiled with, without the losses of its outputs."""
    found = {}
    for metric, tensor in model._metric_results:
        # An estimator initializes local variables before it evaluates.
        for variable in metric.variables:
            tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, variable)
        if not any(metric is each for each in model._output_loss_metrics):
            found[metric.name] = metric.result(), tensor
    return found


def _train_op(model: Any) -> Any:
    with tf.name_scope("training"):
        updates = model.optimizer.get_updates(model.total_loss, model.trainable_weights)
        updates = updates + model.get_updates_for(None) + model.get_updates_for(model.inputs)
    return tf.group(*updates)


def _optimizer_again(optimizer: Any) -> Any:
    """A new optimizer like one, whose steps are the estimator's."""
    step = tf.train.get_or_create_global_step()
    if hasattr(optimizer, "get_config") and hasattr(optimizer, "_weights"):
        made = type(optimizer).from_config(optimizer.get_config())
        made.iterations = step
        return made
    return TFOptimizer(optimizer.optimizer, iterations=step)


def _start_with(variables: list[Any], values: list[Any]) -> None:
    """Makes values the initial ones: an estimator initializes a graph of its own."""
    for variable, value in zip(variables, values, strict=True):
        start_with(variable, value)
