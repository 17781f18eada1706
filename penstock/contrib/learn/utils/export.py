"""Exports of estimators as session bundles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.session_bundle import exporter, gc

__all__ = [
    "classification_signature_fn",
    "classification_signature_fn_with_prob",
    "export_estimator",
    "generic_signature_fn",
    "logistic_regression_signature_fn",
    "regression_signature_fn",
]


def _needed(examples: Any) -> Any:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")
    return examples


def _one_of(predictions: Any, key: str) -> Any:
    return predictions[key] if isinstance(predictions, dict) else predictions


def generic_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> Any:
    """A signature of the Examples and all predictions."""
    tensors = {"inputs": _needed(examples)}
    tensors.update(predictions if isinstance(predictions, dict) else {"outputs": predictions})
    return exporter.generic_signature(tensors), {}


def classification_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> Any:
    """A signature of the Examples and the predicted classes."""
    classes = _one_of(predictions, "classes")
    return exporter.classification_signature(_needed(examples), classes_tensor=classes), {}


def classification_signature_fn_with_prob(
    examples: Any, unused_features: Any, predictions: Any
) -> Any:
    """A signature of the Examples and the probabilities of the classes."""
    scores = _one_of(predictions, "probabilities")
    return exporter.classification_signature(_needed(examples), scores_tensor=scores), {}


def regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> Any:
    """A signature of the Examples and the predicted numbers."""
    return exporter.regression_signature(_needed(examples), predictions), {}


def logistic_regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> Any:
    """A signature of the Examples and the probability of the second of two classes."""
    _needed(examples)
    found = _one_of(predictions, "probabilities")
    shape = found.get_shape()
    if len(shape) != 2:
        logging.fatal(
            f"Expected predictions to have rank 2, but received predictions with rank: "
            f"{len(shape)} and shape: {shape}"
        )
    if shape[1] != 2:
        logging.fatal(
            f"Expected predictions to have 2nd dimension: 2, but received predictions with 2nd "
            f"dimension: {shape[1]} and shape: {shape}. Did you mean to use "
            "regression_signature_fn or classification_signature_fn_with_prob instead?"
        )
    return exporter.regression_signature(input_tensor=examples, output_tensor=found[:, 1]), {}


def export_estimator(
    estimator: Any,
    export_dir: Any,
    signature_fn: Callable[..., Any] | None = None,
    input_fn: Callable[..., Any] | None = None,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
    input_feature_key: str | None = None,
    use_deprecated_input_fn: bool = True,
    prediction_key: str | None = None,
    checkpoint_path: Any = None,
) -> Any:
    """Writes an estimator's model as a session bundle; see `Estimator.export`."""
    if input_fn is None and not use_deprecated_input_fn:
        raise ValueError("input_fn must be defined.")
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step(graph)
        if use_deprecated_input_fn:
            examples, features = _from_examples(estimator, input_fn, default_batch_size)
        else:
            assert input_fn is not None
            features, _ = input_fn()
            examples = None if input_feature_key is None else features.pop(input_feature_key)
        if not features and examples is None:
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        signatures = (signature_fn or generic_signature_fn)(examples, features, predictions)
        keep = None if exports_to_keep is None else gc.largest_export_versions(exports_to_keep)
        checkpoint = checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir)
        return _write(checkpoint, export_dir, signatures, keep)


def _from_examples(
    estimator: Any, input_fn: Callable[..., Any] | None, batch_size: int | None
) -> Any:
    examples = tf.placeholder(dtype=tf.string, shape=[batch_size], name="input_example_tensor")
    if input_fn is None:
        return examples, estimator._get_feature_ops_from_example(examples)
    return examples, input_fn(estimator, examples)


def _write(checkpoint: Any, export_dir: Any, signatures: Any, exports_to_keep: Any) -> Any:
    default_signature, named_signatures = signatures
    saver = tf.train.Saver()
    with tf.Session("") as session:
        saver.restore(session, checkpoint)
        export = exporter.Exporter(saver)
        export.init(
            init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
            default_graph_signature=default_signature,
            named_graph_signatures=named_signatures,
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
        )
        return export.export(
            export_dir, tf.train.get_global_step(), session, exports_to_keep=exports_to_keep
        )
