"""What heads demand of labels, logits and weights."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import penstock as tf
from penstock.estimator.argument_names import call_with_named, fn_args
from penstock.estimator.heads.wording import OF_CANNED_HEADS, Wording
from penstock.feature_column.numeric import NumericColumn, numeric_column
from penstock.feature_column.transformation import _LazyBuilder
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor


def checked_reduction(loss_reduction: Any) -> Any:
    """A reduction of `tf.losses` that gives a scalar."""
    known = tf.losses.Reduction
    if loss_reduction not in known.all() or loss_reduction == known.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
    return loss_reduction


def check_loss_fn(loss_fn: Any, also: Collection[str]) -> None:
    """ValueError unless a loss function has the arguments it needs, and of others only `also`."""
    if loss_fn is None:
        return
    names = fn_args(loss_fn)
    for required in ("labels", "logits"):
        if required not in names:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
    others = list(set(names) - {"labels", "logits", *also})
    if others:
        raise ValueError(f"loss_fn has unexpected args: {others}")


def called_loss_fn(loss_fn: Any, labels: Any, logits: Any, features: Any, loss_dim: int) -> Any:
    """The loss of each example, by a user's function; its shape is checked."""
    with tf.name_scope(None, "call_loss_fn", [labels, logits, *(features or {}).values()]):
        loss = call_with_named(loss_fn, labels=labels, logits=logits, features=features)
        logits_shape = tf.shape(logits, name="logits_shape")
        expected = tf.concat([logits_shape[:-1], [loss_dim]], axis=0, name="expected_loss_shape")
        loss_shape = tf.shape(loss, name="loss_shape")
        check = tf.Assert(
            tf.reduce_all(tf.equal(loss_shape, expected)),
            data=[
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {loss_dim}]. ",
                "logits_shape: ",
                logits_shape,
                "loss_shape: ",
                loss_shape,
            ],
            name="check_loss_shape",
        )
        with tf.control_dependencies([check]):
            return tf.identity(loss)


def checked_labels(
    labels: Any, logits: Any, dimension: Any, wording: Wording = OF_CANNED_HEADS
) -> Any:
    """Labels as a tensor of the logits' rank whose last dimension is the one expected."""
    if labels is None:
        raise ValueError(wording.no_labels)
    with tf.name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.SparseTensor):
            raise ValueError(wording.sparse_labels.format(dimension))
        rank, logits_rank = labels.shape.ndims, logits.shape.ndims
        if rank is not None and logits_rank is not None and rank == logits_rank - 1:
            labels = tf.expand_dims(labels, -1)
        message = wording.labels_shape.format(dimension)
        labels_shape, logits_shape = tf.shape(labels), tf.shape(logits)
        with tf.control_dependencies([tf.assert_rank_at_least(labels, 2, message=message)]):
            _check_last_dimension(labels, dimension, wording)
            expected = tf.concat([logits_shape[:-1], [dimension]], axis=0)
            check = tf.assert_equal(
                expected,
                labels_shape,
                message=message,
                data=["expected_labels_shape: ", expected, "labels_shape: ", labels_shape],
            )
            with tf.control_dependencies([check]):
                return tf.identity(labels, name=scope)


def _check_last_dimension(labels: Any, dimension: Any, wording: Wording) -> None:
    found = None if labels.shape.ndims is None else labels.shape.as_list()[-1]
    if found is not None and isinstance(dimension, int) and found != dimension:
        raise ValueError(wording.labels_dimension.format(dimension, found))


def checked_logits(logits: Any, dimension: Any) -> Any:
    """Logits as floats whose last dimension is the one expected."""
    with tf.name_scope(None, "logits", (logits,)) as scope:
        logits = tf.cast(logits, tf.float32)
        shape = tf.shape(logits)
        wanted = "logits shape must be [D0, D1, ... DN, logits_dimension]"
        check = tf.assert_rank_at_least(
            logits,
            2,
            data=[shape],
            message=wanted,
        )
        with tf.control_dependencies([check]):
            if logits.shape.ndims is not None and logits.shape.as_list()[-1] is not None:
                if isinstance(dimension, int) and logits.shape.as_list()[-1] != dimension:
                    raise ValueError(f"{wanted}, got {logits.shape}.")
                return logits
            check = tf.assert_equal(dimension, shape[-1], data=[shape], message=wanted)
            with tf.control_dependencies([check]):
                return tf.identity(logits, name=scope)


def checked_weights(
    features: Any,
    weight_column: Any,
    logits: Any,
    allow_per_logit_weights: bool = False,
    wording: Wording = OF_CANNED_HEADS,
) -> Any:
    """The weights of examples that a feature gives, in a shape that goes with the logits'."""
    message = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if allow_per_logit_weights:
        message = (
            "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or "
            "[D0, D1, ... DN, logits_dimension]"
        )
    values = (*(features or {}).values(), logits)
    with tf.name_scope(None, "weights", values=values) as scope:
        if weight_column is None:
            return 1.0
        weights = tf.cast(
            _weight_tensor(weight_column, features, wording), tf.float32, name="weights"
        )
        shape = tf.shape(weights, name="weights_shape")
        logits_shape = tf.shape(logits, name="logits_shape")
        data = ["logits_shape: ", logits_shape, "weights_shape: ", shape]
        rank, logits_rank = weights.shape.ndims, logits.shape.ndims
        if rank is not None and logits_rank is not None and rank == logits_rank - 1:
            check = tf.assert_equal(logits_shape[:-1], shape, message=message, data=data)
            with tf.control_dependencies([check]):
                return tf.expand_dims(weights, -1, name=scope)
        one_each = tf.concat([logits_shape[:-1], [1]], axis=0)
        if allow_per_logit_weights:
            fits = tf.reduce_any(
                [
                    tf.reduce_all(tf.equal(logits_shape, shape)),
                    tf.reduce_all(tf.equal(one_each, shape)),
                ]
            )
            check = tf.Assert(fits, data=[message, *data])
        else:
            check = tf.assert_equal(one_each, shape, message=message, data=data)
        with tf.control_dependencies([check]):
            return tf.identity(weights, name=scope)


def _weight_tensor(weight_column: Any, features: Any, wording: Wording) -> Any:
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column, shape=(1,))
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(f"{wording.weight_column} Given type: {type(weight_column)}.")
    weights = weight_column._get_dense_tensor(_LazyBuilder(features))
    if not (weights.dtype.is_floating or weights.dtype.is_integer):
        raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
    return weights


def in_range(
    labels: Any,
    n_classes: Any,
    message: str | None = None,
    wording: Wording = OF_CANNED_HEADS,
    scope: str = "assert_range",
) -> Any:
    """Labels, once it is known that they are ids of classes."""
    with tf.name_scope(None, scope, (labels,)):
        highest = tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        below = tf.assert_less_equal(labels, highest, message=message or wording.too_large)
        not_negative = tf.assert_non_negative(labels, message=message or wording.negative)
        with tf.control_dependencies((below, not_negative)):
            return tf.identity(labels)
