"""`tf.estimator.EstimatorSpec`: what a model function returns."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock import nest
from penstock.estimator.export.signatures import get_export_outputs
from penstock.estimator.mode_keys import ModeKeys
from penstock.train.scaffold import Scaffold
from penstock.train.session_run_hook import SessionRunHook

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"


class EstimatorSpec(
    namedtuple(
        "EstimatorSpec",
        [
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "export_outputs",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "evaluation_hooks",
            "prediction_hooks",
        ],
    )
):
    """What a model function gives to an Estimator.

    Args:
      mode: the `ModeKeys` it was called with.
      predictions: a tensor, or tensors by name; PREDICT needs them.
      loss: a scalar; TRAIN and EVAL need it.
      train_op: an operation that makes a training step; TRAIN needs it.
      eval_metric_ops: pairs of a metric's value and its update, by name.
      export_outputs: `ExportOutput`s by the name of their signature.
      training_chief_hooks: hooks of training, on the chief alone.
      training_hooks: hooks of training, on all workers.
      scaffold: how to initialize and save the model.
      evaluation_hooks: hooks of evaluation.
      prediction_hooks: hooks of prediction.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:
        train_op = checked_train_op(train_op, mode)
        loss = checked_loss(loss, mode)
        predictions = checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = get_export_outputs(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=checked_hooks(training_chief_hooks),
            training_hooks=checked_hooks(training_hooks),
            scaffold=_checked_scaffold(scaffold),
            evaluation_hooks=checked_hooks(evaluation_hooks),
            prediction_hooks=checked_hooks(prediction_hooks),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """A spec with other fields, checked anew; the mode can't be changed."""
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwds})


def _check_graph(value: Any, what: str, name: str | None = None) -> None:
    if value.graph is not tf.get_default_graph():
        raise ValueError(
            f'{what} with "{name or value.name}" must be from the default graph. Possible causes '
            f"of this error include: \n\n1) {what} was created outside the context of the default "
            "graph.\n\n2) The object passed through to EstimatorSpec was not created in the most "
            'recent call to "model_fn".'
        )


def _check_tensor(value: Any, what: str) -> None:
    if not isinstance(value, tf.Tensor | tf.Variable | tf.SparseTensor):
        raise TypeError(f"{what} must be Tensor, given: {value}")


def checked_train_op(train_op: Any, mode: str) -> Any:
    """The training operation, if there must be one or is."""
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, tf.Operation | tf.Tensor | tf.Variable):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, tf.Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op")
    return train_op


def checked_loss(loss: Any, mode: str) -> Any:
    """The loss as a scalar, if there must be one or is."""
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with([]):
        loss = tf.reshape(loss, [])
    _check_graph(loss, "loss")
    return loss


def checked_predictions(predictions: Any, mode: str) -> Any:
    """The predictions, if there must be some or are; else none by name."""
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if isinstance(predictions, dict):
        for key, value in predictions.items():
            _check_tensor(value, f"predictions[{key}]")
            _check_graph(value, "prediction values", f"{key}: {getattr(value, 'name', value)}")
    else:
        _check_tensor(predictions, "predictions")
        _check_graph(predictions, "prediction values")
    return predictions


def checked_hooks(hooks: Any) -> tuple[SessionRunHook, ...]:
    """Hooks as a tuple."""
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _is_metric_object(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("updates", "result", "variables"))


def _checked_metrics(eval_metric_ops: Any) -> dict[str, Any]:
    """Metrics as pairs; objects like Keras's metrics give theirs, and their variables are local."""
    if eval_metric_ops is None:
        return {}
    if not isinstance(eval_metric_ops, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {eval_metric_ops}")
    checked = {}
    for key, value in eval_metric_ops.items():
        if _is_metric_object(value):
            value = _pair_of(value)
        elif not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, "
                f"given: {value} for key: {key}"
            )
        for part in nest.flatten(value):
            if hasattr(part, "graph"):
                _check_graph(part, "eval_metric_ops", f"{key}: {part.name}")
        checked[key] = value
    return checked


def _pair_of(metric: Any) -> tuple[Any, Any]:
    if not metric.updates:
        raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
    for collection in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
        known = tf.get_collection_ref(collection)
        known.extend(v for v in metric.variables if not any(v is other for other in known))
    return metric.result(), metric.updates[0]


def _checked_scaffold(scaffold: Any) -> Scaffold:
    scaffold = scaffold or Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold
