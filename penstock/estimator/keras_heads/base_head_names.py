"""What heads share, under the names of `tensorflow_estimator.python.estimator.head.base_head`."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.export.outputs import ClassificationOutput
from penstock.estimator.heads import head as canned
from penstock.estimator.heads import tensor_checks
from penstock.estimator.heads.head import (
    CLASSIFY_SERVING_KEY,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
)
from penstock.estimator.heads.wording import OF_KERAS_HEADS
from penstock.estimator.keras_heads.head import Head, update_mean
from penstock.estimator.keras_heads.settings import check_loss_fn, checked_n_classes
from penstock.estimator.keras_heads.training import (
    check_loss_reduction,
    check_optimizer,
    check_trainable_variables,
    check_update_ops,
    summarize,
    train_op_of,
)
from penstock.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_KEY,
)

__all__ = [
    "CLASSIFY_SERVING_KEY",
    "DEFAULT_SERVING_KEY",
    "PREDICT_SERVING_KEY",
    "REGRESS_SERVING_KEY",
    "Head",
    "all_class_ids",
    "all_classes",
    "call_loss_fn",
    "check_dense_labels_match_logits_and_reshape",
    "check_label_range",
    "check_logits_final_dim",
    "check_prediction_keys",
    "classification_output",
    "create_estimator_spec_summary",
    "create_estimator_spec_train_op",
    "create_eval_metrics_tuple",
    "get_weights_and_check_match_logits",
    "update_metric_with_broadcast_weights",
    "validate_loss_fn_args",
    "validate_loss_reduction",
    "validate_n_classes",
    "validate_trainable_variables",
    "validate_update_ops",
    "validate_v2_optimizer",
]

_LABEL_NONE_ERR_MSG = OF_KERAS_HEADS.no_labels
_SPARSE_LABEL_ERR_MSG = OF_KERAS_HEADS.sparse_labels
_MISMATCHED_LABEL_DIM_ERR_MSG = OF_KERAS_HEADS.labels_dimension
_LABEL_SHAPE_ERR_MSG = OF_KERAS_HEADS.labels_shape
_VALIDATION_ERROR_MSG = "{} should be a list or a tuple. Given type: {}."

update_metric_with_broadcast_weights = update_mean
validate_loss_fn_args = check_loss_fn
validate_loss_reduction = check_loss_reduction
validate_n_classes = checked_n_classes
validate_trainable_variables = check_trainable_variables
validate_update_ops = check_update_ops
validate_v2_optimizer = check_optimizer


def check_dense_labels_match_logits_and_reshape(
    labels: Any, logits: Any, expected_labels_dimension: Any
) -> Any:
    """Labels as a tensor of the logits' rank whose last dimension is the one expected."""
    return tensor_checks.checked_labels(labels, logits, expected_labels_dimension, OF_KERAS_HEADS)


def get_weights_and_check_match_logits(
    features: Any, weight_column: Any, logits: Any, allow_per_logit_weights: bool = False
) -> Any:
    """The weights of examples that a feature gives, in a shape that goes with the logits'."""
    return tensor_checks.checked_weights(
        features, weight_column, logits, allow_per_logit_weights, OF_KERAS_HEADS
    )


def check_logits_final_dim(logits: Any, expected_logits_dimension: Any) -> Any:
    """Logits as floats whose last dimension is the one expected."""
    return tensor_checks.checked_logits(logits, expected_logits_dimension)


def call_loss_fn(
    loss_fn: Any, labels: Any, logits: Any, features: Any, expected_loss_dim: int = 1
) -> Any:
    """The loss of each example, by a user's function; its shape is checked."""
    return tensor_checks.called_loss_fn(loss_fn, labels, logits, features, expected_loss_dim)


def check_prediction_keys(pred_keys: Any, valid_keys: Any) -> None:
    """ValueError for a prediction that there is not."""
    for key in pred_keys:
        if key not in valid_keys:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys "
                f"include {valid_keys}."
            )


def all_class_ids(logits: Any, n_classes: int) -> Any:
    """The ids of all classes, for each example."""

    return canned.for_each_example(logits, tf.range(n_classes))


def all_classes(logits: Any, n_classes: int, label_vocabulary: Any = None) -> Any:
    """The names of all classes, for each example."""
    return canned.all_classes(logits, n_classes, label_vocabulary)


def classification_output(
    scores: Any, n_classes: int, label_vocabulary: Any = None
) -> ClassificationOutput:
    """Scores of classes with the classes' names, as an output."""
    classes = canned.all_classes(scores, n_classes, label_vocabulary)
    return ClassificationOutput(scores=scores, classes=classes)


def check_label_range(labels: Any, n_classes: Any, message: str | None = None) -> Any:
    """Labels, once it is known that they are ids of classes."""
    return tensor_checks.in_range(labels, n_classes, message, OF_KERAS_HEADS, "check_label_range")


def create_eval_metrics_tuple(fn: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A function that takes but tensors by name, and these tensors; it calls `fn` with all."""

    tensors = {key: value for key, value in kwargs.items() if isinstance(value, tf.Tensor)}
    others = {key: value for key, value in kwargs.items() if key not in tensors}
    return (lambda **given: fn(**others, **given)), tensors


def create_estimator_spec_train_op(
    head_name: Any,
    optimizer: Any = None,
    trainable_variables: Any = None,
    train_op_fn: Any = None,
    update_ops: Any = None,
    regularized_training_loss: Any = None,
    loss_reduction: Any = "sum_over_batch_size",
) -> Any:
    """A training step by an optimizer or a user's function, and the updates that go with it."""
    return train_op_of(
        regularized_training_loss,
        optimizer,
        trainable_variables,
        train_op_fn,
        update_ops,
        loss_reduction,
    )


def create_estimator_spec_summary(
    regularized_training_loss: Any, regularization_losses: Any = None, summary_key_fn: Any = None
) -> None:
    """Summaries of the loss and of its regularization."""
    summarize(regularized_training_loss, regularization_losses, summary_key_fn)
