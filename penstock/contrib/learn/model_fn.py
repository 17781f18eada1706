"""What model functions of `tf.contrib.learn` get and give."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

#: The collection of an exported graph that names its features.
COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS = "input_feature_keys"


class ModeKeys:
    """The modes of a model function."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError unless a key is one of the modes."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class ProblemType:
    """The kinds of problems that models solve."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class PredictionKey:
    """What a model's predictions are called."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class ModelFnOps(
    namedtuple(
        "ModelFnOps",
        [
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "output_alternatives",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "mode",
        ],
    )
):
    """What a model function returns; see `tf.estimator.EstimatorSpec`.

    Args:
      output_alternatives: by name, a `ProblemType` and the tensors of the predictions.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if predictions is None and mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        if train_op is not None and not isinstance(train_op, tf.Operation):
            train_op = tf.convert_to_tensor(train_op).op
        if loss is not None:
            loss = tf.convert_to_tensor(loss)
            if loss.get_shape().num_elements() not in (None, 1):
                raise ValueError(f"Loss must be scalar: {loss}.")
            if not loss.get_shape().is_compatible_with([]):
                loss = tf.reshape(loss, [])
        if isinstance(predictions, dict):
            predictions = {
                key: convert_to_tensor_or_sparse_tensor(value) for key, value in predictions.items()
            }
        elif predictions is not None:
            predictions = convert_to_tensor_or_sparse_tensor(predictions)
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        return super().__new__(
            cls,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=eval_metric_ops or {},
            output_alternatives=output_alternatives,
            training_chief_hooks=training_chief_hooks or [],
            training_hooks=training_hooks or [],
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(self, default_serving_output_alternative_key: str | None = None) -> Any:
        """The same as an `EstimatorSpec`."""
        outputs = None
        if self.output_alternatives:
            outputs = {
                key: _export_output(*alternative)
                for key, alternative in self.output_alternatives.items()
            }
            default = default_serving_output_alternative_key
            if default is None and len(outputs) == 1:
                default = next(iter(outputs))
            if default in outputs:
                outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = outputs[default]
                outputs.pop(None, None)  # the one of a head without a name
            elif default is None:
                outputs = None  # an export has to say which one it means
            else:
                raise ValueError(
                    f"Requested default_output_alternative: {default}, but available "
                    f"output_alternatives are: {sorted(outputs)}"
                )
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops={
                name: metric if isinstance(metric, list | tuple) else (metric, tf.no_op())
                for name, metric in self.eval_metric_ops.items()
            },
            export_outputs=outputs,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _export_output(problem_type: int, predictions: Any) -> ExportOutput:
    if problem_type == ProblemType.LINEAR_REGRESSION:
        value = predictions
        if isinstance(predictions, dict):
            value = predictions.get(PredictionKey.SCORES, next(iter(predictions.values())))
        return RegressionOutput(value)
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        scores = predictions.get(PredictionKey.SCORES, predictions.get(PredictionKey.PROBABILITIES))
        classes = predictions.get(PredictionKey.CLASSES)
        if scores is None and classes is None:
            scores = next(iter(predictions.values()))
        if classes is not None and classes.dtype != tf.string:
            classes = tf.as_string(classes)
        return ClassificationOutput(scores, classes)
    return PredictOutput(predictions)
